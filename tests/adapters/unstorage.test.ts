// unstorage publishes no suite for its drivers. These tests hold the adapter to its documented
// interface: items, raw values, batches, keys by base and depth, expiry, meta, mounts, snapshots.
import { createStorage, restoreSnapshot, snapshot } from 'unstorage';
import { beforeEach, describe, expect, test } from 'vitest';
import { stowageDriver } from '../../shared/adapters/unstorage.ts';
import type { Order } from '../../shared/store/index.ts';
import { startStores, tableIn } from './stores.ts';

const STORES = await startStores();

const ON = STORES.flatMap(([name, store]) => (['hash', 'key'] as const).map((order) => [name, order, store] as const));

describe.each(ON)('unstorage on %s, in a table of order %s', async (_, order: Order, store) => {
  const table = await tableIn(store, 'unstorage', order);
  const driver = stowageDriver(table);
  const storage = createStorage({ driver });
  const sortedKeys = async (base?: string, maxDepth?: number): Promise<string[]> =>
    (await storage.getKeys(base, maxDepth === undefined ? {} : { maxDepth })).toSorted();

  beforeEach(() => storage.clear());

  test('a storage begins empty, and is empty again after a clear', async () => {
    expect(await storage.hasItem('a:b')).toBe(false);
    expect(await storage.getItem('a:b')).toBeNull();
    expect(await storage.getItemRaw('a:b')).toBeNull();
    expect(await storage.getMeta('a:b')).toEqual({});
    expect(await storage.getKeys()).toEqual([]);
    await storage.setItem('a:b', 'text');
    await storage.clear();
    await storage.clear();
    expect(await storage.getKeys()).toEqual([]);
  });

  test.each([['text'], [''], ['123'], [0], [-1.5], [false], [true], [null], [[1, 'two']], [{ a: { b: null } }]])(
    'a storage gives back the item %j',
    async (value) => {
      await storage.setItem('/data/item.json', value);
      expect(await storage.getItem('data:item.json')).toEqual(value === '123' ? 123 : value);
    },
  );

  test('a storage refuses a value without a text, as unstorage does', async () => {
    const thing: unknown = Object.create({ constructor: Map });
    await expect(storage.setItem('thing', thing as never)).rejects.toThrow('Cannot stringify value');
    expect(await storage.hasItem('thing')).toBe(false);
  });

  test('a storage gives back raw bytes, and other raw values as they are', async () => {
    await storage.setItemRaw('bytes', Uint8Array.of(0, 1, 255));
    expect(Buffer.from((await storage.getItemRaw('bytes')) as Uint8Array)).toEqual(Buffer.of(0, 1, 255));
    await storage.setItemRaw('map', new Map([['a', 1n]]));
    expect(await storage.getItemRaw('map')).toEqual(new Map([['a', 1n]]));
  });

  test('a storage removes an item, also by setting undefined', async () => {
    await storage.setItem('a', 1);
    await storage.setItem('b', 1);
    await storage.removeItem('a');
    await storage.setItem('b', undefined as never);
    expect(await storage.getKeys()).toEqual([]);
  });

  test('a storage lists and clears by base and by depth', async () => {
    for (const key of ['top', 'one:a', 'one:b', 'one:two:c', 'onetwo:d']) await storage.setItem(key, key);
    expect(await sortedKeys()).toEqual(['one:a', 'one:b', 'one:two:c', 'onetwo:d', 'top']);
    expect(await sortedKeys('one')).toEqual(['one:a', 'one:b', 'one:two:c']);
    expect(await sortedKeys(undefined, 0)).toEqual(['top']);
    expect(await sortedKeys(undefined, 1)).toEqual(['one:a', 'one:b', 'onetwo:d', 'top']);
    expect(await sortedKeys('one', 1)).toEqual(['one:a', 'one:b']);
    // A storage clears whole mounts only, and asks a driver for a base.
    await driver.clear('one:', {});
    expect(await sortedKeys()).toEqual(['onetwo:d', 'top']);
  });

  test('a batch is one call: items in the order asked for, null where there is none', async () => {
    await storage.setItems([
      { key: 'b:1', value: 'one' },
      { key: 'b:2', value: { two: 2 } as never },
    ]);
    expect(await storage.getItems(['b:2', 'none', { key: 'b:1' }])).toEqual([
      { key: 'b:2', value: { two: 2 } },
      { key: 'none', value: null },
      { key: 'b:1', value: 'one' },
    ]);
  });

  test('a ttl is the record’s own expiry, in seconds; one that never ends is none', async () => {
    await storage.setItem('a', 1, { ttl: 60 });
    await storage.setItems([{ key: 'b', value: '1', options: { ttl: 60 } }], { ttl: 600 });
    await storage.setItem('c', 1, { ttl: 0 });
    await storage.setItem('d', 1, { ttl: Infinity });
    await storage.setItem('e', 1, { ttl: Number.MAX_SAFE_INTEGER });
    for (const key of ['a', 'b']) {
      const { ttl, etag } = await storage.getMeta(key);
      expect(ttl).toBeGreaterThan(30);
      expect(ttl).toBeLessThanOrEqual(60);
      expect(etag).toBe((await table.get(key))!.version);
    }
    for (const key of ['c', 'd', 'e']) {
      expect(await storage.getItem(key)).toBe(1);
      expect((await storage.getMeta(key)).ttl).toBeUndefined();
    }
  });

  test('a driver is mounted beside others, and restored from a snapshot', async () => {
    const outer = createStorage();
    outer.mount('mounted', driver);
    await restoreSnapshot(outer, { 'mounted:x:1': 'one', 'elsewhere:x': 'two' });
    expect((await outer.getKeys('mounted')).toSorted()).toEqual(['mounted:x:1']);
    expect(await sortedKeys()).toEqual(['x:1']);
    expect(await outer.getItems(['mounted:x:1'])).toEqual([{ key: 'mounted:x:1', value: 'one' }]);
    expect(await snapshot(outer, 'mounted')).toEqual({ 'x:1': 'one' });
    await outer.clear('mounted');
    expect(await outer.getKeys()).toEqual(['elsewhere:x']);
  });
});

test('a call fails with the table’s error, and a refused batch does nothing', async () => {
  const storage = createStorage({ driver: stowageDriver(await tableIn(STORES[0]![1], 'unstorage', 'key')) });
  await expect(storage.setItem('a'.repeat(2_000), 1)).rejects.toMatchObject({ code: 'invalid' });
  const items = ['b', 'a'.repeat(2_000)].map((key) => ({ key, value: '1' }));
  await expect(storage.setItems(items)).rejects.toMatchObject({ code: 'invalid' });
  await expect(storage.getItems(items)).rejects.toMatchObject({ code: 'invalid' });
  expect(await storage.hasItem('b')).toBe(false);
});

test('the driver refuses the promise of a table at once', () => {
  const promise = tableIn(STORES[0]![1], 'unstorage', 'key') as never;
  expect(() => stowageDriver(promise)).toThrow(new TypeError('stowageDriver takes a table: await store.table(...)'));
});
