// The one error class of the store. A code says what the caller must do next, so there are few of them;
// `retryable` says whether the very same call may simply be made again.
import type { EntityId, Refused } from './driver.ts';

/**
 * What the caller has to do:
 * - `conflict`: the state is not what the call assumed (ifVersion, ifAbsent, a table of another order, a table dropped meanwhile): read again, decide again.
 * - `not_found`: the table does not exist: create it, or mend its name.
 * - `too_large`: the record exceeds a limit: make it smaller.
 * - `invalid`: the call itself is wrong: change the program.
 * - `throttled`: too much at once, for the provider or for the store's own queues; nothing was written: slow down, then try again.
 * - `unavailable`: the provider cannot be reached, or denies access (`retryable` is false then, and the message says what to grant); nothing was written.
 * - `unknown`: the write was sent and its fate could not be learned in time: read the record before deciding anything.
 * - `corrupt`: stored bytes are damaged or of a newer format: stop, and look at the named container.
 * - `aborted`: the caller's signal or deadline ended the call before anything was written.
 */
export type StoreErrorCode =
  'conflict' | 'not_found' | 'too_large' | 'invalid' | 'throttled' | 'unavailable' | 'unknown' | 'corrupt' | 'aborted';

/** Where the error happened, and its cause. */
export interface StoreErrorDetails {
  readonly table?: string | undefined;
  readonly key?: string | undefined;
  /** Id of the container (the provider's entity). */
  readonly container?: EntityId | undefined;
  /** Overrides the default of the code: `throttled`, `unavailable` and `aborted` are retryable. */
  readonly retryable?: boolean | undefined;
  /** Of `throttled`: for so long the provider asks not to be asked again. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const RETRYABLE_BY_DEFAULT: ReadonlySet<StoreErrorCode> = new Set(['throttled', 'unavailable', 'aborted']);

/** Every failure the store reports, except misuse (of its calls' options and arguments, of the driver contract), which is a TypeError. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly table: string | undefined;
  readonly key: string | undefined;
  readonly container: string | undefined;

  /** `message` is lower case and tells the caller what to do; the details are appended as `name=value`. */
  constructor(code: StoreErrorCode, message: string, details: StoreErrorDetails = {}) {
    super(message + whereText(details), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StoreError';
    this.code = code;
    this.retryable = details.retryable ?? RETRYABLE_BY_DEFAULT.has(code);
    this.retryAfterMs = details.retryAfterMs;
    this.table = details.table;
    this.key = details.key;
    this.container = details.container;
  }

  /** For logs, as JSON.stringify leaves out an Error's message. Of the cause it gives the message alone. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, retryable, table, key, container, cause } = this;
    const why = cause instanceof Error ? cause.message : undefined;
    return { name, code, message, retryable, table, key, container, cause: why };
  }
}

function whereText(details: StoreErrorDetails): string {
  const named = [
    details.table === undefined ? '' : ` table=${details.table}`,
    details.key === undefined ? '' : ` key=${JSON.stringify(details.key)}`,
    details.container === undefined ? '' : ` container=${details.container}`,
  ];
  return named.join('');
}

/** The table was never created, or was dropped. */
export function tableNotFound(table: string): StoreError {
  return new StoreError('not_found', 'the table does not exist: create it first', { table });
}

/** The positions that a handle computed mean nothing in a table of another order. */
export function orderChanged(table: string): StoreError {
  return new StoreError('conflict', 'the table was dropped and created again with another order: open it again', {
    table,
  });
}

/** A write of a container that the provider refused, for another reason than its condition: nothing was written. */
export function refusedError({ reason, cause }: Refused, table: string, container: EntityId): StoreError {
  const details = { table, container, cause };
  if (reason === 'limit') return new StoreError('too_large', 'the provider refused a container as too large', details);
  if (!(cause instanceof StoreError))
    return new StoreError('invalid', 'the provider refused the form of the write', details);
  const { code, message, retryable, retryAfterMs } = cause;
  return new StoreError(code, `nothing was written: ${message}`, { ...details, retryable, retryAfterMs });
}

/** A write was sent, and nothing tells whether it was applied. */
export function unknownOutcome(
  table: string,
  container: EntityId | undefined,
  key: string | undefined,
  cause?: unknown,
): StoreError {
  const message = 'the write was sent and its fate is not known: read the record before deciding what to do';
  return new StoreError('unknown', message, { table, key, container, cause });
}

/** A failed operation's error as batches report it. A TypeError, which is misuse, is thrown on; what nobody foresaw becomes `unavailable`, not retryable. */
export function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof TypeError) throw error;
  return new StoreError('unavailable', 'the operation failed unexpectedly', { cause: error, retryable: false });
}
