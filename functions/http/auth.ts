// App keys in `Authorization: Bearer`, compared as SHA-256 digests in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

/** `write` also reads, `admin` also creates and drops tables, `compare` opens no data of users. */
export const ROLES = ['read', 'write', 'admin', 'compare'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that a key of each role fulfils. */
const OPENS: Readonly<Record<Role, readonly Role[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
  compare: ['compare'],
};

/** `none` is for one's own machine. Two keys of a role overlap while one replaces the other. */
export type AuthConfig =
  { readonly mode: 'none' } | { readonly mode: 'keys'; readonly keys: Readonly<Record<Role, readonly string[]>> };

/** The key of a request, as logs have it. */
export interface Caller {
  readonly role: Role;
  /** Its name, or the first 8 hexadecimal digits of its SHA-256. */
  readonly key: string;
}

/** One request at the gate: its key is looked up once. */
export interface Visitor {
  /** Undefined without a valid key. */
  readonly caller: Caller | undefined;
  /** Passes, or throws the Problem `unauthenticated` (401) or `forbidden` (403). */
  readonly authorize: (needed: Role) => void;
}

interface KnownKey extends Caller {
  readonly digest: Buffer;
}

export function createGate(config: AuthConfig): (request: Request) => Visitor {
  if (config.mode === 'none') return () => ({ caller: undefined, authorize: () => {} });
  const known = ROLES.flatMap((role) => config.keys[role].map((text) => knownKey(role, text)));
  return (request) => {
    const key = keyIn(request);
    const caller = key === undefined ? undefined : matching(key, known);
    return { caller, authorize: (needed) => check(caller ?? refuse(key), needed) };
  };
}

function check({ role }: Caller, needed: Role): void {
  if (OPENS[role].includes(needed)) return;
  throw new Problem('forbidden', `this key has the role ${role}; the request needs ${needed}`, {
    headers: { 'WWW-Authenticate': 'Bearer realm="stowage", error="insufficient_scope"' },
  });
}

/** The parts of a configured text. Fewer than 16 characters behind a sign are of the key itself. */
export function namedKey(text: string): { readonly name: string | undefined; readonly key: string } {
  const [, name, key = ''] = /^(?:([a-z0-9-]{1,32})=(?=.{16}))?(.+)$/s.exec(text) ?? [];
  return { name, key };
}

function knownKey(role: Role, text: string): KnownKey {
  const { name, key } = namedKey(text);
  const digest = digestOf(key);
  return { role, key: name ?? digest.toString('hex', 0, 4), digest };
}

function keyIn(request: Request): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
}

/** No early exit, so that time says nothing. */
function matching(given: string, known: readonly KnownKey[]): Caller | undefined {
  const digest = digestOf(given);
  let found: KnownKey | undefined;
  for (const key of known) if (timingSafeEqual(key.digest, digest)) found = key;
  return found && { role: found.role, key: found.key };
}

function refuse(key: string | undefined): never {
  if (key === undefined) {
    throw new Problem('unauthenticated', 'send an app key as `Authorization: Bearer <key>`', {
      headers: { 'WWW-Authenticate': 'Bearer realm="stowage"' },
    });
  }
  throw new Problem('unauthenticated', 'the app key is not one of the configured keys', {
    headers: { 'WWW-Authenticate': 'Bearer realm="stowage", error="invalid_token"' },
  });
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
