// The emulators' package as somebody installs it: packed, beside the packed library, in an empty
// project whose tests run with node:test.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../../infra/package/bundle.ts';
import { fileFolder } from '../../support/folder.ts';

const SLOW_MS = 180_000;

const BOTH_CLOUDS = `
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { TableClient } = require('@azure/data-tables');
const { startEmulators } = require('@stowage/emulators');

let emulators;
before(async () => { emulators = await startEmulators(); });
after(() => emulators.close());

/** Azure's own client, which finds the emulator by the environment and does not try again. */
async function clientOf(table) {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const client = TableClient.fromConnectionString(emulators.environment.AZURE_STORAGE_CONNECTION_STRING, table, options);
  await client.createTable();
  return client;
}

test('a throttled write is refused, and does nothing', async () => {
  const client = await clientOf('throttled');
  const fault = emulators.tables.inject('throttle', { count: 1, kind: 'commit' });
  const entity = { partitionKey: 'p', rowKey: 'r' };
  await assert.rejects(client.createEntity(entity), { statusCode: 503 });
  assert.equal(fault.hits, 1);
  await client.createEntity(entity);
});

test('a write whose reply is lost is done', async () => {
  const client = await clientOf('lost');
  emulators.tables.inject('lose the reply', { count: 1, kind: 'commit' });
  await assert.rejects(client.createEntity({ partitionKey: 'p', rowKey: 'r' }));
  assert.equal((await client.getEntity('p', 'r')).rowKey, 'r');
});

test('a slow read is answered no earlier than said', async () => {
  const client = await clientOf('slow');
  await client.createEntity({ partitionKey: 'p', rowKey: 'r' });
  const fault = emulators.tables.inject('slow', { kind: 'read', delayMs: 200 });
  const beganMs = performance.now();
  await client.getEntity('p', 'r');
  assert.ok(performance.now() - beganMs >= 190);
  fault.remove();
});

test('a share of the requests is met, the same in each run', async () => {
  const client = await clientOf('share');
  const meets = async () => {
    const fault = emulators.tables.inject('throttle', { share: 0.5, kind: 'read' });
    const codes = [];
    for (let turn = 0; turn < 20; turn += 1) codes.push(await client.getEntity('p', 'r').catch((error) => error.statusCode));
    fault.remove();
    return codes;
  };
  const codes = await meets();
  assert.deepEqual(new Set(codes), new Set([404, 503]));
  assert.deepEqual(await meets(), codes);
});

test('options that make no sense are refused', () => {
  for (const options of [{ count: 0 }, { share: 0 }, { share: 2 }, { delayMs: -1 }, { count: NaN }])
    assert.throws(() => emulators.datastore.inject('slow', options), RangeError);
});
`;

const dir = await fileFolder();
const project = path.join(dir, 'project');

beforeAll(async () => {
  await mkdir(project);
  const workspaces = ['--workspace', 'shared', '--workspace', 'infra/emulators'];
  await run('npm', ['pack', ...workspaces, '--pack-destination', dir], ROOT);
  const tarballs = (await readdir(dir)).filter((name) => name.endsWith('.tgz')).map((name) => path.join(dir, name));
  await writeFile(path.join(project, 'package.json'), '{"name":"somebody","private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], project);
}, SLOW_MS);

test('the README’s tests pass beside the library, without azurite', { timeout: SLOW_MS }, async () => {
  const readme = await readFile(path.join(project, 'node_modules/@stowage/emulators/README.md'), 'utf8');
  const [, example] = /```js\n([^]*?)```/.exec(readme)!;
  await writeFile(path.join(project, 'readme.test.js'), example!);
  expect(await run(process.execPath, ['--test', '--test-reporter=tap', 'readme.test.js'], project)).toMatch(
    /^# pass 2$/m,
  );
});

test('CommonJS tests meet faults on Azure too, once azurite is there', { timeout: SLOW_MS }, async () => {
  await mkdir(path.join(project, 'node_modules/@azure'));
  for (const name of ['azurite', '@azure/data-tables'])
    await symlink(path.join(ROOT, 'node_modules', name), path.join(project, 'node_modules', name));
  await writeFile(path.join(project, 'azure.test.cjs'), BOTH_CLOUDS);
  expect(await run(process.execPath, ['--test', '--test-reporter=tap', 'azure.test.cjs'], project)).toMatch(
    /^# pass 5$/m,
  );
});

test('holds one file of code, its types and what npm asks for', async () => {
  const packed = path.join(project, 'node_modules/@stowage/emulators');
  expect((await readdir(packed, { recursive: true })).toSorted()).toEqual(
    ['LICENSE', 'README.md', 'dist', 'dist/index.cjs', 'dist/index.d.cts', 'package.json'].toSorted(),
  );
  expect(await readFile(path.join(packed, 'dist/index.d.cts'), 'utf8')).not.toMatch(/\b(import|require)\b/);
});

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  // A process of Vitest would have node:test tell its parent in place of its output.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    return (await promisify(execFile)(command, [...args], { cwd, timeout: SLOW_MS, env })).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(`${message}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}
