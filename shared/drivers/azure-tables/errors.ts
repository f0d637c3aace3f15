// The one place where Azure's errors become the contract's words, by status and error code alone. A verdict is believed only if the
// service gave one; a lost connection, a timeout and every 5xx are `unknown`.
import type { Refused, Unknown } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { refused, unknown } from '../common/outcomes.ts';

const TOO_LARGE: ReadonlySet<unknown> = new Set([
  'EntityTooLarge',
  'PropertyValueTooLarge',
  'RequestBodyTooLarge',
  'TooManyProperties',
]);

/** What became of a write or removal that was a request of its own. */
export function outcomeOfOne(error: unknown): Refused | Unknown {
  const { status, code } = factsOf(error);
  if (isConditionFailure(error)) return refused('condition', error);
  if (status === 413 || TOO_LARGE.has(code)) return refused('limit', error);
  if (status === 400 || status === 401 || status === 403) return refused('invalid', error);
  return unknown(status === 503 || status === 429 ? 'throttled' : 'other', error);
}

/**
 * What became of each member of a transaction that failed. It is atomic, so a failed condition means that none was applied. Any other
 * refusal says nothing about most members: all are `unknown`, and sent alone each learns its own.
 */
export function outcomeOfTransaction(error: unknown): Refused | Unknown {
  const outcome = outcomeOfOne(error);
  return outcome.kind === 'refused' && outcome.reason !== 'condition' ? unknown('other', error) : outcome;
}

/** The error of a read or list. */
export function readError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { status } = factsOf(error);
  if (status === 503 || status === 429) {
    return new StoreError('throttled', 'azure asks to slow down, try again later', { cause: error });
  }
  if (status === 401 || status === 403) {
    return new StoreError('unavailable', 'azure denies access, check the credentials and their roles', {
      retryable: false,
      cause: error,
    });
  }
  // A success that could not be read says as little as no reply.
  const retryable = status === undefined || status < 300 || status === 408 || status === 409 || status >= 500;
  return new StoreError('unavailable', 'azure tables did not answer the request', { retryable, cause: error });
}

/** True if the service said that a condition does not hold, or that the entity is gone. */
export function isConditionFailure(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 412 || (status === 409 && code === 'EntityAlreadyExists') || isNotFound(error);
}

/** The entity is not there. A missing table is another matter. */
export function isNotFound(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 404 && (code === 'ResourceNotFound' || code === 'EntityNotFound');
}

export function isTableNotFound(error: unknown): boolean {
  return factsOf(error).code === 'TableNotFound';
}

interface ErrorShape {
  readonly statusCode?: number;
  /** Set by transactions, and for single rows. */
  readonly code?: string;
  /** Set by the SDK's other methods. */
  readonly details?: { readonly odataError?: { readonly code?: string } };
}

function factsOf(error: unknown): { readonly status: number | undefined; readonly code: string | undefined } {
  if (typeof error !== 'object' || error === null) return { status: undefined, code: undefined };
  const { statusCode, code, details } = error as ErrorShape;
  return { status: statusCode, code: details?.odataError?.code ?? code };
}
