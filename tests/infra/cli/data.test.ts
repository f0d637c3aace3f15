// Tables on the command line: exports, imports and copies give the same records back, also after an
// interruption and beside writers.
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { copyTable, type CopyState } from '../../../infra/cli/data/copy.ts';
import { exportTable, stateFile } from '../../../infra/cli/data/export.ts';
import { resumed } from '../../../infra/cli/data/resumed.ts';
import { encode, openStore, type Store } from '../../../shared/store/index.ts';
import { datastoreAt } from '../../drivers/emulated.ts';
import { testFolder } from '../../support/folder.ts';
import { filled, imported, memoryStore, NEVER, sumOf } from './memory-tables.ts';
import { onBothClouds, onDatastore, stowage } from './run-command.ts';

/** Exports the table `t`. */
function exported(store: Store, folder: string, ranges = 1, onProgress: () => void = () => {}) {
  return exportTable({ store, from: 'here', table: 't', folder, ranges, onProgress, signal: NEVER });
}

function stop(): never {
  throw new Error('stopped by the test');
}

test.each(['hash', 'key'] as const)('a table of order %s is copied whole though interrupted', async (order) => {
  const [from, to] = [memoryStore(), memoryStore()];
  await filled(from, order);
  const options = { from, to, table: 't', target: 'copy', ranges: 4 };
  let state: CopyState | undefined;
  const onState = async (now: CopyState): Promise<void> => {
    const isFirst = state === undefined;
    state = now;
    if (isFirst) stop();
  };
  await expect(copyTable({ ...options, state: undefined, onState, signal: NEVER })).rejects.toThrow('stopped by');
  expect(state!.records).toBeLessThan(3_000);
  await copyTable({ ...options, state, onState, signal: NEVER });
  expect(state!.ranges.every((range) => range === null)).toBe(true);
  expect(await sumOf(to, 'copy')).toBe(await sumOf(from));
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

test('an import takes the longest line of a record', async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const table = await from.table('t', { codec: 'encoded' });
  await table.put('\u0001'.repeat(1_000), encode('json', '\u0001'.repeat(85_000)));
  await table.put('\u0002'.repeat(1_000), encode('msgpack', '\u0001'.repeat(523_000)));
  const out = await testFolder();
  await exported(from, out);
  expect(await imported(to, 't', out)).toBe(2);
  expect(await sumOf(to)).toBe(await sumOf(from));
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
