// The one place where Datastore's errors become the contract's words, by gRPC code alone. A code is called a refusal only if it is
// the server's verdict on the request; whatever could also arise on the way is `unknown`.
import type { Refused, Unknown, Write } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { DeadlineError, refused, unknown } from '../common/outcomes.ts';

const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

/** What became of the only write or removal of a commit that failed. */
export function outcomeOfOne(error: unknown, kind: Write['kind'] | 'remove'): Refused | Unknown {
  switch (codeOf(error)) {
    case ALREADY_EXISTS:
      return refused('condition', error);
    case NOT_FOUND:
    case FAILED_PRECONDITION:
      // An insert states no version; for it these speak of the database.
      return refused(kind === 'insert' ? 'invalid' : 'condition', error);
    case INVALID_ARGUMENT:
      // The driver has checked all else: of a patch only the server knows the size that results.
      return refused(kind === 'patch' ? 'limit' : 'invalid', error);
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
    case UNIMPLEMENTED:
      return refused('invalid', error);
    default:
      return outcomeOfMany(error);
  }
}

/** What became of each member of any other commit that failed: any subset may have been applied. */
export function outcomeOfMany(error: unknown): Unknown {
  return unknown(codeOf(error) === RESOURCE_EXHAUSTED ? 'throttled' : 'other', error);
}

/** The error of a read or list. */
export function readError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  switch (codeOf(error)) {
    case RESOURCE_EXHAUSTED:
      return new StoreError('throttled', 'datastore asks to slow down, try again later', { cause: error });
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
      return denied('datastore denies access, check the credentials and their roles', error);
    case NOT_FOUND:
    case FAILED_PRECONDITION:
    case INVALID_ARGUMENT:
    case UNIMPLEMENTED:
      return denied('datastore refuses to read, check project, database and mode', error);
    default:
      return new StoreError('unavailable', 'datastore did not answer, try again', { cause: error });
  }
}

/** True if no reply came in time. */
export function isDeadline(error: unknown): boolean {
  return error instanceof DeadlineError || codeOf(error) === DEADLINE_EXCEEDED;
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
