// The library as its users meet it, on the memory driver.
import assert from 'node:assert';
import { expect, test, vi } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type ScanOptions, type Store, StoreError, type Table } from '../../shared/store/index.ts';
import { newStore } from '../support/opened.ts';
import { keysOf } from './rules/table-steps.ts';

function newTable<V = unknown>(options?: { readonly order: 'key' }): Promise<Table<V>> {
  return newStore().table<V>('things', options);
}

test('what a writer does to its bytes after the call, or a reader to its value, reaches nobody else', async () => {
  const table = await newStore().table('things', { codec: 'bytes' });
  const bytes = Uint8Array.of(1, 2, 3);
  const writing = table.put('k', bytes);
  bytes[0] = 9;
  await writing;
  const first = await table.get('k');
  expect(first!.value[0]).toBe(1);
  first!.value[0] = 9;
  expect((await table.get('k'))?.value[0]).toBe(1);
});

test('ifVersion and ifAbsent write only where they hold, and no version comes back', async () => {
  const table = await newTable<number>();
  const { version } = await table.put('k', 1, { ifAbsent: true });
  expect((await table.get('k'))?.version).toBe(version);
  const told = { code: 'conflict', key: 'k', table: 'things' };
  await expect(table.put('k', 2, { ifAbsent: true })).rejects.toMatchObject(told);
  await table.put('k', 2, { ifVersion: version });
  await expect(table.put('k', 3, { ifVersion: version })).rejects.toMatchObject({ code: 'conflict' });
  await expect(table.delete('k', { ifVersion: version })).rejects.toMatchObject({ code: 'conflict' });
  expect((await table.get('k'))?.value).toBe(2);
  await table.delete('k');
  await table.put('k', 1);
  await expect(table.put('k', 2, { ifVersion: version })).rejects.toMatchObject({ code: 'conflict' });
});

test('what an update function throws reaches its caller, and nothing is written', async () => {
  const table = await newTable<number>();
  await table.put('k', 1);
  const failure = new Error('mine');
  await expect(table.update('k', () => assert.fail(failure))).rejects.toBe(failure);
  expect((await table.get('k'))?.value).toBe(1);
});

test('a hundred concurrent updates of one record all count', async () => {
  const table = await newTable<number>();
  await Promise.all(Array.from({ length: 100 }, () => table.update('k', (current) => (current?.value ?? 0) + 1)));
  expect((await table.get('k'))?.value).toBe(100);
  expect(table.stats().commits).toBeLessThan(100);
});

test('a batch reports an outcome for each item, good and bad, in order', async () => {
  const table = await newTable();
  const outcomes = await table.putMany([
    { key: 'a', value: 1 },
    { key: '', value: 2 },
    { key: 'b', value: () => 3 },
    { key: 'a', value: 4, ifAbsent: true },
    { key: 'c', value: 5 },
  ]);
  const told = outcomes.map((outcome) => (outcome.status === 'failed' ? outcome.error.code : outcome.status));
  expect(told.join(' ')).toBe('written invalid invalid conflict written');
  const read = await table.getMany(['c', 'x', 'a', 'c', '\ud800']);
  expect(read.map((outcome) => outcome.status)).toEqual(['found', 'absent', 'found', 'found', 'failed']);
  const deleted = await table.deleteMany(['a', 'x', { key: 'c', ifVersion: 'other' }]);
  expect(deleted.map((outcome) => outcome.status)).toEqual(['deleted', 'absent', 'failed']);
  expect([await table.putMany([]), await table.getMany([]), await table.deleteMany([])]).toEqual([[], [], []]);
});

test('a caller who empties his array after the call harms neither his batch nor others', async () => {
  const table = await newTable<number>();
  const items = Array.from({ length: 50 }, (_, value) => ({ key: `k${value}`, value }));
  const batch = table.putMany(items);
  const other = table.put('other', 1);
  items.length = 0;
  expect((await batch).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'written'));
  await other;
  expect((await table.get('k49'))?.value).toBe(49);
});

test.each(['msgpack', 'json', 'encoded'] as const)('codec "%s" reads each record by its own', async (codec) => {
  const store = newStore();
  await (await store.table('things', { codec: 'json' })).put('k', { a: 1 });
  const read = (await (await store.table('things', { codec })).get('k'))?.value;
  const asStored = { codec: 'json', bytes: new Uint8Array(Buffer.from('{"a":1}')) };
  expect(read).toEqual(codec === 'encoded' ? asStored : { a: 1 });
});

const BAD_KEYS: [string, string][] = [
  ['an empty key', ''],
  ['a key over 1,024 bytes', 'k'.repeat(1_025)],
  ['a key over 1,024 bytes of UTF-8', '名'.repeat(342)],
  ['rule 24: a lone surrogate', '\ud800'],
];

test.each(BAD_KEYS)('%s is refused by every verb', async (_, key) => {
  const table = await newTable<number>();
  const calls = [
    () => table.get(key),
    () => table.put(key, 1),
    () => table.delete(key),
    () => table.update(key, () => 1),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'invalid' });
});

test('a key of exactly 1,024 bytes and a record of nearly 512 KiB are stored', async () => {
  const table = await newStore().table('things', { codec: 'bytes' });
  const key = 'k'.repeat(1_024);
  const value = new Uint8Array(512 * 1024 - 1_024).fill(7);
  await table.put(key, value);
  expect(Buffer.compare((await table.get(key))!.value, value)).toBe(0);
  await expect(table.put(key, new Uint8Array(512 * 1024))).rejects.toMatchObject({ code: 'too_large' });
});

const BAD_NAMES = ['', 'a b', 'ä', 'a!b', 'a/b', '.hidden', 'x'.repeat(64)];

test.each(BAD_NAMES)('the table name %j is refused', async (name) => {
  await expect(newStore().table(name)).rejects.toMatchObject({ code: 'invalid' });
});

test.each([
  ...[0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER].map((ttlMs) => ({ ttlMs })),
  ...[0, -5, Number.NaN].map((timeoutMs) => ({ timeoutMs })),
  ...[-1, 1.5, 9e15].map((expiresAtMs) => ({ expiresAtMs })),
  { expiresAtMs: 1, ttlMs: 1 },
  { ifVersion: 'v', ifAbsent: true },
])('the options %o are refused', async (options) => {
  const table = await newTable<number>();
  await expect(table.put('k', 1, options)).rejects.toMatchObject({ code: 'invalid' });
});

test('a range, a prefix or a foreign cursor on a hash table is refused with the reason', async () => {
  const table = await newTable<number>();
  for (const options of [{ prefix: 'a' }, { from: 'a' }, { to: 'a' }, { limit: 0 }, { cursor: 'nonsense' }]) {
    expect(() => table.scan(options)).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  }
});

test('a cursor takes the bounds of its scan, and no others', async () => {
  const table = await newTable<number>({ order: 'key' });
  const keys = ['a', 'b1', 'b2', 'b3', 'c'];
  await table.putMany(keys.map((key, value) => ({ key, value })));
  const cursorOf = async (options: ScanOptions): Promise<string> => {
    const scan = table.scan({ ...options, limit: 2 });
    await keysOf(scan);
    return scan.cursor!;
  };
  const byPrefix = await cursorOf({ prefix: 'b' });
  const byRange = await cursorOf({ from: 'b1', to: 'b9' });
  const unbounded = await cursorOf({});
  const inReverse = await cursorOf({ reverse: true, from: 'b1', to: 'b9' });
  expect(await keysOf(table.scan({ cursor: byPrefix, prefix: 'b' }))).toEqual(['b3']);
  expect(await keysOf(table.scan({ cursor: byRange, from: 'b1', to: 'b9' }))).toEqual(['b3']);
  expect(await keysOf(table.scan({ cursor: unbounded, prefix: '' }))).toEqual(['b2', 'b3', 'c']);
  expect(await keysOf(table.scan({ cursor: inReverse, from: 'b1', to: 'b9', reverse: true }))).toEqual(['b1']);
  for (const options of [
    { cursor: byPrefix, prefix: 'a' },
    { cursor: byPrefix, prefix: 'b1' },
    { cursor: byPrefix, from: 'b' },
    { cursor: byRange, from: 'b1' },
    { cursor: byRange, to: 'b8' },
    { cursor: byRange, from: 'b3', to: 'b9' },
    { cursor: unbounded, prefix: 'b' },
    { cursor: inReverse, reverse: false },
  ]) {
    expect(() => table.scan(options)).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  }
});

test('getMany gives 64 MiB of values in one call, and says of which keys it has no more', async () => {
  const table = await newStore().table('things', { codec: 'bytes' });
  await table.put('large', new Uint8Array(500_000));
  const asked = Array.from({ length: 140 }, () => 'large');
  const outcomes = await table.getMany(['none', ...asked]);
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome] : []));
  expect(failed).toHaveLength(asked.length - Math.floor((64 * 1024 * 1024) / 500_000));
  for (const { error } of failed) expect(error).toMatchObject({ code: 'too_large', key: 'large' });
  const rest = await table.getMany(failed.map(({ key }) => key));
  expect(rest.every(({ status }) => status === 'found')).toBe(true);
  const few = await table.getMany(asked.slice(0, 3), { bytesMax: 1_000_000 });
  expect(few.map(({ status }) => status)).toEqual(['found', 'found', 'failed']);
  await expect(table.getMany(asked, { bytesMax: Number.NaN })).rejects.toMatchObject({ code: 'invalid' });
});

test('stores on one driver see the same records, and the last one to close closes it', async () => {
  const driver = memoryDriver();
  const counted = { ...driver, close: vi.fn<() => Promise<void>>(() => driver.close()) };
  const [first, second] = [openStore({ driver: counted }), openStore({ driver: counted })];
  const table = await second.table<number>('things');
  await (await first.table<number>('things')).put('k', 1);
  await Promise.all([first.close(), first.close()]);
  await expect(first.tables()).rejects.toThrow('the store is closed');
  expect((await table.update('k', (current) => current!.value + 1))?.value).toBe(2);
  expect(counted.close).not.toHaveBeenCalled();
  await second.close();
  expect(counted.close).toHaveBeenCalledOnce();
  expect(() => openStore({ driver: counted })).toThrow('the driver was closed with its last store: make another');
});

test('a store that could not be opened keeps no driver open', async () => {
  const driver = memoryDriver();
  const counted = { ...driver, close: vi.fn<() => Promise<void>>(() => driver.close()) };
  expect(() => openStore({ driver: counted, timeoutMs: 0 })).toThrow('timeoutMs');
  await openStore({ driver: counted }).close();
  expect(counted.close).toHaveBeenCalledOnce();
});

test.each([0, -5, Number.NaN, Infinity, 2 ** 31])('openStore refuses timeoutMs %d', (timeoutMs) => {
  expect(() => openStore({ driver: memoryDriver(), timeoutMs })).toThrow('timeoutMs must be above 0 and below 2^31');
});

test.each([Infinity, Number.NaN, 20_000.5, 2 ** 53, 16_383, -1])(
  'openStore refuses cacheBytesMax %d',
  (cacheBytesMax) => {
    const told = 'cacheBytesMax must be a whole number, at least 16384';
    expect(() => openStore({ driver: memoryDriver(), cacheBytesMax })).toThrow(told);
  },
);

test('close waits for calls of several steps, between their steps too', async () => {
  const store = openStore({ driver: memoryDriver() });
  const table = await store.table<number>('things');
  const items = Array.from({ length: 2_000 }, (_, index) => ({ key: `k${index}`, value: index }));
  const writing = table.putMany(items);
  const reading = table.getMany(items.map(({ key }) => key));
  await store.close();
  expect((await writing).every(({ status }) => status === 'written')).toBe(true);
  expect((await reading).every(({ status }) => status !== 'failed')).toBe(true);
});

test('a closed store refuses further work; `await using` closes it, and with it its driver', async () => {
  const driver = memoryDriver();
  let seen: { store: Store; table: Table<number> };
  {
    await using store = openStore({ driver });
    seen = { store, table: await store.table<number>('things') };
    await seen.table.put('k', 1);
  }
  await seen.store.close();
  await expect(seen.store.table('t')).rejects.toBeInstanceOf(StoreError);
  await expect(seen.table.put('k', 1)).rejects.toMatchObject({ code: 'invalid' });
  await expect(seen.table.get('k')).rejects.toThrow('the store is closed');
  await expect(driver.list('', undefined, 1, { timeoutMs: 1_000 })).rejects.toThrow(
    'the driver is closed, open another',
  );
});
