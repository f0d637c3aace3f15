// serverless.yml, as the Serverless Framework understands it, without network or account.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { FUNCTIONS } from '../../../infra/package/package.ts';
import { type FunctionSettings } from '../../../infra/plugin/context/deploy-settings.ts';

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

test('serverless.yml takes a stage’s own parameters', () => {
  expect(prod.functions).toMatchObject({ records: { instancesMax: { gcp: 12 } } });
  expect(prod.provider).toMatchObject({ gcp: { pointInTimeRecovery: true, backupDays: 14 } });
});

test('both stages together ask for no more processors than a new project has', () => {
  const asked = [dev, prod].flatMap(({ functions }) => Object.values(functions).map((one) => one.instancesMax.gcp));
  expect(asked.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(20);
});

test('serverless.yml declares the functions that this machine’s hosts run', () => {
  const declared = Object.entries(dev.functions).map(([name, { handler, timeoutSeconds }]) => ({
    name,
    handler,
    timeoutSeconds,
  }));
  expect(declared).toEqual(FUNCTIONS);
});
