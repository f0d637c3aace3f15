// Calls that read bound by bytes what they hold: leaves under way, and pages that expand far.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type EntityId, openStore, type Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/structure.ts';
import { items } from '../rules/table-steps.ts';
import { key, World } from '../rules/world.ts';

const MIB = 1024 * 1024;

test('getMany reads some leaves, and by their size as many more at a time as fill its memory', async () => {
  const world = new World({ limits: { readsMax: 1, inFlightMax: 1_000 } });
  const options = { order: 'key', containerBytesMax: 16_384 } as const;
  const filling = await world.run(world.process().store.table<string>('t', options));
  const all = items(0, 2_400, 1_000);
  for (let first = 0; first < all.length; first += 100) await world.run(filling.putMany(all.slice(first, first + 100)));
  const leaves = leavesOf(world.state, 't').length;
  expect(leaves).toBeGreaterThan(2 * 128);
  const process = world.process();
  const table = await world.run(process.store.table<string>('t', options));
  await world.run(table.get(key(0)));
  const asked = new Set<EntityId>();
  let askedAtFirst: number | undefined;
  let unanswered = 0;
  let most = 0;
  process.rule((call) => {
    if (call.kind !== 'read') return undefined;
    for (const { id } of call.requests) asked.add(id);
    most = Math.max(most, (unanswered += 1));
    const answer = (): void => {
      unanswered -= 1;
      askedAtFirst ??= asked.size;
    };
    return { reply: world.runtime.sleep(100).then(answer) };
  });
  const outcomes = await world.run(table.getMany(all.map(({ key: name }) => name)));
  expect(outcomes.every(({ status }) => status === 'found')).toBe(true);
  expect(askedAtFirst).toBe(128);
  expect(asked.size).toBe(leaves);
  expect(most).toBe(leaves - 128);
});

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

function heldBytes(): number {
  // The first one only finds what the second frees.
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
