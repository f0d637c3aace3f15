// Reading calls bound the bytes that they hold: leaves under way, and pages that expand much.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type EntityId, openStore, type Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items } from '../rules/table-steps.ts';
import { key, World } from '../rules/world.ts';

const MIB = 1024 * 1024;
const LARGE_LEAVES = 60;
/** As many as fill 32 MiB at the size of the largest leaf, and the one that is known. */
const AT_FIRST = 35;

/** Leaves of half a megabyte, and a process that knows none of them and whose reads are watched. */
async function largeLeaves() {
  const world = new World({ limits: { readsMax: 1, inFlightMax: 1_000 } });
  const filling = await world.run(world.process().store.table<string>('t', { order: 'key' }));
  const all = items(0, LARGE_LEAVES * 3, 150_000);
  for (let first = 0; first < all.length; first += 10) await world.run(filling.putMany(all.slice(first, first + 10)));
  const process = world.process({ cacheBytesMax: MIB });
  const table = await world.run(process.store.table<string>('t', { order: 'key' }));
  await world.run(table.get(key(0)));
  const asked = new Set<EntityId>();
  const seen = { asked, askedAtFirst: 0, most: 0 };
  let unanswered = 0;
  process.rule((call) => {
    if (call.kind !== 'read') return undefined;
    for (const { id } of call.requests) asked.add(id);
    seen.most = Math.max(seen.most, (unanswered += 1));
    const answer = (): void => {
      unanswered -= 1;
      seen.askedAtFirst ||= asked.size;
    };
    return { reply: world.runtime.sleep(100).then(answer) };
  });
  return { world, table, keys: all.map(({ key: name }) => name), seen };
}

test('getMany reads as many large leaves at a time as fill its memory', async () => {
  const { world, table, keys, seen } = await largeLeaves();
  const outcomes = await world.run(table.getMany(keys));
  expect(outcomes.every(({ status }) => status === 'found')).toBe(true);
  const leaves = leavesOf(world.state, 't').length;
  expect(leaves).toBeGreaterThan(AT_FIRST + 4);
  expect(seen.asked.size).toBe(leaves);
  expect(seen.askedAtFirst).toBe(AT_FIRST);
  expect(seen.most).toBe(AT_FIRST);
});

test('getMany reads no further once a value was too much', async () => {
  const { world, table, keys, seen } = await largeLeaves();
  const outcomes = await world.run(table.getMany(keys, { bytesMax: 1_000_000 }));
  const found = outcomes.filter(({ status }) => status === 'found');
  expect(found.length).toBeGreaterThan(3);
  const others = outcomes.filter((outcome) => outcome.status === 'failed' && outcome.error.code === 'too_large');
  expect(found.length + others.length).toBe(keys.length);
  expect(seen.asked.size).toBe(AT_FIRST);
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

const driver = memoryDriver();

beforeAll(async () => {
  const table = await openStore({ driver }).table('t', { order: 'key', codec: 'bytes' });
  const value = new Uint8Array(500_000);
  await table.putMany(Array.from({ length: 40 }, (_, number) => ({ key: key(number), value })));
});

const READS: [string, (table: Table<Uint8Array>) => AsyncIterable<unknown>][] = [
  ['a scan', (table) => table.scan()],
  ['a scan in reverse', (table) => table.scan({ reverse: true })],
  ['a walk of keys', (table) => table.keys()],
];

test.each(READS)('%s of a leaf whose records compress to a hundredth holds a few at a time', async (_, read) => {
  const table = await openStore({ driver, cacheBytesMax: MIB }).table('t', { codec: 'bytes' });
  const before = heldBytes();
  let count = 0;
  let most = 0;
  for await (const given of read(table)) {
    if (given !== undefined) count += 1;
    if (count % 20 === 0) most = Math.max(most, heldBytes() - before);
  }
  expect(count).toBe(40);
  // All of them take 20 MB.
  expect(most).toBeLessThan(8 * MIB);
});
