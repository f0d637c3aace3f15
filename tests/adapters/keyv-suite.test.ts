// Keyv's published suite, made for Keyv 5, over tables on each provider. Three of its cases are
// left out, as the adapter answers otherwise; adapters.test.ts has tests of our own for them.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Keyv } from 'keyv';
import * as vitest from 'vitest';
import { describe, expect, inject, test } from 'vitest';
import { KeyvStowage } from '../../shared/adapters/keyv.ts';
import { startStores } from './stores.ts';

type Suite = (cases: unknown, keyv: typeof Keyv, store: () => KeyvStowage) => void;

const STORES = await startStores();
const tools = inject('tools');

const OTHERWISE = new Set([
  // Keyv 6 answers each key.
  '.deleteMany([keys]) with nonexistent keys resolves to false',
  // It sets `opts` of the store, which storages of Keyv 6 lack.
  'value can be BigInt using other serializer/deserializer',
  // It gives one adapter to two Keyv: each namespace takes its own.
  "iterator() doesn't yield values from other namespaces",
]);

/** Vitest without the cases that are answered otherwise. */
const cases = {
  ...vitest,
  it: (name: string, run: () => unknown) => (OTHERWISE.has(name) ? undefined : vitest.it(name, run)),
};

const suites =
  tools === undefined
    ? undefined
    : ((await import(pathToFileURL(path.join(tools, '@keyv/test-suite/dist/index.js')).href)) as {
        default: Suite;
        keyvIteratorTests: Suite;
      });

describe.each(STORES)('Keyv on %s', async (_, store) => {
  const table = await store.table('keyv', { order: 'key' });

  test.skipIf(suites === undefined)('brings its suite', () => {
    expect(suites).toMatchObject({ default: expect.any(Function), keyvIteratorTests: expect.any(Function) });
  });

  suites?.default(cases, Keyv, () => new KeyvStowage(table));
  suites?.keyvIteratorTests(cases, Keyv, () => new KeyvStowage(table));
});
