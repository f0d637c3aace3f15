// Batches: commits that wait at the same moment share a request where the provider takes them
// together, and each hears its own outcome.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver, Write } from '../../../shared/store/contract/driver.ts';
import { AdaptiveLimit } from '../../../shared/store/io/adaptive-limit.ts';
import { newCounters } from '../../../shared/store/io/counters.ts';
import { WriteBatcher } from '../../../shared/store/io/write-batcher.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { entityId, partName } from '../../support/ids.ts';

function insert(id: string, bytes = 10): Write {
  return {
    kind: 'insert',
    id: entityId(id),
    parts: [{ name: partName('p0'), bytes: Buffer.alloc(bytes, 1), chunksBefore: 0 }],
  };
}

/** A batcher on memory, and the ids in each request it made. Ids of one lane begin alike. */
function sending() {
  const requests: string[][] = [];
  const memory = memoryDriver();
  const limits = { ...memory.limits, writesMax: 3, writeBytesMax: 1_000, lane: (id: string) => id[0]! };
  const driver: Driver = {
    ...memory,
    limits,
    write: async (writes, options) => {
      requests.push(writes.map(({ id }) => id));
      // One by one, so that a write that is refused does not decide the others'.
      const each = await Promise.all(writes.map((write) => memory.write([write], options)));
      return each.flat();
    },
  };
  const runtime = new VirtualRuntime();
  const roundTrips = { runtime, noteRoundTrip: () => {} };
  const batcher = new WriteBatcher(
    { table: 'users', driver, counters: newCounters() },
    new AdaptiveLimit(runtime, 64),
    roundTrips,
  );
  return { batcher, requests };
}

test('a lone write departs at once, alone', async () => {
  const { batcher, requests } = sending();
  expect(await batcher.send(insert('a1'), false, 1)).toMatchObject({ kind: 'written' });
  expect(requests).toEqual([['a1']]);
});

test('writes of one lane that wait together share a request, as many as it takes', async () => {
  const { batcher, requests } = sending();
  await Promise.all(['a1', 'a2', 'a3', 'a4'].map((id) => batcher.send(insert(id), false, 1)));
  expect(requests).toEqual([['a1', 'a2', 'a3'], ['a4']]);
});

test('lanes never mix', async () => {
  const { batcher, requests } = sending();
  await Promise.all(['a1', 'b1', 'a2', 'b2'].map((id) => batcher.send(insert(id), false, 1)));
  expect(requests).toEqual([
    ['a1', 'a2'],
    ['b1', 'b2'],
  ]);
});

test('a request carries no more bytes than the provider takes, save for a single write', async () => {
  const { batcher, requests } = sending();
  await Promise.all([
    batcher.send(insert('a1', 600), false, 1),
    batcher.send(insert('a2', 600), false, 1),
    batcher.send(insert('a3', 300), false, 1),
    batcher.send(insert('a4', 2_000), false, 1),
  ]);
  expect(requests).toEqual([['a1', 'a3'], ['a2'], ['a4']]);
});

test('what is to travel alone does, and keeps nobody waiting', async () => {
  const { batcher, requests } = sending();
  await Promise.all([
    batcher.send(insert('a1'), false, 1),
    batcher.send(insert('a2'), true, 1),
    batcher.send(insert('a3'), false, 1),
    batcher.send(insert('a4'), true, 1),
  ]);
  expect(requests).toEqual([['a1', 'a3'], ['a2'], ['a4']]);
});

test('each write of a batch hears its own outcome', async () => {
  const { batcher } = sending();
  await batcher.send(insert('a2'), false, 1);
  const outcomes = await Promise.all(['a1', 'a2', 'a3'].map((id) => batcher.send(insert(id), false, 1)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'written']);
});
