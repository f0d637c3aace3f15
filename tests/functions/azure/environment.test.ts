// Azure's side of the functions: what is wrong with the environment is said when the module loads,
// before any request.
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

const KEY = 'wrong environment: STOWAGE_TABLES_KEY: expected an access key of the account, in base64';

test.each([
  ['STOWAGE_TABLES_KEY', 'secret!', KEY],
  ['STOWAGE_TABLES_KEY', 'AccountName=secret;AccountKey=a2V5', KEY],
  ['STOWAGE_TABLES_KEY', '@Microsoft.KeyVault(SecretUri=https://secret.vault)', KEY],
  // A comparison makes and drops tables of that name.
  ['STOWAGE_TABLES_TABLE', 'StowageComparisonUsers', "STOWAGE_TABLES_TABLE: stowagecomparison... is the comparison's"],
])('%s is refused, and its value not repeated: %s', async (name, value, message) => {
  vi.stubEnv('STOWAGE_AUTH', 'none');
  vi.stubEnv('STOWAGE_TABLES_ENDPOINT', 'https://account.table.core.windows.net');
  vi.stubEnv('STOWAGE_TABLES_ACCOUNT', 'account');
  vi.stubEnv('STOWAGE_TABLES_KEY', 'a2V5');
  vi.stubEnv(name, value);
  vi.resetModules();
  const loading = import('../../../functions/azure/instance.ts');
  await expect(loading).rejects.toThrow(message);
  await expect(loading).rejects.not.toThrow(value);
});
