// The error class of the store. Its code tells the caller what to do next.
import type { EntityId, Refused } from './driver.ts';

export type StoreErrorCode =
  /**
   * A condition, or the table's order or incarnation, did not match: read again and decide anew.
   */
  | 'conflict'
  /** The table does not exist: create it, or correct its name. */
  | 'not_found'
  /** The record exceeds a limit: make it smaller. */
  | 'too_large'
  /** The call is wrong: change the program. */
  | 'invalid'
  /** Too much at once for the provider or the store; nothing was written: slow down, try again. */
  | 'throttled'
  /** The provider cannot be reached, or denies access (not `retryable`); nothing was written. */
  | 'unavailable'
  /**
   * The write was sent and its outcome is not known: read the record before you decide. Or a call
   * of several steps ended after some of them, and its message says how to finish.
   */
  | 'unknown'
  /** Stored bytes are damaged or of a newer format: stop, and look at the named container. */
  | 'corrupt'
  /** The signal (`name` AbortError) or the deadline (TimeoutError) ended the call unwritten. */
  | 'aborted';

export interface StoreErrorDetails {
  readonly table?: string | undefined;
  readonly key?: string | undefined;
  /** The id of the container, which is the provider's entity. */
  readonly container?: EntityId | undefined;
  /** Whether to repeat the call. Default: true for `throttled`, `unavailable`, `aborted`. */
  readonly retryable?: boolean | undefined;
  /** With `throttled`: how long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const RETRYABLE_BY_DEFAULT: ReadonlySet<StoreErrorCode> = new Set(['throttled', 'unavailable', 'aborted']);

/** Every failure of the store except misuse, which is a TypeError. `aborted` has its own names. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly table: string | undefined;
  readonly key: string | undefined;
  readonly container: string | undefined;

  /** `message` is lower case and says what to do; the details follow as `name=value`. */
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

  /**
   * For logs, since JSON.stringify omits an Error's message. Of the cause it has only the message.
   */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, retryable, table, key, container, cause } = this;
    const why = (cause as Partial<Error> | null | undefined)?.message;
    return { name, code, message, retryable, table, key, container, cause: why };
  }
}

function whereText({ table, key, container }: StoreErrorDetails): string {
  const where = { table, key: key === undefined ? undefined : JSON.stringify(key), container };
  const named = Object.entries(where).filter(([, value]) => value !== undefined);
  return named.map(([name, value]) => ` ${name}=${value}`).join('');
}

const SAYS_NOTHING_WRITTEN = new Set<StoreErrorCode>(['aborted', 'throttled', 'unavailable', 'too_large', 'invalid']);

/** Whether the error claims that nothing was written. Not to be said of a call that did a part. */
export function saysNothingWritten(error: unknown): boolean {
  return error instanceof StoreError && SAYS_NOTHING_WRITTEN.has(error.code);
}

/** The table was never created, or was dropped. */
export function tableNotFound(table: string): StoreError {
  return new StoreError('not_found', 'the table does not exist: create it first', { table });
}

/** The table has another order than when the handle was opened. */
export function orderChanged(table: string): StoreError {
  const message = 'the table was dropped and created again with another order: open it again';
  return new StoreError('conflict', message, { table });
}

/** The error of a write that the provider refused although its condition held. */
export function refusedError({ reason, cause }: Refused, table: string, container: EntityId): StoreError {
  const details = { table, container, cause };
  if (reason === 'limit') return new StoreError('too_large', 'the provider refused a container as too large', details);
  if (!(cause instanceof StoreError))
    return new StoreError('invalid', 'the provider refused the form of the write', details);
  const { code, message, retryable, retryAfterMs } = cause;
  return new StoreError(code, `nothing was written: ${message}`, { ...details, retryable, retryAfterMs });
}

/**
 * An unforeseen error becomes `unavailable`, not retryable. A TypeError, which is misuse, is
 * thrown.
 */
export function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof TypeError) throw error;
  return new StoreError('unavailable', 'the operation failed unexpectedly', { cause: error, retryable: false });
}
