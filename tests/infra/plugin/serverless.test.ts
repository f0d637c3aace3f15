// serverless.yml, as the Serverless Framework understands it, without network or account.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { FUNCTIONS } from '../../../infra/package/package.ts';
import { RESOURCE_PROVIDERS } from '../../../infra/plugin/clouds/azure.ts';
import type { FunctionSettings } from '../../../infra/plugin/context/settings.ts';

const CLI = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Printed {
  readonly provider: Record<string, unknown>;
  readonly functions: Record<string, Omit<FunctionSettings, 'name'>>;
}

async function print(...args: string[]): Promise<Printed> {
  const command = [CLI, 'print', '--format', 'json', ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, timeout: 100_000 });
  return JSON.parse(stdout) as Printed;
}

const [dev, prod] = await Promise.all([print(), print('--stage', 'prod')]);

test('shows the two functions of both clouds, with their own limits', () => {
  expect(dev.provider).toMatchObject({
    name: 'stowage',
    stage: 'dev',
    gcp: { region: 'us-central1' },
    azure: { region: 'eastus' },
  });
  expect(dev.functions).toMatchObject({
    records: { timeoutSeconds: 60, concurrency: 32, instancesMax: { gcp: 4, azure: 40 } },
    compare: { timeoutSeconds: 230, concurrency: 1, instancesMax: { gcp: 1, azure: 40 } },
  });
});

test('takes a stage’s own parameters', () => {
  expect(prod.functions).toMatchObject({ records: { instancesMax: { gcp: 50 } } });
});

test('packages the same functions as this machine’s hosts run', () => {
  const declared = Object.entries(dev.functions).map(([name, { handler, timeoutSeconds }]) => ({
    name,
    handler,
    timeoutSeconds,
  }));
  expect(declared).toEqual(FUNCTIONS);
});

test.each(['gcp', 'azure'] as const)('declares the limits that infra/%s has by itself', async (cloud) => {
  const text = await readFile(path.join(ROOT, 'infra', cloud, 'variables.tf'), 'utf8');
  for (const [name, { timeoutSeconds, concurrency, instancesMax, memoryMb }] of Object.entries(dev.functions)) {
    const limits = `timeout_seconds = ${timeoutSeconds}, concurrency = ${concurrency}, instances_max = ${instancesMax[cloud]}, memory_mb = ${memoryMb}`;
    expect(text).toContain(`${name} = { package = "../../.serverless/${cloud}-${name}.zip", ${limits} }`);
  }
});

test('registers a subscription for what infra/azure registers it for by itself', async () => {
  const text = await readFile(path.join(ROOT, 'infra/azure/variables.tf'), 'utf8');
  const [, list] = /variable "resource_providers" [^]*?default = \[([^]*?)\]/.exec(text)!;
  expect(list!.match(/Microsoft\.\w+/g)).toEqual(RESOURCE_PROVIDERS);
});
