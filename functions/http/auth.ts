// App keys in `Authorization: Bearer`, each with one role. Without a configured key nobody gets in.
// All keys are compared, as SHA-256 digests in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

/**
 * `read` gets and scans, `write` also puts and deletes, `admin` also creates and drops tables.
 * `compare` only runs comparisons, so its key opens no data of users.
 */
export const ROLES = ['read', 'write', 'admin', 'compare'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that a key of each role fulfils. */
const OPENS: Readonly<Record<Role, readonly Role[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
  compare: ['compare'],
};

/**
 * `none` lets everybody do everything: for one's own machine. Up to two keys a role, so that a new
 * one can be handed out before the old one goes.
 */
export type AuthConfig =
  { readonly mode: 'none' } | { readonly mode: 'keys'; readonly keys: Readonly<Record<Role, readonly string[]>> };

/** Passes, or throws the Problem `unauthenticated` (401) or `forbidden` (403). */
export type Authorize = (request: Request, needed: Role) => void;

export function createAuthorize(config: AuthConfig): Authorize {
  if (config.mode === 'none') return () => {};
  const known = ROLES.flatMap((role) => config.keys[role].map((key) => ({ role, digest: digestOf(key) })));
  return (request, needed) => {
    const role = roleOf(request.headers.get('Authorization'), known);
    if (!OPENS[role].includes(needed)) {
      throw new Problem('forbidden', `this key has the role ${role}; the request needs ${needed}`, {
        headers: { 'WWW-Authenticate': 'Bearer realm="stowage", error="insufficient_scope"' },
      });
    }
  };
}

function roleOf(authorization: string | null, known: readonly { role: Role; digest: Buffer }[]): Role {
  const given = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) {
    throw new Problem('unauthenticated', 'send an app key as `Authorization: Bearer <key>`', {
      headers: { 'WWW-Authenticate': 'Bearer realm="stowage"' },
    });
  }
  const digest = digestOf(given);
  let found: Role | undefined;
  for (const key of known) {
    // No early exit, so that time says nothing.
    if (timingSafeEqual(key.digest, digest)) found = key.role;
  }
  if (found === undefined) {
    throw new Problem('unauthenticated', 'the app key is not one of the configured keys', {
      headers: { 'WWW-Authenticate': 'Bearer realm="stowage", error="invalid_token"' },
    });
  }
  return found;
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
