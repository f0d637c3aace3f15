// A driver throws an error that is no StoreError: its caller gets it, and nobody else is harmed.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore, type Table } from '../../../shared/store/index.ts';

const TIMEOUT_MS = 2_000;

/** A driver whose next read rejects with a TypeError, as `fetch` does without a network. */
async function withBrokenRead(): Promise<{ table: Table<number>; breakOneRead: () => void }> {
  const near = memoryDriver();
  let isBroken = false;
  const driver: Driver = {
    ...near,
    read: (requests, options) => {
      if (!isBroken) return near.read(requests, options);
      isBroken = false;
      return Promise.reject(new TypeError('fetch failed'));
    },
  };
  const store = openStore({ driver, timeoutMs: TIMEOUT_MS });
  const table = await store.table<number>('t');
  await table.put('x', 1);
  return { table, breakOneRead: () => (isBroken = true) };
}

test.each<[string, (table: Table<number>) => Promise<unknown>]>([
  ['put', (table) => table.put('x', 2, { ifAbsent: true })],
  ['putMany', (table) => table.putMany([{ key: 'x', value: 2, ifAbsent: true }])],
])('%s rejects with it, and the container takes writes as before', async (_, call) => {
  const { table, breakOneRead } = await withBrokenRead();
  breakOneRead();
  await expect(call(table)).rejects.toThrow(new TypeError('fetch failed'));
  await table.put('y', 3);
  expect((await table.get('y'))?.value).toBe(3);
  expect(table.stats().queueDepth).toBe(0);
});

test('getMany rejects with it, though reads of other leaves fail later', async () => {
  const near = memoryDriver();
  let isBroken = false;
  let reads = 0;
  const driver: Driver = {
    ...near,
    limits: { ...near.limits, readsMax: 1 },
    read: async (requests, options) => {
      if (!isBroken) return near.read(requests, options);
      await sleep(10 * (reads += 1) * (reads % 2));
      throw new TypeError('fetch failed');
    },
  };
  const store = openStore({ driver, timeoutMs: TIMEOUT_MS, cacheBytesMax: 32 * 1024 });
  const table = await store.table<number>('t', { containers: 8 });
  const keys = Array.from({ length: 100 }, (_, number) => `k${number}`);
  await table.putMany(keys.map((key) => ({ key, value: 1 })));
  isBroken = true;
  await expect(table.getMany(keys)).rejects.toThrow(new TypeError('fetch failed'));
  expect(reads).toBeGreaterThan(2);
  // The last of them have failed by then; a rejection that nobody handles fails the run.
  await sleep(100);
});
