// The messages of the store's diagnostics channels. Nothing in them is a key or a value, but for
// the `result` and `error` that Node adds.
import type { StoreErrorCode } from './errors.ts';
import type { TableStats } from './stats.ts';

/** `ok`, or an error's code; `failed` for any but a StoreError. A list's: its first failure's. */
export type TraceOutcome = 'ok' | 'failed' | StoreErrorCode;

/** One call, of `stowage:operation`. Its figures and `outcome` grow until it ends. */
export interface OperationTrace {
  /** The method's name. A scan is one operation a leaf. */
  readonly operation: string;
  /** Undefined for `tables`. */
  readonly table: string | undefined;
  /** Requests that were sent for it. One that calls share counts for the first of them. */
  requests: number;
  conflicts: number;
  cacheHits: number;
  /** Bytes of parts, without names and transport. */
  bytesRead: number;
  bytesWritten: number;
  outcome: TraceOutcome;
}

/** One request to the provider, of `stowage:request`. A read's retries are within it. */
export interface RequestTrace {
  readonly kind: 'read' | 'write' | 'remove' | 'list';
  readonly table: string | undefined;
  readonly entities: number;
  /** The call it was sent for; undefined for work in the background. */
  readonly operation: OperationTrace | undefined;
  bytesRead: number;
  bytesWritten: number;
  outcome: TraceOutcome | 'condition' | 'limit' | 'denied' | 'unsent';
}

/** One message of `stowage:event`, named as the counter of `TableStats`, if there is one. */
export interface StoreEvent {
  readonly event: Exclude<keyof TableStats, `${string}${'Max' | 'equests' | 'Depth'}`> | 'throttled' | 'repairs';
  readonly count: number;
  readonly table: string | undefined;
  readonly operation: OperationTrace | undefined;
}
