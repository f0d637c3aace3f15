// The adapters in memory. The published suites of Keyv and abstract-level run on each provider.
// unstorage publishes none: its driver is held to the documented interface here.
import { randomBytes } from 'node:crypto';
import { Keyv } from 'keyv';
import { createStorage } from 'unstorage';
import { describe, expect, test } from 'vitest';
import { KeyvStowage } from '../../shared/adapters/keyv.ts';
import { StowageLevel } from '../../shared/adapters/level.ts';
import { stowageDriver } from '../../shared/adapters/unstorage.ts';
import type { Order, Table } from '../../shared/store/index.ts';
import { newStore } from '../support/opened.ts';

function newTable(order: Order = 'key'): Promise<Table<unknown>> {
  return newStore().table('things', { order });
}

const LONG_KEY = 'x'.repeat(2_000);

test.each<[string, (thing: never) => unknown, string]>([
  ['Keyv', (thing) => new KeyvStowage(thing), 'KeyvStowage takes a table: await store.table(...)'],
  ['unstorage', (thing) => stowageDriver(thing), 'stowageDriver takes a table: await store.table(...)'],
  ['level', (thing) => new StowageLevel(thing, 'things'), 'StowageLevel takes a store, such as openStore() makes'],
])('the adapter for %s refuses at once what is not its thing, such as the promise of one', (_, made, told) => {
  for (const thing of [newTable(), undefined]) expect(() => made(thing as never)).toThrow(new TypeError(told));
});

describe('Keyv', () => {
  test('gets the expiry of its ttl, and none of one without an end', async () => {
    const table = await newTable();
    const keyv = new Keyv({ store: new KeyvStowage(table), namespace: 'ttl' });
    await keyv.set('a', 'A', 60_000);
    await keyv.set('d', 'D', Number.MAX_SAFE_INTEGER);
    await keyv.setMany([
      { key: 'b', value: 'B', ttl: 60_000 },
      { key: 'c', value: 'C' },
      { key: 'e', value: 'E', ttl: Infinity },
      { key: 'f', value: 'F', ttl: 8.7e15 },
    ]);
    const lives: [string, number | undefined][] = [];
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const { expiresAtMs } = (await table.get(`ttl::${key}`))!;
      lives.push([(await keyv.get<string>(key))!, expiresAtMs && Math.round((expiresAtMs - Date.now()) / 60_000)]);
    }
    const none = ['C', 'D', 'E', 'F'].map((value) => [value, undefined]);
    expect(lives).toEqual([['A', 1], ['B', 1], ...none]);
  });

  test('gets an answer for each key of a batch', async () => {
    const keyv = new Keyv({ store: new KeyvStowage(await newTable()), namespace: 'batch' });
    await keyv.setMany(['a', 'b'].map((key) => ({ key, value: key })));
    expect(await keyv.getMany(['a', 'x', 'b'])).toEqual(['a', undefined, 'b']);
    expect(await keyv.hasMany(['a', 'x'])).toEqual([true, false]);
    expect(await keyv.deleteMany(['a', 'x'])).toEqual([true, false]);
  });

  test('has one namespace an adapter: of a second one nothing is read, nor cleared', async () => {
    const table = await newTable();
    const storage = new KeyvStowage(table);
    const one = new Keyv({ store: storage, namespace: 'one' });
    await one.set('x', 1);
    const told = 'serves the namespace "one": make another KeyvStowage of the table for "two"';
    expect(() => new Keyv({ store: storage, namespace: 'two' })).toThrow(told);
    expect(new Keyv({ store: storage, namespace: 'one' }).namespace).toBe('one');
    const two = new Keyv({ store: new KeyvStowage(table), namespace: 'two' });
    expect(await two.get('x')).toBeUndefined();
    await two.set('y', 2);
    expect(await Array.fromAsync(two.iterator())).toEqual([['y', 2]]);
    await two.clear();
    expect(await one.get('x')).toBe(1);
    const used = new KeyvStowage(table);
    await used.has('x');
    expect(() => (used.namespace = 'late')).toThrow('serves no namespace: make another KeyvStowage');
  });

  test('has namespaces in a table of order hash too, and clears all of them or none', async () => {
    const hashed = await newTable('hash');
    const storage = new KeyvStowage(hashed);
    await storage.set('a', 1);
    const inNamespace = new KeyvStowage(hashed);
    inNamespace.namespace = 'n';
    await inNamespace.set('a', 2);
    await expect(inNamespace.clear()).rejects.toMatchObject({ code: 'invalid' });
    expect([await storage.get('a'), await inNamespace.get('a')]).toEqual([1, 2]);
    await storage.clear();
    expect(await hashed.count()).toBe(0);
  });

  test('fails with the table’s error, and a refused batch does nothing', async () => {
    const storage = new KeyvStowage(await newTable());
    const items = ['b', 'a'].map((key) => ({ key, value: key === 'b' ? 1 : () => 1 }));
    await expect(storage.setMany(items)).rejects.toMatchObject({ code: 'invalid', key: 'a' });
    expect(await storage.get('b')).toBeUndefined();
    await storage.set('b', 1);
    await expect(storage.deleteMany(['b', ''])).rejects.toMatchObject({ code: 'invalid' });
    expect(await storage.get('b')).toBe(1);
  });
});

describe.each<Order>(['hash', 'key'])('unstorage in a table of order %s', (order) => {
  async function made() {
    const table = await newTable(order);
    const driver = stowageDriver(table);
    return { table, driver, storage: createStorage({ driver }) };
  }

  test('begins empty, gives back what is set, raw or not, and is empty again after a clear', async () => {
    const { storage } = await made();
    expect([await storage.hasItem('a:b'), await storage.getItem('a:b'), await storage.getItemRaw('a:b')]).toEqual([
      false,
      null,
      null,
    ]);
    expect(await storage.getMeta('a:b')).toEqual({});
    for (const value of ['text', '', '123', 0, -1.5, false, true, null, [1, 'two'], { a: { b: null } }]) {
      await storage.setItem('/data/item.json', value);
      expect(await storage.getItem('data:item.json')).toEqual(value === '123' ? 123 : value);
    }
    await storage.setItemRaw('bytes', Uint8Array.of(0, 1, 255));
    expect(Buffer.from((await storage.getItemRaw('bytes')) as Uint8Array)).toEqual(Buffer.of(0, 1, 255));
    await storage.setItemRaw('map', new Map([['a', 1n]]));
    expect(await storage.getItemRaw('map')).toEqual(new Map([['a', 1n]]));
    await storage.removeItem('bytes');
    await storage.setItem('map', undefined as never);
    expect(await storage.getKeys()).toEqual(['data:item.json']);
    await storage.clear();
    await storage.clear();
    expect(await storage.getKeys()).toEqual([]);
  });

  test('lists and clears by base and by depth', async () => {
    const { storage, driver } = await made();
    const sortedKeys = async (base?: string, maxDepth?: number): Promise<string[]> =>
      (await storage.getKeys(base, maxDepth === undefined ? {} : { maxDepth })).toSorted();
    for (const key of ['top', 'one:a', 'one:b', 'one:two:c', 'onetwo:d']) await storage.setItem(key, key);
    expect(await sortedKeys()).toEqual(['one:a', 'one:b', 'one:two:c', 'onetwo:d', 'top']);
    expect(await sortedKeys('one')).toEqual(['one:a', 'one:b', 'one:two:c']);
    expect(await sortedKeys(undefined, 1)).toEqual(['one:a', 'one:b', 'onetwo:d', 'top']);
    expect(await sortedKeys('one', 1)).toEqual(['one:a', 'one:b']);
    // A storage clears whole mounts only, and asks a driver for a base.
    await driver.clear('one:', {});
    expect(await sortedKeys()).toEqual(['onetwo:d', 'top']);
  });

  test('gives a batch in the order asked for, null where there is none; a refused one does nothing', async () => {
    const { storage } = await made();
    await storage.setItems([
      { key: 'b:1', value: 'one' },
      { key: 'b:2', value: { two: 2 } as never },
    ]);
    expect(await storage.getItems(['b:2', 'none', { key: 'b:1' }])).toEqual([
      { key: 'b:2', value: { two: 2 } },
      { key: 'none', value: null },
      { key: 'b:1', value: 'one' },
    ]);
    const items = ['c', LONG_KEY].map((key) => ({ key, value: '1' }));
    await expect(storage.setItem(LONG_KEY, 1)).rejects.toMatchObject({ code: 'invalid' });
    await expect(storage.setItems(items)).rejects.toMatchObject({ code: 'invalid' });
    await expect(storage.getItems(items)).rejects.toMatchObject({ code: 'invalid' });
    expect(await storage.hasItem('c')).toBe(false);
  });

  test('has the record’s own expiry of a ttl in seconds; one that never ends is none', async () => {
    const { storage, table } = await made();
    await storage.setItem('a', 1, { ttl: 60 });
    await storage.setItems([{ key: 'b', value: '1', options: { ttl: 60 } }], { ttl: 600 });
    for (const key of ['a', 'b']) {
      const { ttl, etag } = await storage.getMeta(key);
      expect(ttl).toBeGreaterThan(30);
      expect(ttl).toBeLessThanOrEqual(60);
      expect(etag).toBe((await table.get(key))!.version);
    }
    for (const ttl of [0, Infinity, Number.MAX_SAFE_INTEGER]) {
      await storage.setItem('c', 1, { ttl });
      expect(await storage.getItem('c')).toBe(1);
      expect((await storage.getMeta('c')).ttl).toBeUndefined();
    }
  });
});

describe('abstract-level', () => {
  test('has text of ASCII as a record’s key, keeps the order of any byte, and stores the empty key', async () => {
    const db = new StowageLevel<Buffer>(newStore(), 'things', { keyEncoding: 'buffer' });
    const keys = [Buffer.of(), Buffer.of(0), Buffer.of(0, 0), Buffer.from('user:1'), Buffer.of(0x80), Buffer.of(0xff)];
    await db.batch(keys.toReversed().map((key) => ({ type: 'put', key, value: 'v' })));
    expect(await db.keys().all()).toEqual(keys);
    const some = await db.keys({ reverse: true, gt: Buffer.of(0), lte: Buffer.of(0x80) }).all();
    expect(some).toEqual(keys.slice(2, 5).toReversed());
    expect(await (await db.table).has('user:1')).toBe(true);
  });

  test('does the last operation of a batch on a key, and throws the table’s errors', async () => {
    const db = new StowageLevel(newStore(), 'things');
    await db.batch([
      { type: 'put', key: 'a', value: '1' },
      { type: 'del', key: 'a' },
      { type: 'del', key: 'b' },
      { type: 'put', key: 'b', value: '2' },
    ]);
    expect(await db.iterator().all()).toEqual([['b', '2']]);
    const invalid = { code: 'invalid' };
    await expect(db.put(LONG_KEY, '1')).rejects.toMatchObject(invalid);
    await expect(db.batch([{ type: 'put', key: LONG_KEY, value: '1' }])).rejects.toMatchObject(invalid);
  });

  test.each([
    ['made without groups', undefined],
    ['made with groups, of which it touches two', '/'],
  ])('refuses a batch in a table that was %s whole for an item that cannot be stored', async (_, groupBy) => {
    const store = newStore();
    await store.table('things', { order: 'key', groupBy });
    const db = new StowageLevel(store, 'things');
    await db.put('a/1', '1');
    const large = db.batch([
      { type: 'del', key: 'a/1' },
      { type: 'put', key: 'b/1', value: '1' },
      { type: 'put', key: 'b/2', value: 'x'.repeat(600_000) },
    ]);
    await expect(large).rejects.toMatchObject({ code: 'too_large', key: 'b/2' });
    const misnamed = db.batch([
      { type: 'put', key: 'a/2', value: '1' },
      { type: 'del', key: LONG_KEY },
    ]);
    await expect(misnamed).rejects.toMatchObject({ code: 'invalid' });
    expect(await db.iterator().all()).toEqual([['a/1', '1']]);
  });

  test('does a batch within one group at once: one that outgrows its container changes nothing', async () => {
    const store = newStore();
    await store.table('things', { order: 'key', groupBy: '/' });
    const db = new StowageLevel<string, Uint8Array>(store, 'things', { valueEncoding: 'view' });
    await db.put('a/1', Uint8Array.of(1));
    const large = ['a/2', 'a/3', 'a/4'].map((key) => ({ type: 'put' as const, key, value: randomBytes(400_000) }));
    await expect(db.batch([{ type: 'del', key: 'a/1' }, ...large])).rejects.toMatchObject({ code: 'too_large' });
    expect(await db.keys().all()).toEqual(['a/1']);
    await db.batch([{ type: 'del', key: 'a/1' }, large[0]!]);
    expect(await db.keys().all()).toEqual(['a/2']);
  });

  test('tells at each call on a table of order hash that order, until the table can be opened', async () => {
    const store = newStore();
    await store.table('things');
    const db = new StowageLevel(store, 'things');
    const told = { code: 'conflict', message: expect.stringContaining('order "hash"') as string };
    for (const call of [() => db.put('a', '1'), () => db.get('a'), () => db.iterator().all(), () => db.open()])
      await expect(call()).rejects.toMatchObject(told);
    await expect(new StowageLevel(store, 'things').open()).rejects.toMatchObject({ cause: told });
    await store.drop('things');
    await db.put('a', '1');
    expect(await db.get('a')).toBe('1');
  });
});
