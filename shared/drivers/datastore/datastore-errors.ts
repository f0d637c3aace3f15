// Translates Datastore's errors by gRPC code. Only a verdict of the service itself is a refusal;
// after any other error the outcome is `unknown`.
import type { Refused, Unknown } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { NotSentError, refused, unknown } from '../common/driver-outcomes.ts';
import { CODE, StatusError } from './grpc/call.ts';

/** There is no code for this, but texts: "entity is too big", "is longer than 1048487 bytes". */
const TOO_LARGE = /too (big|large|long)|(longer|larger) than|exceeds|maximum entity size/i;

/** The outcome of the only write or removal of a commit that failed. */
export function outcomeOfOne(error: unknown, isInsert: boolean): Refused | Unknown {
  if (!(error instanceof StatusError) || !error.isVerdict) return outcomeOfMany(error);
  switch (error.code) {
    case CODE.ALREADY_EXISTS:
      return refused('condition', error);
    case CODE.NOT_FOUND:
    case CODE.FAILED_PRECONDITION:
      // An insert has no version, so these codes must be about the database.
      return isInsert ? refused('denied', readError(error)) : refused('condition', error);
    case CODE.ABORTED:
      // An insert has no version, and refused for its condition it would seem to have a taken id.
      return isInsert ? outcomeOfMany(error) : refused('condition', error);
    case CODE.INVALID_ARGUMENT:
      return refused(TOO_LARGE.test(String(error)) ? 'limit' : 'invalid', error);
    case CODE.UNIMPLEMENTED:
      return refused('invalid', error);
    default:
      return outcomeOfMany(error);
  }
}

/** Any subset of a larger commit may have been applied, unless the whole was not let in. */
export function outcomeOfMany(error: unknown): Refused | Unknown {
  if (error instanceof NotSentError) return refused('unsent', readError(error));
  if (isDenial(error)) return refused('denied', readError(error));
  // No document says that a commit with this code, which gRPC also gives for too large replies, or
  // with UNAVAILABLE, was not applied.
  return unknown(codeOf(error) === CODE.RESOURCE_EXHAUSTED ? 'throttled' : 'other', error);
}

/** Whether the service denied access, which it does before it reads the request. */
function isDenial(error: unknown): boolean {
  if (!(error instanceof StatusError) || !error.isVerdict) return false;
  return error.code === CODE.PERMISSION_DENIED || error.code === CODE.UNAUTHENTICATED;
}

/** What to do about a denial, by Google's text, as all denials have the same codes. */
const ADVICE: readonly (readonly [text: RegExp, advice: string])[] = [
  [/API has not been used|is disabled/, 'datastore denies access, enable the Cloud Datastore API in the project'],
  [/database .*does not exist/i, 'datastore has no such database, create it in Datastore mode or correct databaseId'],
  [/not available for|native mode/i, 'datastore refuses, the database must be one in Datastore mode'],
  [/on resource project|project .*(not found|invalid)/i, 'datastore denies access, correct projectId'],
];

function denied(error: unknown, otherwise: string): StoreError {
  const advice = ADVICE.find(([text]) => text.test(String(error)))?.[1] ?? otherwise;
  return failed('unavailable', advice, error, false);
}

/** The error of a read or list; its message ends with the cause's. */
export function readError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof NotSentError) return readError(error.cause);
  switch (codeOf(error)) {
    case CODE.RESOURCE_EXHAUSTED:
      return failed('throttled', 'datastore asks to slow down, try again later', error);
    case CODE.PERMISSION_DENIED:
      return denied(error, 'datastore denies access, grant roles/datastore.user');
    case CODE.UNAUTHENTICATED:
      return denied(error, 'datastore does not take the credentials, run gcloud auth application-default login');
    case CODE.NOT_FOUND:
    case CODE.FAILED_PRECONDITION:
    case CODE.INVALID_ARGUMENT:
    case CODE.UNIMPLEMENTED:
      return denied(error, 'datastore refuses, check project, database and mode');
    default:
      return failed('unavailable', 'datastore did not answer, try again', error);
  }
}

/** Whether the server said that a condition does not hold. */
export function isConditionFailure(error: unknown): boolean {
  const outcome = outcomeOfOne(error, false);
  return outcome.kind === 'refused' && outcome.reason === 'condition';
}

function failed(code: 'throttled' | 'unavailable', message: string, cause: unknown, retryable = true): StoreError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new StoreError(code, message + why, { retryable, cause });
}

function codeOf(error: unknown): unknown {
  return error instanceof StatusError ? error.code : undefined;
}
