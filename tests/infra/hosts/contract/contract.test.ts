// The OpenAPI document against both deployed packages: schemathesis draws requests from it, and
// judges each answer by it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../../infra/emulators/azurite.ts';
import { startAzureHost } from '../../../../infra/hosts/azure.ts';
import { startGcpHost } from '../../../../infra/hosts/gcp.ts';
import { folderOf, packageAndUnpack } from '../../../../infra/package/package.ts';
import { KEYS, KEYS_ENV } from '../../../functions/keys.ts';

const python = process.env['STOWAGE_PYTHON'] ?? '';
const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const TIMEOUT_MS = 300_000;

test.skipIf(process.env['CI'] === undefined)('in continuous integration there is a Python with schemathesis', () => {
  expect(python).not.toBe('');
});

describe.skipIf(python === '')('the document', async () => {
  const hosts = python === '' ? undefined : await startHosts();
  afterAll(() => hosts?.close());

  test.each(['gcp', 'azure'] as const)(
    'holds what it says of the function on %s',
    async (cloud) => {
      const { url, gate } = hosts![cloud];
      const headers = { Authorization: `Bearer ${KEYS.admin}`, 'x-functions-key': gate };
      const table = {
        method: 'PUT',
        body: '{"order":"key"}',
        headers: { ...headers, 'Content-Type': 'application/json' },
      };
      expect((await fetch(`${url}/v1/tables/contract`, table)).status).toBe(201);
      const args = ['--config-file', CONFIG, 'run', `${url}/v1/openapi.json`, '--max-examples', '20', '--no-color'];
      const env = { ...process.env, STOWAGE_CONTRACT_KEY: KEYS.admin, STOWAGE_CONTRACT_GATE: gate };
      const tool = path.join(path.dirname(python), 'schemathesis');
      const { stdout } = await promisify(execFile)(tool, args, { env, cwd: hosts!.folder, timeout: TIMEOUT_MS }).catch(
        (failed: { stdout: string }) => failed,
      );
      expect(stdout).toMatch(/(\d{3,}) generated, \1 passed/);
    },
    TIMEOUT_MS,
  );
});

async function startHosts() {
  const outDir = await mkdtemp(path.join(tmpdir(), 'stowage-contract-'));
  const packages = await packageAndUnpack(outDir);
  const azurite = await startAzurite({ inProcess: true });
  const azure = await startAzureHost({
    bundleDir: folderOf(packages, 'azure', 'records'),
    env: {
      ...KEYS_ENV,
      STOWAGE_TABLES_ENDPOINT: azurite.endpoint,
      STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
      STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    },
  });
  const gcp = await startGcpHost({
    bundleDir: folderOf(packages, 'gcp', 'records'),
    target: 'records',
    env: {
      ...KEYS_ENV,
      GOOGLE_CLOUD_PROJECT: 'stowage-contract',
      DATASTORE_EMULATOR_HOST: inject('embeddedEndpoint').replace('http://', ''),
    },
  });
  return {
    /** The tool leaves its notes where it runs. */
    folder: outDir,
    gcp: { url: gcp.url, gate: 'none' },
    azure: { url: azure.url, gate: azure.hostKey },
    async close() {
      await Promise.all([azure.close(), gcp.close()]);
      await azurite.close();
      await rm(outDir, { recursive: true });
    },
  };
}
