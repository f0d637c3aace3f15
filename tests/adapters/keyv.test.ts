// The adapter for Keyv on each provider. keyv-suite.test.ts runs Keyv's own suite.
import { Keyv } from 'keyv';
import { describe, expect, test } from 'vitest';
import { KeyvStowage } from '../../shared/adapters/keyv.ts';
import type { Table } from '../../shared/store/index.ts';
import { startStores, tableIn } from './stores.ts';

const STORES = await startStores();

describe.each(STORES)('Keyv on %s', async (_, store) => {
  const table = await tableIn(store, 'keyv', 'key');
  const hashed = await tableIn(store, 'keyv', 'hash');

  test('a ttl becomes the expiry of the record', async () => {
    const keyv = new Keyv({ store: new KeyvStowage(table), namespace: 'ttl' });
    await keyv.set('a', 'A', 60_000);
    const { expiresAtMs } = (await table.get('ttl::a'))!;
    expect(Math.abs(expiresAtMs! - Date.now() - 60_000)).toBeLessThan(30_000);
    await keyv.setMany([
      { key: 'b', value: 'B', ttl: 60_000 },
      { key: 'c', value: 'C' },
    ]);
    expect((await table.get('ttl::b'))!.expiresAtMs).toBeGreaterThan(Date.now());
    expect((await table.get('ttl::c'))!.expiresAtMs).toBeUndefined();
  });

  test('a batch answers each key', async () => {
    const keyv = new Keyv({ store: new KeyvStowage(table), namespace: 'batch' });
    await keyv.setMany([
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ]);
    expect(await keyv.getMany(['a', 'x', 'b'])).toEqual([1, undefined, 2]);
    expect(await keyv.hasMany(['a', 'x'])).toEqual([true, false]);
    expect(await keyv.deleteMany(['a', 'x'])).toEqual([true, false]);
  });

  test('a ttl without an end sets no expiry', async () => {
    const keyv = new Keyv({ store: new KeyvStowage(table), namespace: 'never' });
    await keyv.set('a', 'A', Number.MAX_SAFE_INTEGER);
    await keyv.setMany([
      { key: 'b', value: 'B', ttl: Infinity },
      { key: 'c', value: 'C', ttl: 8.7e15 },
    ]);
    for (const key of ['a', 'b', 'c']) {
      expect(await keyv.get(key)).toBe(key.toUpperCase());
      expect((await table.get(`never::${key}`))!.expiresAtMs).toBeUndefined();
    }
  });

  test('an adapter serves one namespace: of a second one nothing is read, nor cleared', async () => {
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

  test('a table of order hash has namespaces, and clears all of them or none', async () => {
    const storage = new KeyvStowage(hashed);
    await storage.set('a', 1);
    const inNamespace = new KeyvStowage(hashed);
    inNamespace.namespace = 'n';
    await inNamespace.set('a', 2);
    expect(await inNamespace.get('a')).toBe(2);
    await expect(inNamespace.clear()).rejects.toMatchObject({ code: 'invalid' });
    expect(await storage.get('a')).toBe(1);
    await storage.clear();
    expect(await hashed.count()).toBe(0);
  });
});

test('the adapter refuses at once what is no table, such as the promise of one', () => {
  const promise = tableIn(STORES[0]![1], 'keyv', 'key') as unknown as Table<unknown>;
  expect(() => new KeyvStowage(promise)).toThrow(new TypeError('KeyvStowage takes a table: await store.table(...)'));
  expect(() => new KeyvStowage(undefined as never)).toThrow(TypeError);
});

test('a call fails with the table’s error, and a refused batch does nothing', async () => {
  const table = await tableIn(STORES[0]![1], 'keyv', 'key');
  const storage = new KeyvStowage(table);
  const refused = { code: 'invalid', key: 'a' };
  await expect(
    storage.setMany<unknown>([
      { key: 'b', value: 1 },
      { key: 'a', value: () => 1 },
    ]),
  ).rejects.toMatchObject(refused);
  expect(await storage.get('b')).toBeUndefined();
  await storage.set('b', 1);
  await expect(storage.deleteMany(['b', ''])).rejects.toMatchObject({ code: 'invalid' });
  expect(await storage.get('b')).toBe(1);
  await expect(storage.set('a', () => 1)).rejects.toMatchObject(refused);
});
