// App keys for tests.
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
