// The lines between a worker and its parent.
import type { Store, StoreError, Table } from '../../shared/store/index.ts';
import type { DriverName } from '../drivers/emulated.ts';

/** The worker reads here, and waits, what the parent makes of a record in an update. */
export const CHANGE_FD = 3;

/** The store of a worker. */
export interface Where {
  readonly driver: DriverName;
  readonly port: number;
  /** Keeps runs apart: a namespace, or a physical table. */
  readonly space: string;
  readonly entityBytesMax: number;
  readonly cacheBytesMax: number;
  readonly timeoutMs: number;
}

export interface Asked {
  readonly id: number;
  readonly method:
    | (keyof Table<unknown> &
        ('get' | 'put' | 'update' | 'delete' | 'getMany' | 'putMany' | 'deleteMany' | 'batch' | 'clear' | 'scan'))
    | (keyof Store & ('table' | 'tables' | 'drop' | 'vacuum' | 'verify'));
  readonly args: readonly unknown[];
}

export type Said = { readonly id: number } & (
  | { readonly value: unknown; readonly isChange?: true }
  | { readonly error: StoreError }
  /** No StoreError: its stack. */
  | { readonly broken: string }
);
