// Faults that a test installs, and the throttle that refuses requests to a partition above the
// service's scalability target.
import type { Operation } from './operations.ts';

interface FaultScope {
  /**
   * Meets only requests with an operation like this. Default: every request that touches an entity.
   */
  readonly operation?: Operation['kind'];
  readonly partitionKey?: string;
  readonly rowKey?: string;
  /** The fault ends by itself after so many requests. Default: it stays until it is removed. */
  readonly times?: number;
}

export type TableFault = FaultScope &
  (
    | { readonly kind: 'latency'; readonly delayMs: number }
    /**
     * Answers with this status and error code, before anything is applied or after everything was.
     */
    | { readonly kind: 'fail'; readonly status: number; readonly code: string; readonly when: 'before' | 'after' }
    /** Cuts the connection without an answer, before or after. */
    | { readonly kind: 'cut'; readonly when: 'before' | 'after' }
  );

export interface TableFaults {
  /**
   * Installs a fault and returns a function that removes it. Throws a TypeError for a status
   * outside 400 to 599.
   */
  add(fault: TableFault): () => void;
  clear(): void;
  /** The faults that meet a request with these operations, counted. */
  take(operations: readonly Operation[]): TableFault[];
}

export function createTableFaults(): TableFaults {
  const all = new Map<TableFault, number>();
  return {
    add(fault) {
      if (fault.kind === 'fail' && !(fault.status >= 400 && fault.status <= 599))
        throw new TypeError(`the status of a failure is from 400 to 599, not ${fault.status}`);
      all.set(fault, 0);
      return () => void all.delete(fault);
    },
    clear: () => all.clear(),
    take(operations) {
      const met = [...all.keys()].filter((fault) => operations.some((operation) => meets(fault, operation)));
      for (const fault of met) {
        const hits = all.get(fault)! + 1;
        if (hits === fault.times) all.delete(fault);
        else all.set(fault, hits);
      }
      return met;
    },
  };
}

function meets({ operation, partitionKey, rowKey }: TableFault, actual: Operation): boolean {
  return (
    (operation === undefined || operation === actual.kind) &&
    (partitionKey === undefined || partitionKey === actual.partitionKey) &&
    (rowKey === undefined || rowKey === actual.rowKey)
  );
}

/** The service's target for one partition. */
export const ENTITIES_PER_SECOND = 2_000;
/** Above this number, buckets that are full again are dropped, so that the map stays bounded. */
const PARTITIONS_MAX = 10_000;

/**
 * A token bucket for each partition, which holds one second's worth. A refused request takes no
 * tokens.
 */
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
    if (buckets.size >= PARTITIONS_MAX) buckets.clear();
    buckets.set(partition, { allowance: refused ? allowance : allowance - entities, countedMs: now });
    return refused;
  };
}
