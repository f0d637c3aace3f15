// What a request shows to be let in: a signature by the account's key, a shared access signature, or a token.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Tokens, type TokenSource } from './token.ts';

/** An account's name and key in base64, such as an `AzureNamedKeyCredential`. */
interface AccountKey {
  readonly name: string;
  readonly key: string;
}

/** A shared access signature as a query, such as an `AzureSASCredential`. */
interface AccessSignature {
  readonly signature: string;
}

/** A shared key, a SAS, or a token credential. Name, key and signature are read anew for each request: they may be changed in place. */
export type Credential = AccountKey | AccessSignature | TokenSource;

/** What goes with one request. */
export interface Proof {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Query parameters, without `?`; empty if there are none. */
  readonly query: string;
  /** Forgets what the service did not take, so that the next proof is another; undefined where there is no other. */
  readonly forget?: () => void;
}

/** The proof for a request to this path, which is encoded as it goes over the wire. Rejects with a StoreError if there is none. */
export type Authorize = (path: string) => Proof | Promise<Proof>;

const SECOND_MS = 1_000;
/** Proofs of one second that are remembered. */
const PROOFS_MAX = 256;

/** Without a credential requests go as they are: the endpoint holds a SAS. */
export function authorizeWith(credential: Credential | undefined): Authorize {
  if (credential === undefined) return () => ({ headers: [], query: '' });
  if ('getToken' in credential) return byToken(new Tokens(credential));
  return 'signature' in credential ? bySignature(credential) : byKey(credential);
}

/**
 * Shared Key Lite signs the date, the account and the path; of the query it signs `comp` alone, which no request here has.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 * Dates tell seconds, and what is signed is the same for all requests to a path in one: transactions, and the rows that are written most.
 */
function byKey(credential: AccountKey): Authorize {
  let key = '';
  let name = '';
  let secret: KeyObject;
  let second = NaN;
  let date = '';
  const proofs = new Map<string, Proof>();
  const begin = (): void => {
    if (key !== credential.key) secret = createSecretKey(Buffer.from(credential.key, 'base64'));
    ({ key, name } = credential);
    second = secondOf(Date.now());
    date = new Date(second * SECOND_MS).toUTCString();
    proofs.clear();
  };
  return (path) => {
    const isSame = key === credential.key && name === credential.name && second === secondOf(Date.now());
    if (!isSame || proofs.size >= PROOFS_MAX) begin();
    let proof = proofs.get(path);
    if (proof === undefined) {
      const signature = createHmac('sha256', secret).update(`${date}\n/${name}${path}`).digest('base64');
      proof = { headers: ['x-ms-date', date, 'Authorization', `SharedKeyLite ${name}:${signature}`], query: '' };
      proofs.set(path, proof);
    }
    return proof;
  };
}

function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS);
}

function bySignature(credential: AccessSignature): Authorize {
  // However it was written down: with `?` or without, encoded or not.
  return () => ({ headers: [], query: new URLSearchParams(credential.signature).toString() });
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
