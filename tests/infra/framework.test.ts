// The plugin inside the Serverless Framework: commands, options, serverless.yml; the rest of what they do is tested without it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../../infra/plugin/package/package.ts';
import { startDeployed } from './stand-ins/deployed.ts';
import { copyProject } from './stand-ins/project.ts';
import type { Tools } from './stand-ins/tools.ts';
import { makeTools } from './stand-ins/tools.ts';

const SLOW_MS = 120_000;

const [project, deployed] = await Promise.all([copyProject(), startDeployed()]);
let tools: Tools;

beforeEach(async () => {
  tools = await makeTools(deployed.outputs, path.join(project.dir, '.serverless'));
  return () => tools.close();
});
afterAll(() => Promise.all([project.close(), deployed.close()]));

const serverless = (...args: string[]) => project.start(tools.bin, args).ended;

describe('serverless', () => {
  it('deploy packages, plans, applies, and tries out', { timeout: SLOW_MS }, async () => {
    const { code, output } = await serverless('deploy', '--wait', '0');
    expect(code === 0 ? '' : output).toBe('');
    expect(output).toMatch(/sha256[^]*Plan for gcp[^]*Plan for azure[^]*azure: healthy[^]*serverless compare/);
  });

  it('deploy --plan touches nothing', { timeout: SLOW_MS }, async () => {
    const { code, output } = await serverless('deploy', '--plan', '--param', 'cloud=azure');
    expect(code === 0 ? '' : output).toBe('');
    expect(output).toContain('nothing was touched');
    expect((await tools.calls()).filter((call) => /apply|gcloud/.test(call))).toEqual([]);
  });

  it('deploy, interrupted, lets Terraform end in order, and says how to go on', { timeout: SLOW_MS }, async () => {
    await tools.answer({ to: 'terraform azure apply', hangs: true });
    const running = project.start(tools.bin, ['deploy', '--wait', '0', '--param', 'cloud=azure']);
    await until(() => existsSync(path.join(tools.dir, 'hanging')));
    process.kill(running.pid, 'SIGINT');
    const { code, output } = await running.ended;
    expect(code).toBe(1);
    expect(output).toMatch(/was interrupted[^]*goes on from there/);
    expect((await tools.calls()).at(-1)).toBe('terraform ended in order');
  });

  it('remove asks, and where nobody can answer touches nothing', { timeout: SLOW_MS }, async () => {
    const { code, output } = await serverless('remove', '--delete-data', '--param', 'cloud=gcp');
    expect(code).toBe(1);
    expect(output).toContain('--yes agrees beforehand');
    expect((await tools.calls()).filter((call) => /apply|destroy/.test(call))).toEqual([]);
  });

  it('names the path of everything that is wrong, before any tool is called', { timeout: SLOW_MS }, async () => {
    const wrong = ['cloud=aws', 'gcpRegion=mars-north1', 'azureRegion=moon', 'gcpInstancesMax=many'];
    const { code, output } = await serverless('deploy', '--stage', 'a-b', ...wrong.flatMap((one) => ['--param', one]));
    expect(code).toBe(1);
    for (const where of [
      'provider.stage',
      'provider.cloud',
      'provider.gcp.region',
      'provider.azure.region',
      'functions.records.instancesMax.gcp',
    ])
      expect(output).toContain(`at '${where}'`);
    expect(await tools.calls()).toEqual([]);
  });

  it('packages the same functions as this machine’s hosts run', { timeout: SLOW_MS }, async () => {
    const { output } = await serverless('print', '--format', 'json');
    const { functions } = JSON.parse(output.slice(output.indexOf('{'))) as {
      functions: Record<string, (typeof FUNCTIONS)[number]>;
    };
    const declared = Object.entries(functions).map(([name, { handler, timeoutSeconds }]) => ({
      name,
      handler,
      timeoutSeconds,
    }));
    expect(declared).toEqual(FUNCTIONS);
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + SLOW_MS;
  while (!isTrue()) {
    if (performance.now() > deadlineMs) throw new Error('it did not come to that');
    await sleep(50);
  }
}
