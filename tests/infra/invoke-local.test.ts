// `serverless invoke local`: the packages, in both clouds' hosts, on emulators, for one request.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { invokeLocal } from '../../infra/plugin/invoke.ts';
import { settingsOf } from '../../infra/plugin/settings.ts';
import { run } from '../../infra/plugin/tools.ts';
import { FUNCTION_SETTINGS, PROVIDER_SETTINGS } from './stand-ins/settings.ts';

it('answers from both clouds’ functions, without a cloud', { timeout: 120_000 }, async () => {
  const outDir = await mkdtemp(path.join(tmpdir(), 'stowage-invoke-'));
  const said: string[] = [];
  try {
    const settings = settingsOf('stowage', PROVIDER_SETTINGS, FUNCTION_SETTINGS, outDir);
    await invokeLocal(
      { settings, run, log: (line) => void said.push(line) },
      { function: 'records', data: '{"method":"PUT","path":"/v1/tables/users","body":{"order":"key"}}' },
    );
  } finally {
    await rm(outDir, { recursive: true });
  }
  expect(said.join('\n').match(/HTTP 200\n\{"name":"users","order":"key"\}/g)).toHaveLength(2);
});
