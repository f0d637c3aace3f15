// Who may do what: app keys in `Authorization: Bearer`, each with one role. No key configured means nobody gets in.
// Keys are compared as SHA-256 digests in constant time, and every configured key is looked at, whichever matched.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

/** Each role may do what the ones before it may: `read` gets and scans, `write` puts and deletes, `admin` creates and drops tables and runs cells. */
export const ROLES = ['read', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** `none` lets everybody do everything: for one's own machine. Up to two keys a role, so that a new one can be handed out before the old one goes. */
export type AuthConfig =
  { readonly mode: 'none' } | { readonly mode: 'keys'; readonly keys: Readonly<Record<Role, readonly string[]>> };

/** Passes, or throws the Problem `unauthenticated` (401) or `forbidden` (403). */
export type Authorize = (request: Request, needed: Role) => void;

export function createAuthorize(config: AuthConfig): Authorize {
  if (config.mode === 'none') return () => {};
  const known = ROLES.flatMap((role) => config.keys[role].map((key) => ({ role, digest: digestOf(key) })));
  return (request, needed) => {
    const role = roleOf(request.headers.get('Authorization'), known);
    if (ROLES.indexOf(role) < ROLES.indexOf(needed)) {
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
  let best: Role | undefined;
  for (const key of known) {
    // Roles come in rising order, so the last match is the highest; no early exit, so that time says nothing.
    if (timingSafeEqual(key.digest, digest)) best = key.role;
  }
  if (best === undefined) {
    throw new Problem('unauthenticated', 'the app key is not one of the configured keys', {
      headers: { 'WWW-Authenticate': 'Bearer realm="stowage", error="invalid_token"' },
    });
  }
  return best;
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
