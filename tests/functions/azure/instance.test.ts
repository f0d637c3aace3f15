// Azure's side of the functions: what its environment may not say.
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

test('users’ tables are not kept where a comparison makes and drops its own', async () => {
  vi.stubEnv('STOWAGE_TABLES_ENDPOINT', 'http://127.0.0.1:1');
  vi.stubEnv('STOWAGE_TABLES_TABLE', 'StowageComparisonUsers');
  await expect(import('../../../functions/azure/instance.ts')).rejects.toThrow(
    "STOWAGE_TABLES_TABLE: stowagecomparison... is the comparison's",
  );
});
