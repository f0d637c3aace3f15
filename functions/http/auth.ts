// App keys in `Authorization: Bearer`, compared as SHA-256 digests in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type KeyText, keyText } from './key-text.ts';
import { Problem } from './problem.ts';

/** `write` may also read, `admin` also create and drop tables; `compare` opens no user's table. */
export const ROLES = ['read', 'write', 'admin', 'compare'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that a key of each role fulfils. */
const OPENS: Readonly<Record<Role, readonly Role[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
  compare: ['compare'],
};

/** The mode `none` is for one's own machine. `key-text.ts` describes the texts of keys. */
export type AuthConfig =
  { readonly mode: 'none' } | { readonly mode: 'keys'; readonly keys: Readonly<Record<Role, readonly string[]>> };

/** The key of a request, as logs have it. */
export interface Caller {
  readonly role: Role;
  /** Its name, or the first 8 hexadecimal digits of its SHA-256. */
  readonly key: string;
}

/** What the gate knows of one request, whose key it looks up once. */
export interface Visitor {
  /** Undefined unless it sent a configured key, which may have expired. */
  readonly caller: Caller | undefined;
  /** Whether its key may know of this table. */
  readonly opens: (table: string) => boolean;
  /** Throws the Problem `unauthenticated` or `forbidden` unless the key may do this. */
  readonly authorize: (needed: Role) => void;
  /** The same for a table. A request that names none needs a key for all tables. */
  readonly confine: (table: string | undefined) => void;
}

interface KnownKey extends Pick<KeyText, 'tables' | 'endsMs'> {
  readonly caller: Caller;
  readonly digest: Buffer;
}

export function createGate(config: AuthConfig, nowMs = Date.now): (request: Request) => Visitor {
  if (config.mode === 'none')
    return () => ({ caller: undefined, opens: () => true, authorize: () => {}, confine: () => {} });
  const known = ROLES.flatMap((role) => config.keys[role].flatMap((text) => knownKey(role, text)));
  return (request) => {
    const given = keyIn(request);
    const key = given === undefined ? undefined : matching(given, known);
    return {
      caller: key?.caller,
      opens: (table) => key !== undefined && opens(key, table),
      authorize: (needed) => check(key ?? refuse(given), needed, nowMs()),
      confine: (table) => {
        const { tables = '*' } = key ?? refuse(given);
        if (!opens({ tables }, table)) deny('forbidden', `this key opens ${tables} alone`, 'insufficient_scope');
      },
    };
  };
}

function check({ caller: { role }, endsMs = Infinity }: KnownKey, needed: Role, nowMs: number): void {
  if (nowMs >= endsMs) deny('unauthenticated', 'the app key has expired: ask for a new one', 'invalid_token');
  if (!OPENS[role].includes(needed))
    deny('forbidden', `this key has the role ${role}; the request needs ${needed}`, 'insufficient_scope');
}

function opens({ tables = '*' }: Pick<KnownKey, 'tables'>, table: string | undefined): boolean {
  if (tables === '*') return true;
  return tables.endsWith('*') ? table?.startsWith(tables.slice(0, -1)) === true : table === tables;
}

/** Empty for a text that cannot be read, which then lets nobody in. */
function knownKey(role: Role, text: string): KnownKey[] {
  const read = keyText(text);
  if (read === undefined) return [];
  const { key, name, ...limits } = read;
  const digest = digestOf(key);
  return [{ ...limits, caller: { role, key: name ?? digest.toString('hex', 0, 4) }, digest }];
}

function keyIn(request: Request): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
}

/** Compares with all keys, so that the time it takes tells nothing. */
function matching(given: string, known: readonly KnownKey[]): KnownKey | undefined {
  const digest = digestOf(given);
  let found: KnownKey | undefined;
  for (const key of known) if (timingSafeEqual(key.digest, digest)) found = key;
  return found;
}

function refuse(given: string | undefined): never {
  if (given === undefined) deny('unauthenticated', 'send an app key as `Authorization: Bearer <key>`');
  deny('unauthenticated', 'the app key is not one of the configured keys', 'invalid_token');
}

/** `error`: as RFC 6750 names it. */
function deny(code: 'unauthenticated' | 'forbidden', detail: string, error?: string): never {
  const challenge = `Bearer realm="stowage"${error === undefined ? '' : `, error="${error}"`}`;
  throw new Problem(code, detail, { headers: { 'WWW-Authenticate': challenge } });
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
