// Keyv's published suite, which is of Keyv 5, over tables on each provider. Keyv 6 answers two of
// its cases otherwise; tests of our own stand for them.
import keyvTestSuite, { keyvIteratorTests } from '@keyv/test-suite';
import { Keyv } from 'keyv';
import * as vitest from 'vitest';
import { describe, expect, test } from 'vitest';
import { KeyvStowage } from '../../shared/adapters/keyv.ts';
import { STORES, tableIn } from './stores.ts';

const OTHERWISE_IN_6 = new Set([
  // Keyv 6 answers each key.
  '.deleteMany([keys]) with nonexistent keys resolves to false',
  // It sets `opts` of the store, which storages of Keyv 6 lack.
  'value can be BigInt using other serializer/deserializer',
]);

/** Vitest without the cases that Keyv 6 answers otherwise. */
const cases = {
  ...vitest,
  it: (name: string, run: () => unknown) => (OTHERWISE_IN_6.has(name) ? undefined : vitest.it(name, run)),
} as unknown as typeof vitest;

describe.each(STORES)('Keyv on %s', async (_, store) => {
  const table = await tableIn(store, 'keyv', 'key');
  const hashed = await tableIn(store, 'keyv', 'hash');

  keyvTestSuite(cases, Keyv, () => new KeyvStowage(table));
  keyvIteratorTests(cases, Keyv, () => new KeyvStowage(table));

  test('an expiry is the record’s own', async () => {
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

  test('a table of order hash has namespaces, and clears all of them or none', async () => {
    const storage = new KeyvStowage(hashed);
    await storage.set('a', 1);
    storage.namespace = 'n';
    await storage.set('a', 2);
    expect(await storage.get('a')).toBe(2);
    await expect(storage.clear()).rejects.toMatchObject({ code: 'invalid' });
    storage.namespace = undefined;
    expect(await storage.get('a')).toBe(1);
    await storage.clear();
    expect(await hashed.count()).toBe(0);
  });
});

test('a value that the table refuses fails its call with the table’s error', async () => {
  const table = await tableIn(STORES[0]![1], 'keyv', 'key');
  const storage = new KeyvStowage(table);
  const refused = { code: 'invalid', key: 'a' };
  await expect(
    storage.setMany<unknown>([
      { key: 'a', value: () => 1 },
      { key: 'b', value: 1 },
    ]),
  ).rejects.toMatchObject(refused);
  await expect(storage.set('a', () => 1)).rejects.toMatchObject(refused);
});
