// Tables on the command line: exports, imports and copies give the same records back, also after an
// interruption and beside writers.
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { storeAt } from '../../../infra/cli/data/address.ts';
import { checksumOf, copyTable, type CopyState, encodedTable } from '../../../infra/cli/data/copy.ts';
import { exportTable, stateFile } from '../../../infra/cli/data/export.ts';
import { importTable } from '../../../infra/cli/data/import.ts';
import { itemOf, lineOf } from '../../../infra/cli/data/record-line.ts';
import { resumed } from '../../../infra/cli/data/resumed.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type CodecName, encode, openStore, type Store } from '../../../shared/store/index.ts';
import type { AskTool } from '../../../infra/cli/external-tools.ts';
import { datastoreAt } from '../../drivers/emulated.ts';
import { testFolder } from '../../support/folder.ts';
import { onBothClouds, onDatastore, stowage } from './run-command.ts';

const NEVER = new AbortController().signal;

function memoryStore(): Store {
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  return store;
}

const VALUES: readonly (readonly [codec: Exclude<CodecName, 'encoded'>, value: unknown])[] = [
  ['msgpack', { name: 'Ada', visits: [1, -2, 0.5, null, true], '': {} }],
  ['msgpack', { when: new Date(1_234), map: new Map([[1, 'x']]), set: new Set([1]), big: 2n ** 70n, minus: -0 }],
  ['msgpack', [undefined, Number.NaN, new Uint8Array([1, 2])]],
  ['json', { text: 'é"\\', deep: [[[1]]] }],
  ['bytes', new Uint8Array([0, 255, 10])],
];

test.each(VALUES)('a record of %s is given back byte for byte by its line: %o', (codec, value) => {
  const stored = encode(codec, value);
  const given = lineOf({ key: 'k"\n', value: stored, version: 'v', expiresAtMs: 5 });
  expect(given).not.toContain('\n');
  expect(itemOf(given)).toEqual({ key: 'k"\n', value: { codec, bytes: Buffer.from(stored.bytes) }, expiresAtMs: 5 });
});

function line(value: unknown): string {
  return lineOf({ key: 'k', value: encode('msgpack', value), version: 'v', expiresAtMs: undefined });
}

test('a line shows the value as JSON where JSON gives it back the same', () => {
  expect(line({ name: 'Ada' })).toBe('{"key":"k","value":{"name":"Ada"}}');
  expect(line(new Date(0))).toMatch(/^\{"key":"k","data":"[^"]+"\}$/);
});

/** Some thousand records of all codecs in containers that split. */
async function filled(store: Store, order: 'hash' | 'key' = 'key', count = 3_000): Promise<void> {
  const table = await store.table('t', { order, codec: 'encoded', containerBytesMax: 16_384 });
  const items = Array.from({ length: count }, (_, number) => {
    const [codec, value] = VALUES[number % VALUES.length]!;
    return { key: `k${number}`, value: encode(codec, value), ...(number % 5 === 0 && { expiresAtMs: 8e12 + number }) };
  });
  await table.putMany(items);
}

/** Imports what lies at `source` as a table; gives the number of records. */
function imported(store: Store, table: string, source: string): Promise<number> {
  return importTable({
    store,
    table,
    order: undefined,
    source,
    format: 'ndjson',
    keyOf: undefined,
    onProgress: () => {},
    signal: NEVER,
  });
}

/** Exports the table `t`. */
function exported(store: Store, folder: string, ranges = 1, onProgress: () => void = () => {}) {
  return exportTable({ store, from: 'here', table: 't', folder, ranges, onProgress, signal: NEVER });
}

async function sumOf(store: Store, name = 't'): Promise<string> {
  const { sum, records } = await checksumOf(await encodedTable(store, name, { create: false }), 3, NEVER);
  return `${records} ${sum}`;
}

function stop(): never {
  throw new Error('stopped by the test');
}

/** Fails the first time it is called, as a full disk would. */
function failOnce(): () => Promise<void> {
  let hasFailed = false;
  return () => {
    if (hasFailed) return Promise.resolve();
    hasFailed = true;
    return Promise.reject(new Error('stopped by the test'));
  };
}

test.each(['hash', 'key'] as const)('a table of order %s is copied whole though interrupted', async (order) => {
  const [from, to] = [memoryStore(), memoryStore()];
  await filled(from, order);
  const options = { from, to, table: 't', target: 'copy', ranges: 4 };
  let state: CopyState | undefined;
  const save = failOnce();
  const onState = (now: CopyState): Promise<void> => {
    state = now;
    return save();
  };
  await expect(copyTable({ ...options, state: undefined, onState, signal: NEVER })).rejects.toThrow('stopped by');
  expect(state!.records).toBeLessThan(3_000);
  await copyTable({ ...options, state, onState, signal: NEVER });
  expect(state!.ranges.every((range) => range === null)).toBe(true);
  expect(await sumOf(to, 'copy')).toBe(await sumOf(from));
});

test('records that nobody changes arrive as they are while others are written and deleted', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await filled(from);
  const table = await from.table('t', { codec: 'encoded' });
  const copied = new AbortController();
  const writing = (async () => {
    for (let round = 0; !copied.signal.aborted; round += 1) {
      // The memory driver answers at once: others have their turn too.
      await nextTurn();
      await table.put(`new ${round}`, encode('json', round));
      await table.delete(`k${(round * 2) % 3_000}`);
      await table.put(`k${(round * 2) % 3_000}`, encode('json', 'again'));
    }
  })();
  const options = { from, to, table: 't', target: 't', ranges: 4, state: undefined, signal: NEVER };
  await copyTable({ ...options, onState: () => Promise.resolve() });
  copied.abort();
  await writing;
  const untouched = Array.from({ length: 1_500 }, (_, number) => `k${number * 2 + 1}`);
  const [here, there] = await Promise.all(
    [from, to].map(async (store) => (await encodedTable(store, 't', {})).getMany(untouched)),
  );
  const valuesOf = (outcomes: NonNullable<typeof here>): unknown[] =>
    outcomes.map((outcome) =>
      outcome.status === 'found' ? [outcome.key, outcome.value, outcome.expiresAtMs] : outcome,
    );
  expect(valuesOf(there!)).toEqual(valuesOf(here!));
});

test('an export that was interrupted goes on, and its import holds the same', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await filled(from);
  const out = path.join(await testFolder(), 'made', 'with', 'those-above');
  await expect(exported(from, out, 2, stop)).rejects.toThrow('stopped by');
  await expect(imported(to, 'u', out)).rejects.toThrow('not finished');
  // A line that was half written when the process died.
  await writeFile(path.join(out, 'records-0000.ndjson'), '{"key":"ha', { flag: 'a' });
  const { ranges } = await exported(from, out, 2);
  expect(ranges.reduce((sum, { records }) => sum + records, 0)).toBe(3_000);
  expect(await readdir(out)).toHaveLength(ranges.length + 1);
  expect(await imported(to, 'u', out)).toBe(3_000);
  expect(await sumOf(to, 'u')).toBe(await sumOf(from));
  expect((await to.tables()).map(({ order }) => order)).toEqual(['key']);
});

test('an export is refused in a folder that holds a finished one, or one of another store', async () => {
  const store = memoryStore();
  await filled(store);
  const folder = await testFolder();
  await expect(exported(store, folder, 2, stop)).rejects.toThrow('stopped by');
  const begun = { store, from: 'there', table: 't', folder, ranges: 1, onProgress: () => {}, signal: NEVER };
  await expect(exportTable(begun)).rejects.toThrow('an export of the table t of here: name another folder by --out');
  await exported(store, folder);
  await expect(exported(store, folder)).rejects.toThrow(
    'a finished export: name another folder by --out, or remove this one',
  );
});

/** A folder with an export that was stopped, and a file outside of it. */
async function stoppedExport(store: Store) {
  const folder = await testFolder();
  await filled(store);
  const out = path.join(folder, 'out');
  await expect(exported(store, out, 2, stop)).rejects.toThrow('stopped by');
  const precious = path.join(folder, 'precious.txt');
  await writeFile(precious, 'precious');
  const manifest = path.join(out, 'table.json');
  const text = await readFile(manifest, 'utf8');
  return { out, precious, manifest, text };
}

test.each(['../precious.txt', 'precious.txt', 'records-0001.ndjson'])(
  'a file %s that an export names is neither cut nor read',
  async (file) => {
    const store = memoryStore();
    const { out, precious, manifest, text } = await stoppedExport(store);
    const edited = JSON.parse(text) as { ranges: object[] };
    Object.assign(edited.ranges[0]!, { file });
    await writeFile(manifest, JSON.stringify(edited));
    await expect(exported(store, out, 2)).rejects.toThrow('table.json is no export of a table');
    await expect(imported(store, 'u', out)).rejects.toThrow('table.json is no export of a table');
    expect(await readFile(precious, 'utf8')).toBe('precious');
  },
);

test.each([
  ['symbolic', symlink],
  ['hard', link],
])('a %s link among the files of an export is not followed', async (_, plant) => {
  const store = memoryStore();
  const { out, precious } = await stoppedExport(store);
  const own = path.join(out, 'records-0000.ndjson');
  await rm(own, { force: true });
  await plant(precious, own);
  await expect(exported(store, out, 2)).rejects.toThrow(/ELOOP|records-0000.ndjson is not as the export left it/);
  expect(await readFile(precious, 'utf8')).toBe('precious');
});

test('an import reads no file through a link, and no export is begun beside other files', async () => {
  const store = memoryStore();
  await filled(store);
  const out = await testFolder();
  await exported(store, out);
  const own = path.join(out, 'records-0000.ndjson');
  await rename(own, path.join(out, 'elsewhere'));
  await symlink(path.join(out, 'elsewhere'), own);
  await expect(imported(store, 'u', out)).rejects.toThrow('ELOOP');
  await rm(path.join(out, 'table.json'));
  await expect(exported(store, out)).rejects.toThrow(`${out} is not empty: name another folder by --out`);
});

test('a state is written through no link', async () => {
  const folder = await testFolder();
  const [file, precious] = [path.join(folder, 'state.json'), path.join(folder, 'precious.txt')];
  await writeFile(precious, 'precious');
  for (const name of [file, `${file}.new`]) await symlink(precious, name);
  await stateFile(file)({ is: 'new' });
  expect([await readFile(precious, 'utf8'), JSON.parse(await readFile(file, 'utf8'))]).toEqual([
    'precious',
    { is: 'new' },
  ]);
});

test('an export into no folder is refused, also below /proc, where Node would try for ever', async () => {
  const store = memoryStore();
  await filled(store, 'key', 1);
  const file = path.join(await testFolder(), 'file');
  await writeFile(file, '');
  const refusals = [
    [file, 'EEXIST'],
    [path.join(file, 'below'), 'EEXIST'],
    ...(process.platform === 'linux' ? [['/proc/x/y', 'ENOENT']] : []),
  ] as const;
  for (const [folder, code] of refusals)
    await expect(exported(store, folder)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(`^--out takes a folder that can be written to: ${code}`) as string,
    });
});

test('characters at which other readers end a line come back, in keys and values', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const table = await from.table('t', { order: 'key', codec: 'encoded' });
  const text = '1\u20282\u20293\u00854\r5\n6';
  // Longer than one read of the file.
  await table.putMany([text, 'last'].map((key) => ({ key, value: encode('msgpack', text.repeat(10_000)) })));
  const out = await testFolder();
  await exported(from, out);
  expect(await imported(to, 'folder', out)).toBe(2);
  expect(await imported(to, 'file', path.join(out, 'records-0000.ndjson'))).toBe(2);
  expect([await sumOf(to, 'folder'), await sumOf(to, 'file')]).toEqual([await sumOf(from), await sumOf(from)]);
});

test('an import takes lines that end as on Windows, and skips blank ones and a byte order mark', async () => {
  const file = path.join(await testFolder(), 'records.ndjson');
  await writeFile(file, '\u{feff}{"key":"a","value":1}\r\n\r\n \t\n{"key":"b","value":2}');
  expect(await imported(memoryStore(), 't', file)).toBe(2);
});

test.each(['\u{fe}', '\u{e9}\u{ff}\u{feff}'])(
  'a line that is not UTF-8 ends an import: those above it are put, and counted',
  async (bad) => {
    const cwd = await testFolder();
    const to = `gcp://stowage-data-test?namespace=latin1-${bad.length}`;
    const lines = ['{"key":"x","value":1}', `{"key":"caf${bad}","value":1}`, '{"key":"y","value":1}'];
    await writeFile(path.join(cwd, 'in.ndjson'), lines.join('\n'), 'latin1');
    const options = { cwd, env: onDatastore() };
    expect(await stowage(['import', 'in.ndjson', '--to', to, '--table', 't'], options)).toEqual({
      code: 2,
      stdout: '',
      stderr: `1 records were put into t; import it again, it writes over what is there
line 2 of in.ndjson is not UTF-8: save it as UTF-8
All options: stowage import --help
`,
    });
    expect((await stowage(['scan', 't', '--keys', '--from', to], options)).stdout).toBe('x\n');
    await writeFile(path.join(cwd, 'in.ndjson'), lines[1]!, 'latin1');
    expect(await stowage(['import', 'in.ndjson', '--to', to, '--table', 'u'], options)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^line 1 of in\.ndjson is not UTF-8/) as string,
    });
    expect((await stowage(['scan', 'u', '--from', to], options)).stdout).toBe('');
  },
);

test('an import takes the longest line of a record, and reads no longer one', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const table = await from.table('t', { codec: 'encoded' });
  await table.put('\u0001'.repeat(1_000), encode('json', '\u0001'.repeat(85_000)));
  await table.put('\u0002'.repeat(1_000), encode('msgpack', '\u0001'.repeat(523_000)));
  const out = await testFolder();
  await exported(from, out);
  expect(await imported(to, 't', out)).toBe(2);
  expect(await sumOf(to)).toBe(await sumOf(from));
  const file = path.join(out, 'long.ndjson');
  await writeFile(file, `{"key":"a","value":1}\n{"key":"b","value":"${'x'.repeat(5_000_000)}"}\n`);
  await expect(imported(to, 't', file)).rejects.toThrow('line 2 of ' + file + ' exceeds 4194304 bytes');
});

test.each([
  ['{"key":"b"}', 'it takes one of value and data'],
  ['{"key":"b","value":1,"data":""}', 'it takes one of value and data'],
  ['{"key":5,"value":1}', ''],
  ['{"key":"b","value":1,"ttl":5}', ''],
  ['{"key":"b","codec":"json","data":"AAAA"}', 'the stored value cannot be decoded$'],
  ['{"key":"b","data":"2Q=="}', 'the stored value cannot be decoded$'],
  ['5', ''],
  ['no', ''],
  ['{"key":"b","value":{"n":9007199254740993}}', 'the number 9007199254740993, which would become 9007199254740992'],
  ['{"key":"b","value":[1e400]}', 'the number 1e400, which would become Infinity'],
  ['{"key":"b","value":{"n":1,"n":2}}', 'a name that stands twice'],
  ['{"key":"b","key":"c","data":"AQI=","codec":"bytes"}', 'a name that stands twice'],
])('an import refuses a line that is no record, or would lose something, by its number: %s', async (line, why) => {
  const source = path.join(await testFolder(), 'records.ndjson');
  await writeFile(source, `{"key":"a","value":1}\n\n${line}\n`);
  await expect(imported(memoryStore(), 't', source)).rejects.toThrow(
    new RegExp(`line 3 of .*records\\.ndjson is no record: .*${why}`),
  );
});

test('a number of two million digits is refused in time linear in its digits', () => {
  // A look for the last zeros that begins at each zero would take an hour.
  const number = `0.1${'0'.repeat(2_000_000)}1`;
  expect(() => itemOf(`{"key":"b","value":${number}}`)).toThrow(
    `it holds the number ${number.slice(0, 40)}..., which would become 0.1: give it in quotes, as text`,
  );
});

test('a table goes from one emulator to the other and back by the commands, and is verified there', async () => {
  const env = await onBothClouds();
  const [gcp, azure] = ['gcp://stowage-data-test', 'azure://devstoreaccount1/stowage'];
  const cwd = await testFolder();
  await writeFile(
    path.join(cwd, 'in.ndjson'),
    '{"key":"a","value":{"n":1}}\n{"key":"b","data":"AQI=","codec":"bytes"}\n',
  );
  const run = (...args: string[]) => stowage(args, { cwd, env });
  expect(await run('import', 'in.ndjson', '--to', gcp, '--table', 'users', '--order', 'key')).toMatchObject({
    code: 0,
  });
  expect(await run('copy', 'users', '--from', gcp, '--to', azure)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Both hold the same 2 records') as string,
  });
  expect(await run('verify', 'users', '--from', azure)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2 records in 1 pages of 1 containers[^]*Nothing is wrong\.$/m) as string,
  });
  expect(await run('export', 'users', '--from', azure)).toMatchObject({ code: 0 });
  const text = await readFile(path.join(cwd, 'users.export', 'records-0000.ndjson'), 'utf8');
  expect(text).toBe('{"key":"a","value":{"n":1}}\n{"key":"b","codec":"bytes","data":"AQI="}\n');
  // A look at a mistyped table does not make it: the second one says the same.
  for (const command of ['tables', 'tables'])
    expect(await run(command, '--from', 'azure://devstoreaccount1/stowagf')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'there is no Azure table stowagf: correct its name, or create it\n',
    });
  expect((await readdir(cwd)).toSorted()).toEqual(['in.ndjson', 'users.export']);
});

test.each(['key', 'hash'] as const)(
  'an export or a copy of a table that is now of order %s is begun anew',
  async (order) => {
    const env = onDatastore();
    const address = `gcp://stowage-data-test?namespace=anew-${order}`;
    const cwd = await testFolder();
    const cursor = await (async () => {
      await using store = openStore({
        driver: datastoreAt('own', inject('embeddedEndpoint'), {
          projectId: 'stowage-data-test',
          namespace: `anew-${order}`,
        }),
      });
      const [first] = await (await store.table('t', { order: 'key' })).partitions(1);
      await store.drop('t');
      await store.table('t', { order });
      return first!;
    })();
    const range = { file: 'records-0000.ndjson', cursor, bytes: 0, records: 0, sum: '0' };
    await mkdir(path.join(cwd, 't.export'));
    await writeFile(path.join(cwd, 't.export', range.file), 'precious');
    await writeFile(
      path.join(cwd, 't.export', 'table.json'),
      JSON.stringify({ stowageExport: 1, from: address, table: 't', order: 'key', ranges: [range] }),
    );
    const state = { of: [address, 't', address, 'u'], state: { ranges: [cursor], records: 0 } };
    await writeFile(path.join(cwd, 't.copy.json'), JSON.stringify(state));
    const message = 'the table t was dropped and created again meanwhile: to begin anew, remove';
    const options = { cwd, env };
    expect(await stowage(['export', 't', '--from', address], options)).toMatchObject({
      code: 1,
      stderr: `${message} t.export, or name another by --out\n`,
    });
    // The cursor is looked at before the file is cut.
    expect(await readFile(path.join(cwd, 't.export', range.file), 'utf8')).toBe('precious');
    expect(await stowage(['copy', 't', '--as', 'u', '--from', address, '--to', address], options)).toMatchObject({
      code: 1,
      stderr: `${message} t.copy.json, or name another by --state\n`,
    });
  },
);

function noTool(): never {
  throw new Error('no tool is asked');
}

function at(option: string, address: string, env: Record<string, string> = {}, ask: AskTool = noTool): Store {
  return storeAt(option, address, { ask, env, createTable: true });
}

test.each([
  'somewhere',
  'gcp://',
  'azure://a',
  'https://a/b',
  'azure://a/b/c',
  'gcp://p/d/e',
  'gcp://p/d#e',
  'gcp://me@p',
  'gcp://:secret@p',
  'gcp://p:80',
])('a command refuses the address %s', (address) => {
  expect(() => at('--from', address)).toThrow('--from takes gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE');
});

test.each([
  ['gcp://p?namspace=test', 'gcp:// takes the parameters namespace and kind, each once, not "namspace"'],
  ['gcp://p?kind=a&namespace=b&kind=c', 'each once, not "kind"'],
  ['azure://a/b?namespace=c', 'azure:// takes no parameters, not "namespace"'],
])('a command refuses the parameters of %s', (address, message) => {
  expect(() => at('--to', address)).toThrow(
    expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) as string }),
  );
});

test('an address may name a database, a namespace and a kind', async () => {
  for (const address of ['gcp://p', 'gcp://p/', 'gcp://p/d?namespace=a%20b&kind=K', 'azure://a/bcd'])
    await expect(at('--to', address).close()).resolves.toBeUndefined();
});

test('the host of an emulator may be written in each usual way', async () => {
  const { port } = new URL(inject('embeddedEndpoint'));
  for (const host of ['127.0.0.1', '0.0.0.0', 'datastore.localhost', 'http://localhost'])
    expect(
      await stowage(['tables', '--from', 'gcp://stowage-data-test?namespace=nothing'], {
        env: { DATASTORE_EMULATOR_HOST: `${host}:${port}` },
      }),
    ).toEqual({ code: 0, stdout: '', stderr: 'There are no tables.\n' });
});

test.each([
  ['gcp://p', { DATASTORE_EMULATOR_HOST: 'datastore:8081' }],
  ['gcp://p', { DATASTORE_EMULATOR_HOST: 'http://datastore:8081' }],
  ['azure://a/tables', { STOWAGE_TABLES_ENDPOINT: 'http://azurite:10002/a', STOWAGE_TABLES_KEY: 'AAAA' }],
  [
    'azure://a/tables',
    { AZURE_STORAGE_CONNECTION_STRING: 'AccountName=a;AccountKey=AAAA;TableEndpoint=http://azurite:10002/a' },
  ],
])('%s may be on an emulator of another host: %j', async (address, env) => {
  await expect(at('--from', address, env).close()).resolves.toBeUndefined();
});

test('empty variables count as unset, and a connection string is used for its own account only', async () => {
  const asked: string[] = [];
  const ask: AskTool = (tool) => {
    asked.push(tool);
    return Promise.reject(new Error(`${tool} was asked`));
  };
  const empty = { DATASTORE_EMULATOR_HOST: '', STOWAGE_TABLES_ENDPOINT: '', STOWAGE_TABLES_KEY: '' };
  const env = { ...empty, AZURE_STORAGE_CONNECTION_STRING: 'UseDevelopmentStorage=true' };
  for (const address of ['gcp://p', 'azure://a/tables']) {
    await using store = at('--from', address, env, ask);
    await expect(store.tables()).rejects.toMatchObject({ code: 'unavailable' });
  }
  expect([...new Set(asked)]).toEqual(['gcloud', 'az']);
  await expect(at('--from', 'azure://devstoreaccount1/tables', env).close()).resolves.toBeUndefined();
});

test('a wrong connection string is refused by the name of its variable', () => {
  const env = { AZURE_STORAGE_CONNECTION_STRING: 'AccountName=a;secret' };
  expect(() => at('--from', 'azure://a/tables', env)).toThrow(
    expect.objectContaining({
      name: 'UsageError',
      message: expect.stringMatching(/AZURE_STORAGE_CONNECTION_STRING: (?!.*secret)/) as string,
    }),
  );
});

test('a login is not sent to an http: address, and the refusal names the variable', () => {
  const env = { STOWAGE_TABLES_ENDPOINT: 'http://azurite:10002/a' };
  expect(() => at('--from', 'azure://a/tables', env)).toThrow(
    expect.objectContaining({
      name: 'UsageError',
      message: expect.stringContaining('set STOWAGE_TABLES_KEY') as string,
    }),
  );
});

test('the id of a project may begin with a domain', async () => {
  const from = ['--from', 'gcp://example.com:p?namespace=domain'];
  const env = onDatastore();
  expect(await stowage(['put', 't', 'a', '1', '--create', 'key', ...from], { env })).toMatchObject({ code: 0 });
  expect((await stowage(['get', 't', 'a', ...from], { env })).stdout).toBe('1\n');
  expect(await stowage(['explain', 't', ...from], { env })).toMatchObject({ code: 0 });
  expect((await stowage(['scan', 't', '--from', 'gcp://p?namespace=domain'], { env })).code).toBe(1);
});

test('groups go with the table, by a copy and by an export', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const table = await from.table('t', { order: 'key', groupBy: '/', codec: 'encoded' });
  await table.put('a/1', encode('json', 1));
  const options = { from, to, table: 't', ranges: 1, state: undefined, signal: NEVER, onState: async () => {} };
  await copyTable({ ...options, target: 'copied' });
  const folder = await testFolder();
  await exported(from, folder);
  await imported(to, 'imported', folder);
  expect(await to.tables()).toMatchObject([
    { name: 'copied', order: 'key', groupBy: '/' },
    { name: 'imported', order: 'key', groupBy: '/' },
  ]);
});

test('an export whose file was cut is not imported, not even in part', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await filled(from);
  const folder = await testFolder();
  await exported(from, folder);
  const file = path.join(folder, 'records-0000.ndjson');
  const lines = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, lines.slice(0, -2).join('\n'));
  await expect(imported(to, 't', folder)).rejects.toThrow('records-0000.ndjson does not hold what was exported');
  expect(await to.tables()).toEqual([]);
});

test('work that broke off says how far it came and which command goes on, which then counts on', async () => {
  const file = path.join(await testFolder(), 'state.json');
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => void vi.restoreAllMocks());
  const of = ['there', 'here'];
  const shape = z.strictObject({ records: z.int() });
  const options = { file, of, shape, done: 'were copied', typed: 'stowage copy t --from there --to here' };
  const broken = resumed(options, async (_, onState) => {
    await onState({ records: 5 });
    return stop();
  });
  await expect(broken).rejects.toThrow('stopped by the test');
  expect(said.mock.calls).toEqual([['5 records were copied. This goes on: stowage copy t --from there --to here']]);
  expect(await resumed(options, async (state) => state!.records + 2)).toBe(7);
});

test('a drop that is interrupted prints the command that goes on', async () => {
  const from = 'gcp://stowage-data-test?namespace=drop';
  const dropping = stowage(['drop', 't', '--yes', '--from', from], { env: onDatastore() });
  process.emit('SIGINT', 'SIGINT');
  expect(await dropping).toEqual({
    code: 130,
    stdout: '',
    stderr: `\nended by SIGINT\nThis goes on: stowage drop t --yes --from '${from}'\n`,
  });
});
