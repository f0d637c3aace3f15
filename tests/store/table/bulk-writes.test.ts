// Calls of many items: in waves of distinct keys by position, and from an async iterable slice
// after slice, two of them in memory.
import { beforeAll, expect, test } from 'vitest';
import type { Order, PutItem } from '../../../shared/store/index.ts';
import { compareBytes } from '../../../shared/store/format/bytes.ts';
import { type Position, positionsOf } from '../../../shared/store/format/position.ts';
import { Turns } from '../../../shared/store/io/turns.ts';
import { loadHash } from '../../../shared/store/system/hash.ts';
import { wavesOf } from '../../../shared/store/table/write.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { newStore } from '../../support/opened.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { opened } from '../rules/table-steps.ts';

type Places = ({ readonly position: Position } | undefined)[];

const turns = new Turns(new VirtualRuntime());

beforeAll(loadHash);

function placesOf(keys: readonly string[], order: Order): Places {
  return keys.map((key) => ({ position: positionsOf(order, 0)(Buffer.from(key)) }));
}

/** The same by comparing whole positions. */
function expected(places: readonly { readonly position: Position }[]): number[][] {
  const waves: number[][] = [[]];
  const seen = new Map<string, number>();
  const positionAt = (index: number): Position => places[index]!.position;
  for (const index of [...places.keys()].sort((a, b) => compareBytes(positionAt(a), positionAt(b)) || a - b)) {
    const name = Buffer.from(positionAt(index)).toString('hex');
    const wave = seen.get(name) ?? 0;
    seen.set(name, wave + 1);
    (waves[wave] ??= []).push(index);
  }
  return waves;
}

test.each<Order>(['hash', 'key'])(
  'waves of order %s are in order of position, equal keys in the order given, items without a position first',
  async (order) => {
    const draw = seededRandom(1);
    const places = placesOf(
      Array.from({ length: 12_345 }, () => `key${Math.floor(draw() * 24_690)}`),
      order,
    );
    expect(await wavesOf(places, turns)).toEqual(expected(places as { position: Position }[]));
    const [a, b] = placesOf(['a', 'b'], order);
    const [first, second] = await wavesOf([undefined, a, undefined, b, a, undefined], turns);
    expect([first!.slice(0, 3), second]).toEqual([[0, 2, 5], [4]]);
  },
);

const SLICE = 5_000;
const SLICE_BYTES = 8 * 1024 * 1024;

/** Gives the items, then waits for `behind`, and tells whether it was closed. */
function sourceOf<T>(items: Iterable<T>, behind: () => Promise<void> = async () => {}) {
  const told = { given: 0, isClosed: false };
  async function* source(): AsyncGenerator<T> {
    try {
      for (const item of items) {
        told.given += 1;
        yield item;
      }
      await behind();
    } finally {
      told.isClosed = true;
    }
  }
  return { told, items: source() };
}

function* numbered(count: number): Generator<PutItem<number>> {
  for (let value = 0; value < count; value += 1) yield { key: `k${value}`, value };
}

function never(): Promise<void> {
  return new Promise(() => undefined);
}

test('a write of many items holds two slices at most', async () => {
  const table = await newStore().table('things');
  const { told, items } = sourceOf(numbered(4 * SLICE));
  async function* keys() {
    for await (const { key } of items) yield key;
  }
  let heldMost = 0;
  let absent = 0;
  for await (const { status } of table.deleteMany(keys())) {
    heldMost = Math.max(heldMost, told.given - absent);
    if (status === 'absent') absent += 1;
  }
  expect(absent).toBe(4 * SLICE);
  expect(heldMost).toBeGreaterThan(SLICE);
  expect(heldMost).toBeLessThanOrEqual(2 * SLICE);
});

test('a write of large values holds two slices of 8 MiB at most', async () => {
  const bytes = 400_000;
  const table = await newStore().table('things', { codec: 'bytes' });
  function* large() {
    // They are encoded, but their condition keeps them from being stored.
    for (let n = 0; n < 300; n += 1) yield { key: `k${n}`, value: new Uint8Array(bytes), ifVersion: 'none' };
  }
  const { told, items } = sourceOf(large());
  let heldMost = 0;
  let outcomes = 0;
  for await (const { status } of table.putMany(items)) {
    heldMost = Math.max(heldMost, told.given - outcomes);
    outcomes += 1;
    expect(status).toBe('failed');
  }
  expect(outcomes).toBe(300);
  // The item that fills a slice may exceed it.
  expect(heldMost * bytes).toBeLessThanOrEqual(2 * (SLICE_BYTES + bytes));
});

test('equal keys of two slices take effect in order, and outcomes come in order', async () => {
  const table = await newStore().table<number>('things');
  function* twice() {
    for (const { key } of numbered(SLICE + 10)) yield { key, value: 1 };
    for (const { key } of numbered(SLICE + 10)) yield { key, value: 2 };
  }
  const outcomes = await Array.fromAsync(table.putMany(sourceOf(twice()).items));
  expect(outcomes.map(({ key }) => key)).toEqual([...twice()].map(({ key }) => key));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['written']));
  const values = await Array.fromAsync(table.scan(), ({ value }) => value);
  expect(values).toHaveLength(SLICE + 10);
  expect(new Set(values)).toEqual(new Set([2]));
});

test.each([
  ['that its source throws', new Error('broken pipe'), 'broken pipe'],
  ['of an item that is a misuse', undefined, 'item 3 of table.putMany has no option "ttl"'],
])('an error %s comes behind the outcomes of what was given before', async (_, thrown, told) => {
  const table = await newStore().table<number>('things');
  async function* source() {
    yield* numbered(3);
    if (thrown !== undefined) throw thrown;
    yield { key: 'k', value: 1, ttl: 5 };
  }
  const statuses: string[] = [];
  const putting = async () => {
    for await (const { status } of table.putMany(source())) statuses.push(status);
  };
  await expect(putting()).rejects.toThrow(told);
  expect(statuses).toEqual(['written', 'written', 'written']);
  expect(await table.count()).toBe(3);
});

test('nothing is read before the outcomes are iterated, but a misuse of options is told at once', async () => {
  const table = await newStore().table<number>('things');
  const { told, items } = sourceOf(numbered(3));
  table.putMany(items);
  expect(await table.count()).toBe(0);
  expect(told.given).toBe(0);
  expect(() => table.putMany(items, { ttlMs: 5 } as never)).toThrow('table.putMany has no option "ttlMs"');
  expect(() => table.deleteMany(table.keys(), { ttlMs: 5 } as never)).toThrow('table.deleteMany has no option "ttlMs"');
});

test('a caller that leaves the loop closes the source, and no further slice is written', async () => {
  const table = await newStore().table<number>('things');
  const { told, items } = sourceOf(numbered(10 * SLICE));
  for await (const { status } of table.putMany(items)) {
    expect(status).toBe('written');
    break;
  }
  expect(told.isClosed).toBe(true);
  expect(told.given).toBeLessThanOrEqual(2 * SLICE);
  expect(await table.count()).toBe(SLICE);
});

test('a caller that leaves the loop does not wait for a silent source', async () => {
  const table = await newStore().table<number>('things');
  for await (const { status } of table.putMany(sourceOf(numbered(SLICE + 1), never).items)) {
    expect(status).toBe('written');
    break;
  }
  expect(await table.count()).toBe(SLICE);
});

test('a signal ends the wait for a silent source, behind the outcomes of what was sent', async () => {
  const table = await newStore().table<number>('things');
  const ending = new AbortController();
  const { items } = sourceOf(numbered(SLICE + 1), async () => {
    ending.abort();
    await never();
  });
  let written = 0;
  const putting = async () => {
    for await (const { status } of table.putMany(items, { signal: ending.signal }))
      if (status === 'written') written += 1;
  };
  const message = 'the call was aborted before the source was read to its end';
  await expect(putting()).rejects.toMatchObject({ name: 'AbortError', code: 'aborted', message });
  expect(await table.count()).toBe(written);
});

test('a store that closes ends the wait for a silent source', async () => {
  const { world, process, table } = await opened<number>();
  const { items } = sourceOf(numbered(1), never);
  const first = table.putMany(items)[Symbol.asyncIterator]().next();
  const closing = world.run(process.store.close());
  await expect(world.run(first)).rejects.toMatchObject({ code: 'aborted' });
  await closing;
});

test('each slice has a deadline of its own, and the source none', async () => {
  const { world, table } = await opened<number>({}, undefined, { compression: 'zstd' });
  const timeoutMs = 5_000;
  async function* slow() {
    for (const item of numbered(SLICE + 2)) {
      if (item.value >= SLICE) await world.runtime.sleep(2 * timeoutMs);
      yield item;
    }
  }
  const outcomes = await world.run(Array.fromAsync(table.putMany(slow(), { timeoutMs })));
  expect(outcomes).toHaveLength(SLICE + 2);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['written']));
});
