// The one place where Datastore's errors become the contract's words, by gRPC code alone. A code is called a refusal only if it is
// the server's verdict on the request; whatever could also arise on the way is `unknown`.
import type { Refused, Unknown, Write } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { refused, unknown } from '../common/outcomes.ts';
import { CODE, StatusError } from './grpc/status.ts';
/** What became of the only write or removal of a commit that failed. */
export function outcomeOfOne(error: unknown, kind: Write['kind'] | 'remove'): Refused | Unknown {
  if (error instanceof StatusError && !error.isVerdict) return outcomeOfMany(error);
  switch (codeOf(error)) {
    case CODE.ALREADY_EXISTS:
      return refused('condition', error);
    case CODE.NOT_FOUND:
    case CODE.FAILED_PRECONDITION:
      // An insert states no version; for it these speak of the database.
      return refused(kind === 'insert' ? 'invalid' : 'condition', error);
    case CODE.INVALID_ARGUMENT:
      // The driver has checked all else: of a patch only the server knows the size that results.
      return refused(kind === 'patch' ? 'limit' : 'invalid', error);
    case CODE.PERMISSION_DENIED:
    case CODE.UNAUTHENTICATED:
    case CODE.UNIMPLEMENTED:
      return refused('invalid', error);
    default:
      return outcomeOfMany(error);
  }
}

/** What became of each member of any other commit that failed: any subset may have been applied. */
export function outcomeOfMany(error: unknown): Unknown {
  return unknown(codeOf(error) === CODE.RESOURCE_EXHAUSTED ? 'throttled' : 'other', error);
}

/** The error of a read or list. */
export function readError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  switch (codeOf(error)) {
    case CODE.RESOURCE_EXHAUSTED:
      return new StoreError('throttled', 'datastore asks to slow down, try again later', { cause: error });
    case CODE.PERMISSION_DENIED:
    case CODE.UNAUTHENTICATED:
      return denied('datastore denies access, check the credentials and their roles', error);
    case CODE.NOT_FOUND:
    case CODE.FAILED_PRECONDITION:
    case CODE.INVALID_ARGUMENT:
    case CODE.UNIMPLEMENTED:
      return denied('datastore refuses to read, check project, database and mode', error);
    default:
      return new StoreError('unavailable', 'datastore did not answer, try again', { cause: error });
  }
}

/** True if the server said that a condition does not hold. */
export function isConditionFailure(error: unknown): boolean {
  const outcome = outcomeOfOne(error, 'patch');
  return outcome.kind === 'refused' && outcome.reason === 'condition';
}

function denied(message: string, cause: unknown): StoreError {
  return new StoreError('unavailable', message, { retryable: false, cause });
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
