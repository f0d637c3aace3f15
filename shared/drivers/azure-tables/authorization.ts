// Proofs that let a request in: the account key's signature, a shared access signature, or a token.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { StoreError } from '../../store/contract/errors.ts';
import { withDeadline } from '../common/driver-outcomes.ts';

/** An account's name and key in base64, such as an `AzureNamedKeyCredential`. */
interface AccountKey {
  readonly name: string;
  readonly key: string;
}

/** A shared access signature as a query, such as an `AzureSASCredential`. */
interface AccessSignature {
  readonly signature: string;
}

/** Read again for each request, because names, keys and signatures may be changed in place. */
export type Credential = AccountKey | AccessSignature | TokenSource;

export interface Proof {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Query parameters, without `?`; empty if there are none. */
  readonly query: string;
  /** Forgets this proof, which was refused. Undefined if there is no other to be had. */
  readonly forget?: () => void;
}

/** `path` is encoded as on the wire. Rejects with a StoreError if there is no proof. */
export type Authorize = (path: string) => Proof | Promise<Proof>;

/** Without a credential requests get no proof, because the endpoint has a SAS. */
export function authorizeWith(credential: Credential | undefined): Authorize {
  if (credential === undefined) return () => ({ headers: [], query: '' });
  if ('getToken' in credential) return byToken(new Tokens(credential));
  if ('key' in credential) return byKey(credential);
  return () => ({ headers: [], query: encodedSignature(credential.signature) });
}

/**
 * Signs date, account and path, as no request has the query parameter `comp`.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 */
function byKey(credential: AccountKey): Authorize {
  let key = '';
  let secret: KeyObject;
  return (path) => {
    const { name } = credential;
    if (key !== credential.key) secret = createSecretKey(Buffer.from((key = credential.key), 'base64'));
    const date = new Date().toUTCString();
    const signature = createHmac('sha256', secret).update(`${date}\n/${name}${path}`).digest('base64');
    return { headers: ['x-ms-date', date, 'Authorization', `SharedKeyLite ${name}:${signature}`], query: '' };
  };
}

/** Takes a signature with or without `?`, encoded or not. A `+` in it is base64, not a space. */
export function encodedSignature(signature: string): string {
  return new URLSearchParams(signature.replaceAll('+', '%2B')).toString();
}

function byToken(tokens: Tokens): Authorize {
  const proof = (token: string): Proof => ({
    headers: ['Authorization', `Bearer ${token}`],
    query: '',
    forget: () => tokens.drop(token),
  });
  return (_path) => {
    const token = tokens.get();
    return typeof token === 'string' ? proof(token) : token.then(proof);
  };
}

/** A token credential, such as those of `@azure/identity`. */
export interface TokenSource {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{
    readonly token: string;
    /** Milliseconds since 1970. */
    readonly expiresOnTimestamp: number;
    /** Milliseconds since 1970: when to ask for the next. */
    readonly refreshAfterTimestamp?: number | undefined;
  } | null>;
}

type AccessToken = NonNullable<Awaited<ReturnType<TokenSource['getToken']>>>;

/** https://learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory */
const SCOPE = 'https://storage.azure.com/.default';
/** A token this close to its end may have ended by the time it arrives. */
const TOO_LATE_MS = 1_000;
/** So long before a token ends, the next one is asked for. */
const EARLY_MS = 120_000;
/** The pause between two attempts to get the next token early. */
const PAUSE_MS = 3_000;
const TOKEN_TIMEOUT_MS = 30_000;

/** Renews a token before it ends, so that requests seldom wait for one. */
export class Tokens {
  readonly #source: TokenSource;
  #present: AccessToken | undefined;
  #asking: Promise<AccessToken> | undefined;
  #askedMs = -Infinity;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** The present token, or a promise of the next, which rejects with a StoreError. */
  get(): string | Promise<string> {
    const token = this.#present;
    const now = Date.now();
    if (token === undefined || token.expiresOnTimestamp - TOO_LATE_MS <= now) return this.#next();
    const earlyMs = token.refreshAfterTimestamp ?? token.expiresOnTimestamp - EARLY_MS;
    if (earlyMs <= now && this.#askedMs + PAUSE_MS <= now) this.#ask().catch(() => {});
    return token.token;
  }

  /** Forgets a token that the service refused, unless there is another by now. */
  drop(token: string): void {
    if (this.#present?.token === token) this.#present = undefined;
  }

  async #next(): Promise<string> {
    return (await this.#ask()).token;
  }

  /** Concurrent callers share one answer. */
  #ask(): Promise<AccessToken> {
    this.#askedMs = Date.now();
    this.#asking ??= this.#answer().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #answer(): Promise<AccessToken> {
    try {
      const abortSignal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
      const asking = this.#source.getToken(SCOPE, { abortSignal });
      const token = await withDeadline(asking, TOKEN_TIMEOUT_MS, 'the token credential');
      if (typeof token?.token !== 'string') throw new Error('it answered without one');
      this.#present = token;
      return token;
    } catch (error) {
      throw noToken(error);
    }
  }
}

/** Errors of @azure/identity if nobody has signed in, after which another try is useless. */
const NOT_SIGNED_IN = /^(CredentialUnavailable|AggregateAuthentication|AuthenticationRequired)Error$/;

/** The error of requests for which a credential gave no token. */
export function noToken(cause: unknown): StoreError {
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  const [why] = message.split('\n');
  const advice = 'the token credential gave no token: sign in with az login, or give another credential';
  return new StoreError('unavailable', `${advice}: ${why}`, { retryable: !NOT_SIGNED_IN.test(name), cause });
}
