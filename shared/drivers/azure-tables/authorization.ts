// Proofs that let a request in: the account key's signature, a shared access signature, or a token.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Tokens, type TokenSource } from './credential-token.ts';

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
  return 'signature' in credential ? bySignature(credential) : byKey(credential);
}

/** The most proofs that are kept for a second. */
const PROOFS_MAX = 1_000;

/**
 * Signs date, account and path, as no request has the query parameter `comp`. A date has whole
 * seconds, so proofs can be kept for a second.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 */
function byKey(credential: AccountKey): Authorize {
  let name = '';
  let key = '';
  let secret: KeyObject;
  let second = NaN;
  let date = '';
  const proofs = new Map<string, Proof>();
  const begin = (nowSecond: number): void => {
    if (key !== credential.key) secret = createSecretKey(Buffer.from(credential.key, 'base64'));
    ({ name, key } = credential);
    second = nowSecond;
    date = new Date(second * 1_000).toUTCString();
    proofs.clear();
  };
  const prove = (path: string): Proof => {
    const signature = createHmac('sha256', secret).update(`${date}\n/${name}${path}`).digest('base64');
    return { headers: ['x-ms-date', date, 'Authorization', `SharedKeyLite ${name}:${signature}`], query: '' };
  };
  return (path) => {
    const nowSecond = Math.floor(Date.now() / 1_000);
    if (nowSecond !== second || name !== credential.name || key !== credential.key) begin(nowSecond);
    const known = proofs.get(path);
    if (known !== undefined) return known;
    const proof = prove(path);
    if (proofs.size < PROOFS_MAX) proofs.set(path, proof);
    return proof;
  };
}

function bySignature(credential: AccessSignature): Authorize {
  return () => ({ headers: [], query: encodedSignature(credential.signature) });
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
