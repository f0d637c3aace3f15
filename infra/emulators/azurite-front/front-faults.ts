// Faults that a test installs.
import type { Operation } from './front-operations.ts';

/** Answers with this status and error code, before anything is applied or after everything is. */
export interface TableFault {
  readonly status: number;
  readonly code: string;
  readonly when: 'before' | 'after';
  /** Default: every request that touches an entity. */
  readonly operation?: Operation['kind'];
  readonly rowKey?: string;
  /** How many requests it meets. Default: all until faults are cleared. */
  readonly times?: number;
}

export interface TableFaults {
  add(fault: TableFault): void;
  clear(): void;
  /** The first fault that meets a request with these operations. Counts that it did. */
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
