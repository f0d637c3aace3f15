// Headers that authorize requests, from Google's library, which fetches and renews tokens.
import { withDeadline } from '../../common/outcomes.ts';
import { CODE, StatusError } from './status.ts';

/** Source of credentials: a `GoogleAuth` of google-auth-library 10 or later. */
export interface Auth {
  getClient(): Promise<{
    /** Names and values, such as `Headers`. */
    getRequestHeaders(url: string): Promise<Iterable<readonly [name: string, value: string]>>;
  }>;
}

/** Asks the library again well before it renews, not for each request: that takes promises. */
const FRESH_MS = 60_000;
const FETCH_TIMEOUT_MS = 20_000;

export class Tokens {
  /** Headers of the last fetch and the others: each name once, names and values in turn. */
  headers: readonly string[] = [];
  readonly #auth: Auth;
  readonly #url: string;
  readonly #others: Readonly<Record<string, string>>;
  #fetchedMs = -Infinity;
  #fetching: Promise<void> | undefined;

  /** `url` ends with a slash: signed tokens name it. A token's header replaces one of `others`. */
  constructor(auth: Auth, url: string, others: Readonly<Record<string, string>>) {
    this.#auth = auth;
    this.#url = url;
    this.#others = others;
  }

  /** False if they have to be fetched first. */
  isFresh(nowMs: number): boolean {
    return nowMs - this.#fetchedMs < FRESH_MS;
  }

  /** One fetch at a time, for all who wait. Rejects with a StatusError. */
  fetch(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  /** The service did not accept them. */
  forget(): void {
    this.#fetchedMs = -Infinity;
  }

  async #fetch(): Promise<void> {
    const nowMs = performance.now();
    try {
      const client = await withDeadline(this.#auth.getClient(), FETCH_TIMEOUT_MS);
      const headers = await withDeadline(client.getRequestHeaders(this.#url), FETCH_TIMEOUT_MS);
      if (!(Symbol.iterator in headers)) throw new TypeError('use google-auth-library 10 or later');
      this.headers = Object.entries({ ...this.#others, ...Object.fromEntries(headers) }).flat();
      this.#fetchedMs = nowMs;
    } catch (cause) {
      throw new StatusError(CODE.UNAVAILABLE, `no credentials for ${this.#url}: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
}
