// The plugin inside the Serverless Framework: commands, options, serverless.yml; the rest of what
// they do is tested without it.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startDeployed } from './stand-ins/deployed.ts';
import { startProject } from './stand-ins/project.ts';
import { makeTools, type Tools } from './stand-ins/stand-in-tools.ts';

const STACK = /^ +at .*:\d+:\d+/m;

const [project, deployed] = await Promise.all([startProject(() => tools), startDeployed()]);
const yml = path.join(project.dir, 'serverless.yml');
let tools: Tools;

beforeEach(() => {
  tools = makeTools(deployed.outputs, deployed.secrets);
});
afterAll(() => Promise.all([project.close(), deployed.close()]));

const serverless = (...args: string[]) => project.start(args).ended;

describe('serverless', { timeout: 300_000 }, () => {
  test('package makes a zip of each function; deploy --package takes them, and with --plan touches nothing', async () => {
    const { code, output } = await serverless('package', '--package', 'elsewhere');
    expect(code === 0 ? '' : output).toBe('');
    expect(output.match(/^(gcp|azure) +(records|compare|vacuum) +\d+ KiB {2}sha256 [0-9a-f]{12}$/gm)).toHaveLength(6);
    const folder = path.join(project.dir, 'elsewhere');
    const zips = (await readdir(folder)).filter((name) => name.endsWith('.zip'));
    const names = ['compare', 'records', 'vacuum'];
    expect(zips).toEqual(['azure', 'gcp'].flatMap((cloud) => names.map((name) => `${cloud}-${name}.zip`)));
    expect(tools.calls).toEqual([]);

    const timesOf = () => Promise.all(zips.map(async (name) => (await stat(path.join(folder, name))).mtimeMs));
    const made = await timesOf();
    const deploy = async (...args: string[]) => {
      const ended = await serverless('deploy', '--package', 'elsewhere', '--param', 'cloud=azure', ...args);
      expect(ended.code === 0 ? '' : ended.output).toBe('');
      expect(ended.output).not.toContain('sha256');
      expect(await timesOf()).toEqual(made);
      return ended;
    };
    expect((await deploy('--plan')).output).toContain('nothing was touched');
    expect(tools.taken().filter((call) => /apply|gcloud/.test(call))).toEqual([]);
    expect((await deploy()).output).toMatch(/plan azure[^]*azure: healthy[^]*serverless compare/);
    const uploads = tools.calls.filter((call) => call.includes(path.join(folder, 'azure-records.zip')));
    expect(uploads).not.toEqual([]);
    expect((await serverless('keys', '--add', '--param', 'cloud=azure')).output).toContain('"outcome":"done"');
    expect(deployed.secrets.azure.read.get('admin')).toMatch(/^[\w-]{32},first-azure-key-of-admin$/);
  });

  test('deploy packages by itself; interrupted, it lets Terraform end in order, and says how to go on', async () => {
    tools.answer({ to: 'terraform azure apply', hangs: true });
    const running = project.start(['deploy', '--param', 'cloud=azure']);
    await expect.poll(() => tools.calls.at(-1), { timeout: 240_000 }).toMatch(/^terraform azure apply/);
    process.kill(running.pid, 'SIGTERM');
    const { code, output } = await running.ended;
    expect(code).toBe(130);
    expect(output).toMatch(/sha256[^]*was interrupted[^]*goes on from there/);
    expect(output).not.toMatch(STACK);
    expect(tools.calls.at(-1)).toBe('terraform ended in order');
  });

  test('names the path of everything that is wrong, before any tool is called', async () => {
    const wrong = [
      'cloud=aws',
      'gcpRegion=mars',
      'azureRegion=Moon',
      'gcpInstancesMax=many',
      'state=here',
      'vacuum=often',
    ];
    const { code, output } = await serverless('deploy', '--stage', 'a-b', ...wrong.flatMap((one) => ['--param', one]));
    expect(code).toBe(1);
    for (const where of [
      'provider.stage',
      'provider.cloud',
      'provider.state',
      'provider.gcp.region',
      'provider.azure.region',
      'functions.records.instancesMax.gcp',
      'functions.vacuum.events.0.schedule',
    ])
      expect(output).toContain(`at '${where}'`);
    expect(tools.calls).toEqual([]);
  });

  test.each<readonly [string, (yml: string) => string, readonly string[]]>([
    [
      'unknown keys, wrong types, and a size that no platform has',
      (yml) =>
        yml
          .replace('peers:', 'friends: []\n  peers:')
          .replace('memoryMb: 2048', 'memory: 2048')
          .replace('memoryMb: 2048', 'memoryMb: 1024')
          .replace('timeoutMs: 25000', 'timeoutMs: soon')
          .replace('replication: LRS', 'replication: RAID'),
      [
        "unrecognized property 'friends'",
        "unrecognized property 'memory'",
        "required property 'memoryMb'",
        "memoryMb': must be equal to one of the allowed values",
        "at 'provider.store.timeoutMs'",
        "at 'provider.azure.replication'",
      ],
    ],
    [
      'a handler without its file',
      (yml) => yml.replace('/records.ts', '/recordz.ts'),
      ['functions.records.handler: there is no file functions/gcp/recordz.ts\n'],
    ],
  ])('says what is wrong where serverless.yml has %s', async (_, change, parts) => {
    await writeFile(path.join(project.dir, 'wrong.yml'), change(await readFile(yml, 'utf8')));
    const { code, output } = await serverless('deploy', '--config', 'wrong.yml');
    expect(code).toBe(1);
    for (const part of parts) expect(output).toContain(part);
    expect(output).not.toMatch(STACK);
    expect(tools.calls).toEqual([]);
  });

  test('refuses a parameter that nobody reads', async () => {
    const { code, output } = await serverless('deploy', '--param', 'clod=gcp');
    expect(code).toBe(1);
    expect(output).toContain('--param clod=gcp: there is no such parameter; there are cloud, gcpRegion, ');
    expect(tools.calls).toEqual([]);
  });
});
