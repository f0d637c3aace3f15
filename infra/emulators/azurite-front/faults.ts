// Faults that a test installs, and the throttle above a partition's scalability target.
import type { Operation } from './operations.ts';

/** Answers with this status and error code, before anything is applied or after everything was. */
export interface TableFault {
  readonly status: number;
  readonly code: string;
  readonly when: 'before' | 'after';
  /** Default: every request that touches an entity. */
  readonly operation?: Operation['kind'];
  readonly rowKey?: string;
  /** Requests until the fault ends. Default: it stays until faults are cleared. */
  readonly times?: number;
}

export interface TableFaults {
  add(fault: TableFault): void;
  clear(): void;
  /** The first fault that meets a request with these operations, counted. */
  take(operations: readonly Operation[]): TableFault | undefined;
}

export function createTableFaults(): TableFaults {
  const all = new Map<TableFault, number>();
  return {
    add: (fault) => void all.set(fault, fault.times ?? Infinity),
    clear: () => all.clear(),
    take(operations) {
      const met = [...all].find(([fault]) => operations.some((operation) => meets(fault, operation)));
      if (met === undefined) return undefined;
      const [fault, left] = met;
      if (left > 1) all.set(fault, left - 1);
      else all.delete(fault);
      return fault;
    },
  };
}

function meets({ operation, rowKey }: TableFault, actual: Operation): boolean {
  return (operation === undefined || operation === actual.kind) && (rowKey === undefined || rowKey === actual.rowKey);
}

/** The service's target for one partition. */
export const ENTITIES_PER_SECOND = 2_000;
/** From this number on, buckets that are full again are dropped: the map holds a second's. */
const PARTITIONS_MAX = 10_000;

/** A token bucket for each partition, of one second's worth. A refused request takes no tokens. */
export function createThrottle(
  perSecond: number,
  nowMs: () => number,
): (partition: string, entities: number) => boolean {
  const buckets = new Map<string, { allowance: number; countedMs: number }>();
  return (partition, entities) => {
    const now = nowMs();
    const bucket = buckets.get(partition) ?? { allowance: perSecond, countedMs: now };
    const allowance = Math.min(perSecond, bucket.allowance + ((now - bucket.countedMs) / 1_000) * perSecond);
    const refused = entities > allowance;
    if (buckets.size >= PARTITIONS_MAX)
      for (const [name, { countedMs }] of buckets) if (now - countedMs >= 1_000) buckets.delete(name);
    buckets.set(partition, { allowance: refused ? allowance : allowance - entities, countedMs: now });
    return refused;
  };
}
