// What a store holds: of the leaves that a call reads, of pages that expand much, of idle tables.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type EntityId, openStore, type Store, type Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items } from '../rules/table-steps.ts';
import { key, World } from '../rules/world.ts';

const MIB = 1024 * 1024;
const LARGE_LEAVES = 60;
/** As many as fill 32 MiB at the size of the largest leaf, and the one that is known. */
const AT_FIRST = 35;

test('getMany reads as many large leaves at a time as fill its memory, and none once a value was too much', async () => {
  const world = new World({ limits: { readsMax: 1, inFlightMax: 1_000 } });
  const filling = await world.run(world.process().store.table<string>('t', { order: 'key' }));
  const all = items(0, LARGE_LEAVES * 3, 150_000);
  for (let first = 0; first < all.length; first += 10) await world.run(filling.putMany(all.slice(first, first + 10)));
  const keys = all.map(({ key: name }) => name);
  /** A process that knows one leaf reads all keys. */
  const readAll = async (bytesMax?: number) => {
    const process = world.process({ cacheBytesMax: MIB });
    const table = await world.run(process.store.table<string>('t', { order: 'key' }));
    await world.run(table.get(key(0)));
    const asked = new Set<EntityId>();
    let [unanswered, most] = [0, 0];
    process.rule((call) => {
      if (call.kind !== 'read') return undefined;
      for (const { id } of call.requests) asked.add(id);
      most = Math.max(most, (unanswered += 1));
      return { reply: world.runtime.sleep(100).then(() => (unanswered -= 1)) };
    });
    const outcomes = await world.run(table.getMany(keys, { bytesMax }));
    const found = outcomes.filter(({ status }) => status === 'found').length;
    const refused = outcomes.filter((one) => one.status === 'failed' && one.error.code === 'too_large').length;
    return { found, refused, asked: asked.size, most };
  };
  const leaves = leavesOf(world.state, 't').length;
  expect(leaves).toBeGreaterThan(AT_FIRST + 4);
  expect(await readAll()).toEqual({ found: keys.length, refused: 0, asked: leaves, most: AT_FIRST });
  const { found, refused, asked } = await readAll(1_000_000);
  expect(found).toBeGreaterThan(3);
  expect([found + refused, asked]).toEqual([keys.length, AT_FIRST]);
});

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

function heldBytes(): number {
  // The first collection only finds what the second one frees.
  gc();
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('scans and walks of keys hold a few records of a leaf that compresses to a hundredth', async () => {
  const driver = memoryDriver();
  const filling = await openStore({ driver }).table('t', { order: 'key', codec: 'bytes' });
  const value = new Uint8Array(500_000);
  await filling.putMany(Array.from({ length: 40 }, (_, number) => ({ key: key(number), value })));
  const reads: ((table: Table<Uint8Array>) => AsyncIterable<unknown>)[] = [
    (table) => table.scan(),
    (table) => table.scan({ reverse: true }),
    (table) => table.keys(),
  ];
  for (const read of reads) {
    const table = await openStore({ driver, cacheBytesMax: MIB }).table('t', { codec: 'bytes' });
    const before = heldBytes();
    let [count, most] = [0, 0];
    for await (const given of read(table)) {
      if (given !== undefined) count += 1;
      if (count % 20 === 0) most = Math.max(most, heldBytes() - before);
    }
    expect(count).toBe(40);
    // All of them take 20 MB.
    expect(most).toBeLessThan(8 * MIB);
  }
});

const TABLES = 400;
/** Room for the map's entry, but not for an engine, which took more than 4,000. */
const BYTES_PER_TABLE = 1_000;
/** The store's cache and its headers. */
const CACHE_BYTES = 16 * 1024 + 256 * 1024;

async function openAll(store: Store): Promise<void> {
  for (let number = 0; number < TABLES; number += 1) await store.table(`t${number}`);
}

/** A weak reference holds its object until the turn ends, and finalizers run in a later turn. */
async function heldAfterTurns(): Promise<number> {
  await nextTurn();
  heldBytes();
  await nextTurn();
  return heldBytes();
}

test('a store keeps nothing of a table once its handle is gone', async () => {
  const driver = memoryDriver();
  await openAll(openStore({ driver }));
  const store = openStore({ driver, cacheBytesMax: 16 * 1024 });
  const before = await heldAfterTurns();
  await openAll(store);
  expect((await heldAfterTurns()) - before).toBeLessThan(TABLES * BYTES_PER_TABLE + CACHE_BYTES);
  await store.close();
});

test('handles in use share what the store knows of their table', async () => {
  const store = openStore({ driver: memoryDriver() });
  const first = await store.table('t', { containerBytesMax: 65_536 });
  await heldAfterTurns();
  const second = await store.table('t');
  await second.put('a', 1);
  expect(first.stats()).toEqual(second.stats());
  expect(first.stats().commits).toBe(1);
});
