// An aborted call rejects as fetch's callers expect, and hides no write that may have taken effect.
// An error of a driver that is no StoreError reaches its caller, and harms nobody else.
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { type CallOptions, openStore, type PutOutcome, StoreError, type Table } from '../../../shared/store/index.ts';
import { quiet } from '../../support/virtual-runtime.ts';
import { opened } from '../rules/table-steps.ts';
import { isWriteOf, text, TINY, World } from '../rules/world.ts';

test.each([
  ['AbortError', 'the call was aborted', undefined],
  ['AbortError', 'the call was aborted', new Error('enough')],
  ['AbortError', 'the call was aborted', 'a text'],
  ['TimeoutError', 'the deadline passed', new DOMException('timed out', 'TimeoutError')],
  ['TimeoutError', 'the deadline passed', runInNewContext("Object.assign(new Error(), { name: 'TimeoutError' })")],
])('each call that a signal ended has the name %s and says that %s: %s', async (name, told, reason) => {
  await using store = openStore({ driver: memoryDriver() });
  const table = await store.table<number>('things');
  const signal = AbortSignal.abort(reason);
  const calls = [
    () => table.get('k', { signal }),
    () => table.put('k', 1, { signal }),
    () => table.update('k', () => 1, { signal }),
    () => table.count({ signal }),
    () => store.table('others', { signal }),
    () => store.tables({ signal }),
  ];
  for (const call of calls) {
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreError);
    const message = expect.stringContaining(told) as string;
    expect(error).toMatchObject({ name, message, code: 'aborted', retryable: true, cause: signal.reason as unknown });
  }
  await expect(table.put('k', 1, { signal })).rejects.toThrow(`${told} before anything was written`);
  const [outcome] = await table.putMany([{ key: 'k', value: 1 }], { signal });
  expect(outcome).toMatchObject({ status: 'failed', error: { name, code: 'aborted' } });
  expect(await table.has('k')).toBe(false);
});

test('a call whose deadline passed has the name TimeoutError', async () => {
  const { world, process, table } = await opened();
  process.rule(() => ({ reply: new Promise(() => undefined) }));
  await expect(world.run(table.get('k', { timeoutMs: 100 }))).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a call aborted while its write is under way is unknown by code and name, and keeps the reason', async () => {
  const { world, process, table } = await opened();
  const ending = new AbortController();
  process.once(isWriteOf('patch'), () => {
    ending.abort();
    return { reply: new Promise(() => undefined) };
  });
  const error: unknown = await world
    .run(table.put('k', 'v', { signal: ending.signal }))
    .catch((caught: unknown) => caught);
  const cause: unknown = ending.signal.reason;
  expect(error).toMatchObject({ name: 'StoreError', code: 'unknown', key: 'k', cause });
  expect((await world.run(table.get('k')))?.value).toBe('v');
});

test('a bulk call that outlives close sends nothing more: what it had not sent is aborted', async () => {
  const { world, process, table } = await opened<number>();
  process.rule((call) => (call.kind === 'write' ? new Promise(() => undefined) : undefined));
  const writing = table.putMany(Array.from({ length: 6_000 }, (_, index) => ({ key: `k${index}`, value: 1 })));
  await world.run(process.store.close());
  const codes = (await world.run(writing)).map((outcome) => outcome.status === 'failed' && outcome.error.code);
  expect(new Set(codes)).toEqual(new Set(['aborted']));
  expect(codes).toHaveLength(6_000);
});

/** Each changes at least the record that is there. */
const WRITES: Readonly<Record<string, (table: Table<unknown>, options: CallOptions) => Promise<unknown>>> = {
  put: (table, options) => table.put('g/a', 2, options),
  'put, which splits a leaf,': (table, options) => table.put('g/a', text(2, 2_500), options),
  update: (table, options) => table.update('g/a', () => 2, options),
  delete: (table, options) => table.delete('g/a', options),
  batch: (table, options) =>
    table.batch(
      [
        { key: 'g/a', value: 2 },
        { key: 'g/b', value: 2 },
      ],
      options,
    ),
  clear: (table, options) => table.clear(options),
  putMany: (table, options) =>
    table.putMany(
      ['g/a', 'g/b'].map((key) => ({ key, value: 2 })),
      options,
    ),
};

/** Aborts a write `count` microtasks after it began, or after the room came that it waited for. */
async function abortedAfter(count: number, verb: string, waitsForRoom: boolean) {
  const world = new World({ limits: { ...TINY, inFlightMax: 1 } });
  const { process, store, table } = await opened<unknown>({ order: 'key', groupBy: '/' }, world);
  await world.run(table.put('f/a', text(1, 2_500)));
  await world.run(table.put('g/a', 1));
  const other = await world.run(store.table<number>('other'));
  const [room, ending] = [Promise.withResolvers<undefined>(), new AbortController()];
  if (waitsForRoom) process.once(isWriteOf('patch'), { reply: room.promise });
  const busy = waitsForRoom ? other.put('k', 1) : undefined;
  await quiet();
  const writing = WRITES[verb]!(table, { signal: ending.signal });
  if (waitsForRoom) await quiet();
  room.resolve(undefined);
  for (let passed = 0; passed < count; passed += 1) await Promise.resolve();
  ending.abort();
  const [answer] = await world.run(Promise.allSettled([writing, busy]));
  await world.runtime.advance(60_000);
  const isWritten = (await world.run(table.get('g/a')))?.value !== 1;
  return { codes: codesOf(answer), isWritten };
}

function codesOf(answer: PromiseSettledResult<unknown>): string[] {
  if (answer.status === 'rejected') return [(answer.reason as StoreError).code];
  const outcomes = Array.isArray(answer.value) ? (answer.value as (PutOutcome | object)[]) : [];
  return outcomes.length === 0 ? ['done'] : outcomes.map((one) => ('error' in one ? one.error.code : 'done'));
}

test.each(Object.keys(WRITES).flatMap((verb) => [[verb, false] as const, [verb, true] as const]))(
  '%s that is aborted at any microtask tells of nothing written only if that stays so (it waits for room: %s)',
  async (verb, waitsForRoom) => {
    const seen = new Set<string>();
    const wrong: unknown[] = [];
    for (let count = 0; !seen.has('done'); count += 1) {
      const { codes, isWritten } = await abortedAfter(count, verb, waitsForRoom);
      for (const code of codes) {
        seen.add(code);
        if (code !== 'unknown' && isWritten !== (code === 'done')) wrong.push({ count, code, isWritten });
      }
    }
    expect(wrong).toEqual([]);
    expect([...seen].toSorted()).toEqual(['aborted', 'done', 'unknown']);
  },
);

const FOREIGN = new TypeError('fetch failed');

test('put and putMany reject with a foreign error, and the container takes writes as before', async () => {
  const near = memoryDriver();
  let isBroken = false;
  const read: Driver['read'] = (requests, options) => {
    if (!isBroken) return near.read(requests, options);
    isBroken = false;
    return Promise.reject(FOREIGN);
  };
  const table = await openStore({ driver: { ...near, read }, timeoutMs: 2_000 }).table<number>('t');
  await table.put('x', 1);
  for (const call of [
    () => table.put('x', 2, { ifAbsent: true }),
    () => table.putMany([{ key: 'x', value: 2, ifAbsent: true }]),
  ]) {
    isBroken = true;
    await expect(call()).rejects.toThrow(FOREIGN);
    await table.put('y', 3);
    expect((await table.get('y'))?.value).toBe(3);
    expect(table.stats().queueDepth).toBe(0);
  }
});

test('getMany rejects with a foreign error, though reads of other leaves fail later', async () => {
  const near = memoryDriver();
  let isBroken = false;
  let reads = 0;
  const read: Driver['read'] = async (requests, options) => {
    if (!isBroken) return near.read(requests, options);
    await sleep(10 * (reads += 1) * (reads % 2));
    throw FOREIGN;
  };
  const driver: Driver = { ...near, limits: { ...near.limits, readsMax: 1 }, read };
  const store = openStore({ driver, timeoutMs: 2_000, cacheBytesMax: 32 * 1024 });
  const table = await store.table<number>('t', { containers: 8 });
  const keys = Array.from({ length: 100 }, (_, number) => `k${number}`);
  await table.putMany(keys.map((key) => ({ key, value: 1 })));
  isBroken = true;
  await expect(table.getMany(keys)).rejects.toThrow(FOREIGN);
  expect(reads).toBeGreaterThan(2);
  // The last of them have failed by then; a rejection that nobody handles fails the run.
  await sleep(100);
});
