// The messages of the store's diagnostics channels. They hold no keys and no values, except in the
// `result` and `error` that Node adds.
import type { StoreErrorCode } from './errors.ts';
import type { TableStats } from './stats.ts';

/** `ok`, or the code of the error, of a list its first one; `failed`: it was no StoreError. */
export type TraceOutcome = 'ok' | 'failed' | StoreErrorCode;

/** One call, on `stowage:operation`. Its figures grow until it ends. */
export interface OperationTrace {
  /** The method's name. A scan is one operation per leaf. */
  readonly operation: string;
  /** Undefined for `tables`. */
  readonly table: string | undefined;
  /** The requests sent for it. A request that several calls share counts for the first of them. */
  requests: number;
  conflicts: number;
  cacheHits: number;
  /** Bytes of the entities' parts, without names and transport. */
  bytesRead: number;
  bytesWritten: number;
  outcome: TraceOutcome;
}

/** One request to the provider, on `stowage:request`, including a read's retries. */
export interface RequestTrace {
  readonly kind: 'read' | 'write' | 'remove' | 'list';
  readonly table: string | undefined;
  readonly entities: number;
  /** The call that it was sent for; undefined for work in the background. */
  readonly operation: OperationTrace | undefined;
  bytesRead: number;
  bytesWritten: number;
  outcome: TraceOutcome | 'condition' | 'limit' | 'denied' | 'unsent';
}

/** One message on `stowage:event`, named like the counter of `TableStats` if there is one. */
export interface StoreEvent {
  readonly event: Exclude<keyof TableStats, `${string}${'Max' | 'equests' | 'Depth'}`> | 'throttled' | 'repairs';
  readonly count: number;
  readonly table: string | undefined;
  readonly operation: OperationTrace | undefined;
}
