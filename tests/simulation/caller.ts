// The process of a client as its calls see it: simulated, or a real one of tests/faults.
import type { Store, Table } from '../../shared/store/index.ts';

/** The value of every record. */
export interface Value {
  readonly id: string;
  readonly padding: string;
}

/** The part of a table that clients call. */
export type CalledTable = Pick<
  Table<Value>,
  'get' | 'put' | 'update' | 'delete' | 'getMany' | 'putMany' | 'deleteMany' | 'batch' | 'clear' | 'scan'
>;

/** One life of a process, from its start to its crash. */
export interface Caller {
  readonly number: number;
  readonly process: { readonly index: number; readonly wallJumpsMs: number };
  readonly store: Pick<Store, 'tables' | 'drop' | 'vacuum' | 'verify' | 'repair'> & {
    table<V>(
      name: string,
      options: { order: 'hash' | 'key'; containers: number },
    ): Promise<Pick<Table<V>, keyof CalledTable>>;
  };
  /** Handles that clients opened. */
  readonly tables: unknown[];
  /** Resolves at its crash. */
  readonly crashed: Promise<void>;
  readonly isDead: boolean;
  /** How often it slept; NaN where nobody can tell, so that no call is too late. */
  readonly naps: number;
  readonly wakesAtMs: number;
  wallMs(): number;
}
