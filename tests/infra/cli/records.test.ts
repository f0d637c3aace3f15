// Commands on records and tables, against the embedded emulator.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, inject, onTestFinished, test } from 'vitest';
import { explained } from '../../../infra/cli/explain.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { encode, openStore, type Store } from '../../../shared/store/index.ts';
import { datastoreAt } from '../../drivers/emulated.ts';
import { type Ended, HOSTILE, onDatastore, runCommand, STOWAGE, stowage } from './run-command.ts';

const env = onDatastore();

/** In a namespace of its own. */
function shell(namespace: string): (...args: string[]) => Promise<Ended> {
  return (...args) => stowage([...args, '--from', `gcp://commands?namespace=${namespace}`], { env });
}

/** The store that commands in this namespace work on. */
function storeOf(namespace: string): Store {
  const driver = datastoreAt('own', inject('embeddedEndpoint'), { projectId: 'commands', namespace });
  const store = openStore({ driver });
  onTestFinished(() => store.close());
  return store;
}

test('a record is put, read, listed and deleted', async () => {
  const run = shell('round-trip');
  const missing = await run('put', 'users', 'ada', '{"name":"Ada"}');
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('users')]);
  const put = await run('put', 'users', 'ada', '{"name":"Ada"}', '--create', 'key');
  expect([put.code, put.stderr]).toEqual([0, '']);
  const version = put.stdout.trim();
  expect((await run('put', 'users', 'ada', '1', '--if-absent')).code).toBe(1);
  expect((await run('get', 'users', 'ada')).stdout).toBe('{\n  "name": "Ada"\n}\n');
  const json = (await run('get', 'users', 'ada', '--json')).stdout;
  expect(JSON.parse(json)).toEqual({ key: 'ada', value: { name: 'Ada' }, version });
  await run('put', 'users', 'bob', '[1,2]', '--ttl-ms', '3600000');
  const page = await run('scan', 'users', '--limit', '1', '--reverse');
  expect(JSON.parse(page.stdout)).toMatchObject({ key: 'bob', value: [1, 2], expiresAtMs: expect.any(Number) });
  const cursor = page.stderr.trim().split(' ').at(-1)!;
  const last = await run('scan', 'users', '--reverse', '--keys', '--limit', '1', '--cursor', cursor);
  expect([last.stdout, last.stderr]).toEqual(['ada\n', '']);
  expect((await run('tables')).stdout).toMatch(/^users\tkey\t\d{4}-/);
  expect((await run('delete', 'users', 'ada', '--if-version', 'x')).code).toBe(1);
  expect((await run('delete', 'users', 'ada')).stdout).toBe('deleted\n');
  const absent = await run('get', 'users', 'ada');
  expect([absent.code, absent.stdout, absent.stderr]).toEqual([1, '', 'there is no record "ada" in users\n']);
});

test('records are counted and touched, and a table is dropped once --yes is given', async () => {
  const run = shell('verbs');
  for (const key of ['a/1', 'a/2', 'b/1']) await run('put', 'kept', key, '1', '--create', 'key');
  expect((await run('count', 'kept')).stdout).toBe('3\n');
  expect((await run('count', 'kept', '--prefix', 'a/')).stdout).toBe('2\n');
  const expiryOf = async (key: string): Promise<unknown> =>
    (JSON.parse((await run('get', 'kept', key, '--json')).stdout) as { expiresAtMs?: number }).expiresAtMs;
  expect(await run('touch', 'kept', 'a/1', '--ttl-ms', '3600000')).toMatchObject({ code: 0 });
  expect(await expiryOf('a/1')).toBeGreaterThan(Date.now());
  expect(await run('touch', 'kept', 'c', '--ttl-ms', '5')).toMatchObject({ code: 1 });
  expect(await run('touch', 'kept', 'a/1')).toMatchObject({ code: 2 });
  expect(await run('drop', 'kept')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
  expect((await run('count', 'kept')).stdout).toBe('3\n');
  expect(await run('drop', 'kept', '--yes')).toMatchObject({ code: 0, stdout: 'dropped\n' });
  expect(await run('drop', 'kept', '--yes')).toMatchObject({ code: 1 });
});

test('commands that name no store take that of STOWAGE_STORE, and say so without it', async () => {
  const store = { ...env, STOWAGE_STORE: 'gcp://commands?namespace=by-variable' };
  expect(await stowage(['put', 'users', 'ada', '1', '--create', 'hash'], { env: store })).toMatchObject({ code: 0 });
  expect(await stowage(['get', 'users', 'ada'], { env: store })).toMatchObject({ stdout: '1\n' });
  const elsewhere = ['get', 'users', 'ada', '--from', 'gcp://commands?namespace=another'];
  expect(await stowage(elsewhere, { env: store })).toMatchObject({ code: 1 });
  const without = await stowage(['get', 'users', 'ada'], { env: { ...env, STOWAGE_STORE: '' } });
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('STOWAGE_STORE') as string });
});

test('a record that cannot be decoded is named', async () => {
  const table = await storeOf('undecodable').table('users', { codec: 'encoded' });
  await table.put('ada', { codec: 'json', bytes: new Uint8Array(3) });
  const { code, stderr } = await shell('undecodable')('get', 'users', 'ada');
  expect([code, stderr]).toEqual([1, 'the record "ada" in users is no json: --json gives its bytes\n']);
});

test('bytes go in and out as they are', async () => {
  const from = 'gcp://commands?namespace=bytes';
  const given = Buffer.from([0, 255, 10, 13]);
  const options = { env: { ...process.env, ...env }, input: given };
  const put = [STOWAGE, 'put', 'files', 'a', '--codec', 'bytes', '--create', 'hash', '--from', from];
  execFileSync(process.execPath, put, options);
  expect(execFileSync(process.execPath, [STOWAGE, 'get', 'files', 'a', '--from', from], options)).toEqual(given);
});

test.each([
  ['VALUE is not UTF-8: --codec bytes', Buffer.from([0x22, 0xff, 0x22])],
  ['VALUE exceeds 4194304 bytes', Buffer.alloc(5_000_000, ' ')],
])('a put refuses its standard input: %s', async (message, input) => {
  const put = [STOWAGE, 'put', 'users', 'a', '--from', 'gcp://p'];
  const { status, stderr } = spawnSync(process.execPath, put, { input });
  expect([status, stderr.toString()]).toEqual([2, expect.stringContaining(message)]);
});

test.each([
  [['get', 'users'], 'it takes TABLE KEY'],
  [['get', 'users', 'caf\u{fffd}', '--from', 'gcp://p'], 'U+FFFD, which stands for bytes that are not UTF-8'],
  [['put', 'users', 'a', 'text', '--from', 'gcp://p'], 'text takes quotes'],
  [
    ['put', 'users', 'a', '{"a":[12345678901234567890]}', '--from', 'gcp://p'],
    'the number 12345678901234567890, which',
  ],
  [['put', 'users', 'a', '[{"a":1,"\\u0061":2}]', '--from', 'gcp://p'], 'a name that stands twice'],
  [['put', 'users', 'a', '['.repeat(200) + ']'.repeat(200), '--from', 'gcp://p'], 'nested deeper than 100 levels'],
  [['put', 'users', 'a', '-1'], "'-1': what begins with - goes behind --, as in stowage put [options] -- TABLE KEY"],
  [['get', 'users', 'a', '--to', 'gcp://p'], "Unknown option '--to': it takes --from\n"],
  [['put', 'users', 'a', '1'], '--from is missing'],
  [['inspect', 't', '--from', 'gcp://p', '--key', 'a', '--container', 'b'], 'not both'],
])('%j is refused before anything is asked', async (args, message) => {
  const { code, stderr } = await stowage(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('the process prints its version, and refuses a command that is none with those that there are', async () => {
  expect((await runCommand([STOWAGE, '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const { code, stderr } = await runCommand([STOWAGE, 'gett']);
  const message = 'there is no command gett; there are compare, cost, verify, stats, inspect, repair, vacuum, export';
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('keys and values that begin with - stand behind --', async () => {
  const at = 'gcp://commands?namespace=dashes';
  expect(await stowage(['put', '--create', 'key', '--from', at, '--', 'users', '-k', '-1'], { env })).toMatchObject({
    code: 0,
  });
  expect((await stowage(['get', '--from', at, '--', 'users', '-k'], { env })).stdout).toBe('-1\n');
});

/** Runs `stowage scan` in a shell, with its output going there. */
async function scanInto(output: string): Promise<string> {
  const run = shell('output');
  await run('put', 'users', 'ada', '1', '--create', 'key');
  const scan = `"${process.execPath}" "${STOWAGE}" scan users --from 'gcp://commands?namespace=output'`;
  // The code goes last to the error output, which is kept.
  return spawnSync('sh', ['-c', `(${scan}; echo "code $?" >&2) ${output}`], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  }).stderr;
}

test('a closed pipe ends a command quietly, as SIGPIPE would', async () => {
  expect(await scanInto('| true')).toBe('code 141\n');
});

test.runIf(existsSync('/dev/full'))('output that is lost is an error', async () => {
  expect(await scanInto('> /dev/full')).toMatch(/^the output cannot be written: ENOSPC.*\ncode 1\n$/);
});

test('hostile records are one line each, as keys and as JSON, and come back', async () => {
  const run = shell('hostile');
  const table = await storeOf('hostile').table('t', { codec: 'encoded' });
  await table.put(HOSTILE, encode('json', { [HOSTILE]: HOSTILE }));
  const keys = await run('scan', 't', '--keys');
  expect([JSON.parse(keys.stdout), keys.stdout.split('\n')]).toEqual([HOSTILE, [expect.any(String), '']]);
  const line = await run('scan', 't');
  expect(JSON.parse(line.stdout)).toEqual({ key: HOSTILE, codec: 'json', value: { [HOSTILE]: HOSTILE } });
  const value = await run('get', 't', HOSTILE);
  expect(JSON.parse(value.stdout)).toEqual({ [HOSTILE]: HOSTILE });
  const absent = await run('get', 't', `${HOSTILE}!`);
  for (const { stdout, stderr } of [keys, line, value, absent])
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
});

test('explain tells the requests that operations then take, and their bytes within a half', async () => {
  const state = memoryState();
  const options = { order: 'key', containerBytesMax: 65_536 } as const;
  const store = openStore({ driver: memoryDriver({ state }) });
  const filled = await store.table('t', options);
  await filled.putMany(
    Array.from({ length: 20_000 }, (_, i) => ({ key: `k${100_000 + i}`, value: `${i}`.repeat(30) })),
  );
  // A scan shows the branches what was split.
  for await (const _ of filled.keys());
  const key = 'k105000';
  const { rows } = await explained(store, 't', key);
  const { driver, counters } = measured(memoryDriver({ state }));
  const table = await openStore({ driver }).table('t', options);
  const taken = async (work: () => Promise<unknown>): Promise<{ reads: number; writes: number; bytes: number }> => {
    const before: DriverCounters = { ...counters };
    await work();
    return {
      reads: counters.entitiesAsked - before.entitiesAsked,
      writes: counters.patches - before.patches,
      bytes: counters.bytesRead - before.bytesRead + counters.bytesWritten - before.bytesWritten,
    };
  };
  const first = await taken(() => table.get(key));
  const again = await taken(() => table.get(key));
  const put = await taken(() => table.put(key, 'new'));
  const scan = await taken(async () => {
    for await (const _ of table.keys());
  });
  for (const [row, real] of [again, first, put, scan].entries()) {
    const { operation, reads, writes, bytes } = rows[row]!;
    expect({ operation, writes: real.writes }).toEqual({ operation, writes });
    // A scan meets leaves that the branches do not know yet.
    expect(Math.abs(real.reads - reads)).toBeLessThanOrEqual(reads > 2 ? 0.5 * reads : 0);
    expect(Math.abs(real.bytes - bytes)).toBeLessThan(0.5 * bytes);
  }
});

test('explain prints a table with prices', async () => {
  const run = shell('explain');
  expect((await run('put', 't', 'a', '1', '--create', 'key')).code).toBe(0);
  // A protocol has no case.
  const { stdout } = await stowage(['explain', 't', '--from', 'GCP://commands?namespace=explain'], { env });
  expect(stdout).toMatch(/^Leaves: 1\n {2}operation +reads +writes/);
  expect(stdout).toMatch(/put or delete, container in memory +0 +1 +0 +\d+ +0\.9\n/);
});

/** Makes a table of some dozen leaves, then deletes nine of ten records. */
async function emptied(name: string): Promise<(...args: string[]) => Promise<Ended>> {
  const table = await storeOf('vacuum').table<string>(name, { order: 'key', containerBytesMax: 16_384 });
  const keys = Array.from({ length: 300 }, (_, number) => `key ${String(number).padStart(4, '0')}`);
  await table.putMany(keys.map((key) => ({ key, value: key.repeat(100) })));
  await table.deleteMany(keys.filter((_, number) => number % 10 > 0));
  return (...args) => shell('vacuum')('vacuum', name, ...args);
}

test('a vacuum whose time is over prints the command that goes on, which then ends', async () => {
  const vacuum = await emptied('short');
  // The time is over before the containers were quiet for so long.
  const short = await vacuum('--quiet', '2', '--timeout', '2.1');
  expect(short.code).toBe(1);
  const [, cursor = ''] =
    /This goes on: stowage vacuum short --from '?gcp:\S+ --cursor (\S+)\n/.exec(short.stderr) ?? [];
  const again = await vacuum('--cursor', cursor, '--quiet', '0', '--json');
  expect(again.code).toBe(0);
  expect((JSON.parse(again.stdout) as { merged: number }).merged).toBeGreaterThan(0);
});

test.each([
  [['--quiet', '120', '--timeout', '60'], '--timeout must be longer than --quiet'],
  [['--cursor', 'none'], 'begin anew, without it'],
])('vacuum refuses the options %j', async (args, message) => {
  const { code, stderr } = await shell('vacuum')('vacuum', 'none', ...args);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});
