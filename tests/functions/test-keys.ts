// App keys for tests, and ID tokens as Cloud Run hands them on: claims, and no signature.
import type { Keys } from './suite/http-client.ts';

export const KEYS: Keys = {
  read: 'reader-key-0000000000',
  write: 'writer-key-0000000000',
  admin: 'admin-key-00000000000',
  compare: 'compare-key-000000000',
};

/** The keys as an entry's environment. */
export const KEYS_ENV = {
  STOWAGE_READ_KEYS: KEYS.read,
  STOWAGE_WRITE_KEYS: KEYS.write,
  STOWAGE_ADMIN_KEYS: `another=00000000000000000000,${KEYS.admin}`,
  STOWAGE_COMPARE_KEYS: KEYS.compare,
};

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

export function tokenOf({ email, verified = true }: { readonly email: string; readonly verified?: boolean }): string {
  const claims = { iss: 'https://accounts.google.com', aud: 'https://vacuum.run.app', email, email_verified: verified };
  return `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}.SIGNATURE_REMOVED_BY_GOOGLE`;
}
