// Translates Azure's errors into the contract's, by status and code. Only an answer of the service
// itself is a verdict; after anything else the outcome is `unknown`.
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
import type { Refused, Unknown } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { NotSentError, refused, unknown } from '../common/driver-outcomes.ts';

interface RefusalFacts {
  readonly status: number;
  /** The service's error code, if it gave one. */
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** How much later this machine's clock was than the service's. */
  readonly clockAheadMs?: number | undefined;
  /** When the request's shared access signature ended, if it has. */
  readonly signatureEnded?: string | undefined;
  /** The service itself refused. Other answers never prove that a request was not carried out. */
  readonly isVerdict: boolean;
}

/** A whole reply other than the success of its request. */
export class RefusedRequestError extends Error {
  readonly facts: RefusalFacts;
  /** The service's error code, for logs, which have the codes of all causes. */
  readonly code: string | undefined;

  constructor(facts: RefusalFacts) {
    const { status, code, detail, isVerdict } = facts;
    const who = isVerdict ? 'azure tables' : 'something that is not azure tables, perhaps a proxy on the way,';
    super(`${who} answered ${[status, code, detail].filter(Boolean).join(' ')}`);
    this.name = 'RefusedRequestError';
    this.facts = facts;
    this.code = code;
  }
}

const TOO_LARGE: ReadonlySet<unknown> = new Set([
  'EntityTooLarge',
  'PropertyValueTooLarge',
  'RequestBodyTooLarge',
  'TooManyProperties',
]);

/** The outcome of a write or removal that was a request of its own. */
export function outcomeOfOne(error: unknown, isInsert = false): Refused | Unknown {
  if (error instanceof NotSentError) return refused('unsent', readError(error));
  const { status, code, isVerdict } = factsOf(error);
  if (!isVerdict) return unknown(isThrottle(status) ? 'throttled' : 'other', error);
  // An insert is refused for its condition only if the answer says that the entity exists.
  if (isInsert ? isThere(error) : isConditionFailure(error)) return refused('condition', error);
  if (status === 413 || TOO_LARGE.has(code)) return refused('limit', error);
  if (isDenial(error)) return refused('denied', readError(error));
  if (status === 400) return refused('invalid', error);
  // https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
  if (status === 503 && code === 'ServerBusy') return refused('throttled', readError(error));
  return unknown(isThrottle(status) ? 'throttled' : 'other', error);
}

/** No write was applied. Refusals for size or form, which concern one write, become `unknown`. */
export function outcomeOfTransaction(error: unknown): Refused | Unknown {
  const outcome = outcomeOfOne(error);
  return outcome.reason === 'limit' || outcome.reason === 'invalid' ? unknown('other', error) : outcome;
}

/** The service refuses a signature if its date is off by more. */
const CLOCK_OFF_MS = 15 * 60_000;

const ROLE = 'grant Storage Table Data Contributor to the identity';
const RIGHTS = 'use a key, or a signature that may read, add, update and delete';

/** What to do about a denial, by the service's code. */
const ADVICE: Readonly<Record<string, string>> = {
  AccountIsDisabled: 'the account is disabled: look at its subscription',
  AuthenticationFailed: 'the key, signature or token does not fit the account: give its present one',
  AuthorizationFailure: `let this machine through the firewall of the account (its page "Networking"), or ${RIGHTS}`,
  AuthorizationPermissionMismatch: `${ROLE}, or ${RIGHTS}`,
  AuthorizationProtocolMismatch: 'the signature is for https: alone: give an https: endpoint',
  AuthorizationSourceIPMismatch: 'the signature is for other addresses: make one for this machine',
  InvalidAuthenticationInfo: `the token is not for this account: sign in to its tenant (az login), and ${ROLE}`,
  KeyBasedAuthenticationNotPermitted: `the account takes no keys: use a token credential (az login), and ${ROLE}`,
};

function adviceOn({ code = '', clockAheadMs = 0, signatureEnded }: Partial<RefusalFacts>): string {
  if (code === 'AuthenticationFailed' && signatureEnded !== undefined)
    return `the shared access signature ended at ${signatureEnded}: make another`;
  if (code === 'AuthenticationFailed' && Math.abs(clockAheadMs) > CLOCK_OFF_MS) {
    const minutes = Math.round(Math.abs(clockAheadMs) / 60_000);
    return `the clock of this machine is ${minutes} minutes ${clockAheadMs > 0 ? 'ahead' : 'behind'}: set it`;
  }
  return ADVICE[code] ?? `${ROLE}, or ${RIGHTS}`;
}

/** The error of a read or list; its message ends with the cause's. */
export function readError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof NotSentError) return readError(error.cause);
  const facts = factsOf(error);
  const { status, retryAfterMs } = facts;
  const why = error instanceof Error ? error.message : String(error);
  if (isThrottle(status))
    return new StoreError('throttled', `azure asks to slow down, try again later: ${why}`, {
      retryAfterMs,
      cause: error,
    });
  if (isDenial(error))
    return new StoreError('unavailable', `azure denies access: ${adviceOn(facts)}: ${why}`, {
      retryable: false,
      cause: error,
    });
  const retryable = status === undefined || status < 400 || status === 408 || status === 409 || status >= 500;
  return new StoreError('unavailable', `azure tables did not answer: ${why}`, { retryable, cause: error });
}

/** A token for another account is refused with 400. */
function isDenial(error: unknown): boolean {
  const { status, code, isVerdict } = factsOf(error);
  return isVerdict && (status === 401 || status === 403 || code === 'InvalidAuthenticationInfo');
}

function isThrottle(status: number | undefined): boolean {
  return status === 503 || status === 429;
}

/** True if the service said that a condition does not hold, or that the entity is gone. */
export function isConditionFailure(error: unknown): boolean {
  return isVerdict(error, 412, 'UpdateConditionNotSatisfied', 'ConditionNotMet') || isThere(error) || isNotFound(error);
}

function isThere(error: unknown): boolean {
  return isVerdict(error, 409, 'EntityAlreadyExists');
}

/** The entity is missing, but its table exists. */
export function isNotFound(error: unknown): boolean {
  return isVerdict(error, 404, 'ResourceNotFound', 'EntityNotFound');
}

export function isTableNotFound(error: unknown): boolean {
  return isVerdict(error, 404, 'TableNotFound');
}

export function isTableThere(error: unknown): boolean {
  return isVerdict(error, 409, 'TableAlreadyExists');
}

function isVerdict(error: unknown, status: number, ...codes: readonly string[]): boolean {
  const facts = factsOf(error);
  return facts.isVerdict && facts.status === status && codes.includes(facts.code ?? '');
}

function factsOf(error: unknown): Partial<RefusalFacts> & Pick<RefusalFacts, 'isVerdict'> {
  return error instanceof RefusedRequestError ? error.facts : { isVerdict: false };
}
