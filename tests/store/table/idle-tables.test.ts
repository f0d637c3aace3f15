// A store with a table per tenant or test keeps nothing of the tables that nobody uses any more.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';

const TABLES = 400;
/** Room for the map's entry, but not for an engine, which took more than 4,000. */
const BYTES_PER_TABLE = 1_000;
/** The store's cache and its headers. */
const CACHE_BYTES = 16 * 1024 + 256 * 1024;

async function openAll(store: Store): Promise<void> {
  for (let number = 0; number < TABLES; number += 1) await store.table(`t${number}`);
}

async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // A weak reference holds its object until the turn ends, and finalizers run in a later turn.
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    gc();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('a store keeps nothing of a table once its handle is gone', async () => {
  const driver = memoryDriver();
  await openAll(openStore({ driver }));
  const store = openStore({ driver, cacheBytesMax: 16 * 1024 });
  const before = await heldBytes();
  await openAll(store);
  expect((await heldBytes()) - before).toBeLessThan(TABLES * BYTES_PER_TABLE + CACHE_BYTES);
  await store.close();
});

test('handles in use share what the store knows of their table', async () => {
  const store = openStore({ driver: memoryDriver() });
  const first = await store.table('t', { containerBytesMax: 65_536 });
  await heldBytes();
  const second = await store.table('t');
  await second.put('a', 1);
  expect(first.stats()).toEqual(second.stats());
  expect(first.stats().commits).toBe(1);
});
