// serverless.yml, as the Serverless Framework understands it, without network or account.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { FunctionSettings } from '../../../infra/plugin/context/settings.ts';

const CLI = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

type Declared = Omit<FunctionSettings, 'name'>;

async function printed(...args: string[]): Promise<string> {
  const command = [CLI, 'print', '--format', 'json', ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, timeout: 25_000 });
  return stdout;
}

it('shows the two functions of both clouds, with their own limits', async () => {
  const { provider, functions } = JSON.parse(await printed()) as Record<string, Record<string, unknown>>;
  expect(provider).toMatchObject({
    name: 'stowage',
    stage: 'dev',
    gcp: { region: 'us-central1' },
    azure: { region: 'eastus' },
  });
  expect(functions).toMatchObject({
    records: { timeoutSeconds: 60, concurrency: 32, instancesMax: { gcp: 4, azure: 40 } },
    compare: { timeoutSeconds: 230, concurrency: 1, instancesMax: { gcp: 1, azure: 40 } },
  });
});

it('takes a stage’s own parameters', async () => {
  const { functions } = JSON.parse(await printed('--stage', 'prod')) as Record<string, Record<string, unknown>>;
  expect(functions).toMatchObject({ records: { instancesMax: { gcp: 50 } } });
});

it.each(['gcp', 'azure'] as const)('declares the limits that infra/%s has by itself', async (cloud) => {
  const { functions } = JSON.parse(await printed()) as { functions: Record<string, Declared> };
  const text = await readFile(path.join(ROOT, 'infra', cloud, 'variables.tf'), 'utf8');
  for (const [name, { timeoutSeconds, concurrency, instancesMax, memoryMb }] of Object.entries(functions)) {
    const limits = `timeout_seconds = ${timeoutSeconds}, concurrency = ${concurrency}, instances_max = ${instancesMax[cloud]}, memory_mb = ${memoryMb}`;
    expect(text).toContain(`${name} = { package = "../../.serverless/${cloud}-${name}.zip", ${limits} }`);
  }
});
