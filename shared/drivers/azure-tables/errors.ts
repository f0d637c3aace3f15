// The one place where Azure's errors become the contract's words, by status and error code alone. A verdict is believed only if the
// service gave one; a lost connection, a timeout and every 5xx are `unknown`.
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
import type { Refused, Unknown } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { refused, unknown } from '../common/outcomes.ts';

/** A whole reply of the service that is no success. Whether the request was carried out, its status and code tell. */
export class RefusedRequestError extends Error {
  readonly status: number;
  /** The service's word for it; undefined if it gave none. */
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined, detail: string) {
    super(`azure tables answered ${[status, code, detail].filter(Boolean).join(' ')}`);
    this.name = 'RefusedRequestError';
    this.status = status;
    this.code = code;
  }
}

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
  const retryable = status === undefined || status === 408 || status === 409 || status >= 500;
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
  const { status, code } = factsOf(error);
  return status === 404 && code === 'TableNotFound';
}

export function isTableThere(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 409 && code === 'TableAlreadyExists';
}

/** What the service said; nothing where no whole reply of it came. */
function factsOf(error: unknown): { readonly status?: number; readonly code?: string | undefined } {
  return error instanceof RefusedRequestError ? error : {};
}
