// Commits that wait at the same moment share a request, and each hears its own outcome.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver, Write } from '../../../shared/store/contract/driver.ts';
import { newCounters } from '../../../shared/store/system/tracing.ts';
import { RequestLimit, WriteBatcher } from '../../../shared/store/io/requests.ts';
import { entityId, partName } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

function insert(id: string, bytes = 10): Write {
  const part = { name: partName('p0'), bytes: Buffer.alloc(bytes, 1), chunksBefore: 0 };
  return { kind: 'insert', id: entityId(id), parts: [part] };
}

const always = (): boolean => true;

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
  const provider = { table: 'users', driver, counters: newCounters() };
  const batcher = new WriteBatcher(provider, new RequestLimit(runtime, 64));
  return { batcher, requests };
}

type Sent = readonly [id: string, bytes?: number, isAlone?: boolean];

test.each<[name: string, sent: readonly Sent[], requests: string[]]>([
  ['a lone write is sent at once', [['a1']], ['a1']],
  ['writes of one lane share a request, up to writesMax', [['a1'], ['a2'], ['a3'], ['a4']], ['a1 a2 a3', 'a4']],
  ['writes of different lanes never share a request', [['a1'], ['b1'], ['a2'], ['b2']], ['a1 a2', 'b1 b2']],
  [
    'a request of several writes has at most writeBytesMax bytes',
    [
      ['a1', 600],
      ['a2', 600],
      ['a3', 300],
      ['a4', 2_000],
    ],
    ['a1 a3', 'a2', 'a4'],
  ],
  [
    'a write sent with isAlone has a request to itself, and the others do not wait for it',
    [['a1'], ['a2', 10, true], ['a3'], ['a4', 10, true]],
    ['a1 a3', 'a2', 'a4'],
  ],
])('%s', async (_, sent, expected) => {
  const { batcher, requests } = sending();
  const outcomes = await Promise.all(
    sent.map(([id, bytes, isAlone = false]) => batcher.send(insert(id, bytes), isAlone, always)),
  );
  expect(outcomes).toMatchObject(sent.map(() => ({ kind: 'written' })));
  expect(requests.map((ids) => ids.join(' '))).toEqual(expected);
});

test('a write that is taken back is not sent, and others take its place in the request', async () => {
  const { batcher, requests } = sending();
  const sent = ['a1', 'a2', 'a3', 'a4'].map((id) => batcher.send(insert(id), false, () => id !== 'a1'));
  expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['taken back', 'written', 'written', 'written']);
  expect(requests).toEqual([['a2', 'a3', 'a4']]);
});

test('each write of a batch hears its own outcome', async () => {
  const { batcher } = sending();
  await batcher.send(insert('a2'), false, always);
  const outcomes = await Promise.all(['a1', 'a2', 'a3'].map((id) => batcher.send(insert(id), false, always)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'written']);
});

test('a measured round trip does not include the wait for room before the request leaves', async () => {
  const runtime = new VirtualRuntime();
  const memory = memoryDriver();
  const driver: Driver = {
    ...memory,
    write: async (writes, options) => (await runtime.sleep(10), memory.write(writes, options)),
  };
  const provider = { table: 'users', driver, counters: newCounters() };
  const limit = new RequestLimit(runtime, 1);
  const batcher = new WriteBatcher(provider, limit);
  await runtime.run(Promise.all(['a', 'b', 'c'].map((id) => batcher.send(insert(id), true, always))));
  expect([limit.roundTripMs, limit.meanRoundTripMs]).toEqual([10, 10]);
});
