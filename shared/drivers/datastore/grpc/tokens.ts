// Keeps the headers that authorize requests. Google's library fetches and renews the tokens.
import { StoreError } from '../../../store/contract/errors.ts';
import { withDeadline } from '../../common/driver-outcomes.ts';

/** Source of credentials: a `GoogleAuth` of google-auth-library 10 or later. */
export interface Auth {
  getClient(): Promise<{
    /** Names and values, such as `Headers`. */
    getRequestHeaders(url: string): Promise<Iterable<readonly [name: string, value: string]>>;
  }>;
}

/** How long headers are kept. To ask the library for each request would take promises. */
const FRESH_MS = 60_000;
const FETCH_TIMEOUT_MS = 20_000;
const FROM = 'the credentials';

export class Tokens {
  /** The headers of the last fetch with `others`, as names and values in turn. */
  headers: readonly string[] = [];
  readonly #auth: Auth;
  readonly #url: string;
  readonly #others: Readonly<Record<string, string>>;
  #fetchedMs = -Infinity;
  #fetching: Promise<void> | undefined;

  /** `url` ends with a slash, as in signed tokens. A token's header replaces one of `others`. */
  constructor(auth: Auth, url: string, others: Readonly<Record<string, string>>) {
    this.#auth = auth;
    this.#url = url;
    this.#others = others;
  }

  /** Whether the headers may be used without a fetch. */
  isFresh(nowMs: number): boolean {
    return nowMs - this.#fetchedMs < FRESH_MS;
  }

  /** All callers share one fetch. Rejects with a StoreError. */
  fetch(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  /** Call this if the service refused the headers. */
  forget(): void {
    this.#fetchedMs = -Infinity;
  }

  async #fetch(): Promise<void> {
    const nowMs = performance.now();
    try {
      const client = await withDeadline(this.#auth.getClient(), FETCH_TIMEOUT_MS, FROM);
      const headers: unknown = await withDeadline(client.getRequestHeaders(this.#url), FETCH_TIMEOUT_MS, FROM);
      if (!isIterable(headers)) throw new TypeError('use google-auth-library 10 or later');
      this.headers = Object.entries({ ...this.#others, ...Object.fromEntries(headers) }).flat();
      this.#fetchedMs = nowMs;
    } catch (cause) {
      throw noCredentials(cause);
    }
  }
}

function isIterable(headers: unknown): headers is Iterable<readonly [string, string]> {
  return typeof headers === 'object' && headers !== null && Symbol.iterator in headers;
}

/** The error of requests for which the credentials gave no token. */
export function noCredentials(cause: unknown): StoreError {
  const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  const advice = 'no credentials for datastore: run gcloud auth application-default login, or give others as auth';
  const retryable = !/default credentials|invalid_grant|reauth/i.test(why!);
  return new StoreError('unavailable', `${advice}: ${why}`, { retryable, cause });
}
