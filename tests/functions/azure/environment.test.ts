// The environment of Azure's functions: what is wrong with it is said when the module loads, before
// any request.
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

test.each(['secret!', 'AccountName=secret;AccountKey=a2V5', '@Microsoft.KeyVault(SecretUri=https://secret.vault)'])(
  'an account key that is no base64 is refused, and not repeated: %s',
  async (key) => {
    vi.stubEnv('STOWAGE_AUTH', 'none');
    vi.stubEnv('STOWAGE_TABLES_ENDPOINT', 'https://account.table.core.windows.net');
    vi.stubEnv('STOWAGE_TABLES_ACCOUNT', 'account');
    vi.stubEnv('STOWAGE_TABLES_KEY', key);
    vi.resetModules();
    await expect(import('../../../functions/azure/instance.ts')).rejects.toThrow(
      /^wrong environment: STOWAGE_TABLES_KEY: expected an access key of the account, in base64$/,
    );
  },
);
