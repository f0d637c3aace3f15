import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { StowageLevel } from '../../shared/adapters/level.ts';
import { startStores } from './stores.ts';

const STORES = await startStores();

test('text of ASCII is a record’s key, any byte keeps its order, and the empty key is stored', async () => {
  const [, store] = STORES[0]!;
  const db = new StowageLevel<Buffer>(store, 'level-keys', { keyEncoding: 'buffer' });
  const keys = [Buffer.of(), Buffer.of(0), Buffer.of(0, 0), Buffer.from('user:1'), Buffer.of(0x80), Buffer.of(0xff)];
  await db.batch(keys.toReversed().map((key) => ({ type: 'put', key, value: 'v' })));
  expect(await db.keys().all()).toEqual(keys);
  expect(await db.keys({ reverse: true, gt: Buffer.of(0), lte: Buffer.of(0x80) }).all()).toEqual(
    keys.slice(2, 5).toReversed(),
  );
  expect(await (await db.table).has('user:1')).toBe(true);
});

test('the last operation of a batch on a key counts, and the table’s errors are thrown', async () => {
  const [, store] = STORES[0]!;
  const db = new StowageLevel(store, 'level-batch');
  await db.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'del', key: 'a' },
    { type: 'del', key: 'b' },
    { type: 'put', key: 'b', value: '2' },
  ]);
  expect(await db.iterator().all()).toEqual([['b', '2']]);
  await expect(db.put('x'.repeat(2_000), '1')).rejects.toMatchObject({ code: 'invalid' });
  await expect(db.batch([{ type: 'put', key: 'x'.repeat(2_000), value: '1' }])).rejects.toMatchObject({
    code: 'invalid',
  });
});

test.each([
  ['made without groups', 'level-checked', undefined],
  ['made with groups, of which it touches two', 'level-grouped', '/'],
])('a batch in a table that was %s is refused whole for an item that cannot be stored', async (_, name, groupBy) => {
  const [, store] = STORES[0]!;
  await store.table(name, { order: 'key', ...(groupBy === undefined ? {} : { groupBy }) });
  const db = new StowageLevel(store, name);
  await db.put('a/1', '1');
  const large = db.batch([
    { type: 'del', key: 'a/1' },
    { type: 'put', key: 'b/1', value: '1' },
    { type: 'put', key: 'b/2', value: 'x'.repeat(600_000) },
  ]);
  await expect(large).rejects.toMatchObject({ code: 'too_large', key: 'b/2' });
  const misnamed = db.batch([
    { type: 'put', key: 'a/2', value: '1' },
    { type: 'del', key: 'x'.repeat(2_000) },
  ]);
  await expect(misnamed).rejects.toMatchObject({ code: 'invalid' });
  expect(await db.iterator().all()).toEqual([['a/1', '1']]);
});

test('a batch within one group is atomic: one that outgrows its container changes nothing', async () => {
  const [, store] = STORES[0]!;
  await store.table('level-group', { order: 'key', groupBy: '/' });
  const db = new StowageLevel<string, Uint8Array>(store, 'level-group', { valueEncoding: 'view' });
  await db.put('a/1', Uint8Array.of(1));
  const large = ['a/2', 'a/3', 'a/4'].map((key) => ({ type: 'put' as const, key, value: randomBytes(400_000) }));
  await expect(db.batch([{ type: 'del', key: 'a/1' }, ...large])).rejects.toMatchObject({ code: 'too_large' });
  expect(await db.keys().all()).toEqual(['a/1']);
  await db.batch([{ type: 'del', key: 'a/1' }, large[0]!]);
  expect(await db.keys().all()).toEqual(['a/2']);
});

test('each call on a table of order hash tells that order, until the table can be opened', async () => {
  const [, store] = STORES[0]!;
  await store.table('level-hash');
  const db = new StowageLevel(store, 'level-hash');
  const told = { code: 'conflict', message: expect.stringContaining('order "hash"') as string };
  await expect(db.put('a', '1')).rejects.toMatchObject(told);
  await expect(db.get('a')).rejects.toMatchObject(told);
  await expect(db.iterator().all()).rejects.toMatchObject(told);
  await expect(db.open()).rejects.toMatchObject(told);
  await expect(new StowageLevel(store, 'level-hash').open()).rejects.toMatchObject({ cause: told });
  await store.drop('level-hash');
  await db.put('a', '1');
  expect(await db.get('a')).toBe('1');
});

test('the adapter refuses at once what is no store', () => {
  const table = STORES[0]![1].table('level-keys') as never;
  expect(() => new StowageLevel(table, 'level-keys')).toThrow('StowageLevel takes a store, such as openStore() makes');
});
