// The OpenAPI document against both deployed packages: schemathesis draws requests from it, and
// judges each answer by it.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { packageAndUnpack } from '../../../../infra/package/package.ts';
import { KEYS } from '../../../functions/test-keys.ts';
import { fileFolder } from '../../../support/folder.ts';
import { startRecordHosts } from '../record-hosts.ts';

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
  const folder = await fileFolder();
  const { gcp, azure, close } = await startRecordHosts(await packageAndUnpack(folder), 'contract');
  return {
    /** The tool leaves its notes where it runs. */
    folder,
    gcp: { url: gcp.url, gate: 'none' },
    azure: { url: azure.url, gate: azure.hostKey },
    close,
  };
}
