// Which parts of a container a read asks for, when its request is sent, and when a second time.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type Driver, type Entity, SILENCE_MS } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { openStore } from '../../../shared/store/index.ts';
import { engineOn } from '../engine/engine-on.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { opened, twoProcesses } from '../rules/table-steps.ts';
import { key, text, World } from '../rules/world.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { Hedge } from '../../../shared/store/io/reads.ts';

/** The requests that `fullOfChecks` allows in flight. */
const IN_FLIGHT = 8;
const KEYS = Array.from({ length: 64 }, (_, number) => `k${number}`);

/** The read requests of a fresh process per get of 64 records in 16 leaves, without the root's. */
async function requestsFor(value: string): Promise<string[][]> {
  const { world, table: writer } = await opened({ containers: 16 }, new World({ limits: {} }));
  await world.run(writer.putMany(KEYS.map((key) => ({ key, value }))));
  const fresh = world.process({ cacheBytesMax: 16 * 1024 });
  const table = await world.run(fresh.store.table<string>('t'));
  const sent: string[][] = [];
  for (const key of KEYS) {
    fresh.takeCalls();
    await world.run(table.get(key));
    const requests = fresh.takeCalls().flatMap((call) => (call.kind === 'read' ? call.requests : []));
    const ofLeaves = requests.filter(({ id }) => id.startsWith('n!'));
    sent.push(ofLeaves.map(({ parts }) => (parts === 'all' ? 'whole' : parts.join())));
  }
  return sent;
}

test('unknown containers are read whole once those read before have been small', async () => {
  const sent = await requestsFor('small');
  expect(sent[0]).toEqual(['c,h', 'c,h,p0']);
  const first = sent.findIndex(([request]) => request === 'whole');
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(16);
  const later = sent.slice(first).filter((requests) => requests.length > 0);
  expect(later.every((requests) => requests.length === 1)).toBe(true);
});

test('of a large unknown container the header is read before the page, of an evicted one both at once', async () => {
  const sent = await requestsFor('large'.padEnd(20_000, '.'));
  const first = sent.filter((requests) => requests.length === 2);
  expect(first.length).toBeGreaterThan(10);
  expect(first.length).toBeLessThanOrEqual(16);
  for (const requests of first) expect(requests).toEqual(['c,h', expect.stringMatching(/^c,h,p\d+$/) as string]);
  const others = sent.filter((requests) => requests.length !== 2);
  expect(others.length).toBeGreaterThan(30);
  for (const requests of others) expect(requests).toEqual([expect.stringMatching(/^c,h,p\d+$/)]);
});

test.each(['hash', 'key'] as const)(
  'order %s: of the small layers above a base, a get reads only the pages that may have its key',
  async (order) => {
    const world = new World({ limits: {} });
    const table = await world.run(world.process().store.table<string>('t', { order }));
    const keys = Array.from({ length: 400 }, (_, number) => key(number));
    await world.run(table.putMany(keys.map((name) => ({ key: name, value: 'base'.padEnd(500, name) }))));
    const written = keys.filter((_, number) => number % 7 === 0);
    for (const name of written) await world.run(table.put(name, 'above'));
    const fresh = world.process({ cacheBytesMax: 16 * 1024 });
    const read = await world.run(fresh.store.table<string>('t'));
    await world.run(read.get('none'));
    let pages = 0;
    for (const name of keys) {
      fresh.takeCalls();
      const value = (await world.run(read.get(name)))?.value;
      expect(value?.startsWith(written.includes(name) ? 'above' : 'base')).toBe(true);
      for (const call of fresh.takeCalls())
        for (const { id, parts } of call.kind === 'read' ? call.requests : [])
          if (id.startsWith('n!')) pages += parts === 'all' ? 100 : parts.filter((part) => part.startsWith('p')).length;
    }
    const layers = leavesOf(world.state, 't').map(({ header }) => header.layers.length);
    expect(Math.max(...layers)).toBeGreaterThan(3);
    expect(pages / keys.length).toBeLessThan(1.5);
  },
);

test('a small leaf that another process wrote to is read whole, as its new pages are not known', async () => {
  const { world, b, tableA, tableB } = await twoProcesses(new World({ limits: {} }));
  await world.run(tableA.put(key(1), 'one'));
  await world.run(tableB.get(key(1)));
  await world.run(tableA.put(key(2), 'two'));
  b.takeCalls();
  expect((await world.run(tableB.get(key(2))))?.value).toBe('two');
  const parts = b.takeCalls().flatMap((call) => (call.kind === 'read' ? call.requests.map((one) => one.parts) : []));
  expect(parts).toEqual([['c'], 'all']);
});

test('a lost read of a few pages is repeated after the time of these pages, not of the whole leaf', async () => {
  const world = new World({ limits: {} });
  const { a, tableA, tableB } = await twoProcesses(world);
  const items = Array.from({ length: 300 }, (_, number) => ({ key: key(number), value: text(number, 1_000) }));
  await world.run(tableA.putMany(items));
  await world.run(tableB.put(key(7), 'of another'));
  let lost = 0;
  a.rule((call) =>
    call.kind === 'read' && (lost += 1) === 1 ? world.runtime.sleep(3_600_000).then(() => undefined) : undefined,
  );
  const begunMs = world.runtime.monotonicMs();
  await world.run(tableA.put(key(8), 'new'));
  expect(lost).toBeGreaterThan(1);
  expect(world.runtime.monotonicMs() - begunMs).toBeLessThan(3_000);
});

test('a read that waits because it was throttled is not sent a second time', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver();
  let [reads, isThrottling] = [0, false];
  const driver: Driver = {
    ...near,
    read: (requests, options) => {
      reads += 1;
      if (isThrottling && reads < 4) throw new StoreError('throttled', 'said by a test', { retryAfterMs: 2_000 });
      return near.read(requests, options);
    },
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t'));
  await runtime.run(table.put('k', 1));
  [reads, isThrottling] = [0, true];
  expect((await runtime.run(table.get('k')))?.value).toBe(1);
  expect([reads, table.stats().readRequests]).toEqual([4, 1]);
});

/** 16 leaves that are read one per request, with as many checks held back as may be in flight. */
async function fullOfChecks() {
  const {
    world,
    process: reader,
    table,
  } = await opened({ containers: 16 }, new World({ limits: { readsMax: 1, inFlightMax: IN_FLIGHT } }));
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key }))));
  const keyOf = new Map<string, string>();
  for (const key of KEYS) {
    reader.takeCalls();
    await world.run(table.get(key));
    for (const call of reader.takeCalls()) if (call.kind === 'read') keyOf.set(call.requests[0]!.id, key);
  }
  const held: PromiseWithResolvers<undefined>[] = [];
  reader.rule((call) => {
    if (call.kind !== 'read') return undefined;
    held.push(Promise.withResolvers());
    return held.at(-1)!.promise;
  });
  const gets: Promise<unknown>[] = [];
  const keys = [...keyOf.values()];
  const get = async (leaf: number): Promise<void> => {
    gets.push(table.get(keys[leaf]!));
    await world.runtime.advance(0);
  };
  for (let leaf = 0; leaf < IN_FLIGHT; leaf += 1) await get(leaf);
  expect(held).toHaveLength(IN_FLIGHT);
  /** Answers the check that was sent last. */
  const answer = async (): Promise<void> => {
    held.pop()!.resolve(undefined);
    await world.runtime.advance(0);
  };
  /** Answers all checks, and returns what the gets found. */
  const found = async (): Promise<unknown[]> => {
    while (held.length > 0) await answer();
    return world.run(Promise.all(gets));
  };
  return { runtime: world.runtime, get, answer, found };
}

test('a check that waits for another does not keep later reads from being sent', async () => {
  const { runtime, get, found } = await fullOfChecks();
  runtime.share = 1;
  await get(0);
  await get(8);
  runtime.share = 0;
  expect(await found()).not.toContain(undefined);
});

test('a check that must wait again when its request could leave does not keep later reads from being sent', async () => {
  const { runtime, get, answer, found } = await fullOfChecks();
  await get(0);
  runtime.share = 1;
  await answer();
  await get(8);
  await get(9);
  runtime.share = 0;
  expect(await found()).not.toContain(undefined);
});

test.each([100, 5, 1])('with %i reads per request, as few requests are sent as take all reads', async (readsMax) => {
  const { world, process, table } = await opened({ containers: 16 }, new World({ limits: { readsMax } }));
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key }))));
  await world.run(table.getMany(KEYS));
  process.takeCalls();
  await world.run(table.getMany(KEYS));
  const requests = process.takeCalls().map((call) => (call.kind === 'read' ? call.requests.length : 0));
  const leaves = requests.reduce((sum, count) => sum + count, 0);
  expect(leaves).toBeGreaterThan(10);
  expect(requests.length).toBe(Math.ceil(leaves / readsMax));
});

test('a header that the caller still has is not decoded again, even if the cache has no room for it', async () => {
  const { world, table } = await opened({ order: 'key' });
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key.padEnd(2_000, '.') }))));
  const { reader } = engineOn(world.runtime, memoryDriver({ state: world.state }), 1_024);
  const [leaf] = leavesOf(world.state, 't');
  const seen = await world.run(reader.readPages(leaf!.id, []));
  const [{ slot, content } = { slot: -1, content: undefined }] = seen!.header.pages;
  expect(content?.isKnown).toBe(false);
  const again = await world.run(reader.readPages(leaf!.id, [slot], seen));
  expect(again!.header).toBe(seen!.header);
  expect(content?.isKnown).toBe(true);
  // Not once it changed.
  await world.run(table.put(KEYS[0]!, 'changed'));
  const changed = await world.run(reader.readPages(leaf!.id, [slot], seen));
  expect(changed!.header.commitCount).toBe(seen!.header.commitCount + 1);
});

const NEVER = 3_600_000;

/** A hedge, and a `send` whose requests fail or are answered by their number, after these times. */
function hedged(answersMs: readonly number[], failing: readonly number[] = []) {
  const runtime = new VirtualRuntime();
  const deadlines = new Deadlines(runtime, 10_000);
  const hedge = new Hedge(deadlines);
  const sentMs: number[] = [];
  const send = async (): Promise<number> => {
    const number = sentMs.push(runtime.monotonicMs());
    await runtime.sleep(answersMs[number - 1]!);
    if (failing.includes(number)) throw new Error(`${number} fails`);
    return number;
  };
  return { runtime, deadlines, sentMs, ask: (bytes = 0) => hedge.ask(send, bytes, () => false) };
}

test.each([
  { what: 'comes within a second', answersMs: [999], told: 1, tookMs: 999 },
  { what: 'is lost', answersMs: [NEVER, 20], told: 2, tookMs: 1_020 },
  { what: 'comes late, but first', answersMs: [1_010, 500], told: 1, tookMs: 1_010 },
  { what: 'fails soon', answersMs: [20], failing: [1], told: '1 fails', tookMs: 20 },
  { what: 'fails late', answersMs: [1_010, 500], failing: [1], told: 2, tookMs: 1_500 },
  { what: 'comes after the second failed', answersMs: [1_500, 20], failing: [2], told: 1, tookMs: 1_500 },
  { what: 'fails after the second failed', answersMs: [1_500, 20], failing: [1, 2], told: '1 fails', tookMs: 1_500 },
])('if the first reply $what, the caller hears $told after $tookMs ms', async (row) => {
  const { answersMs, failing = [], told, tookMs } = row;
  const { runtime, ask, sentMs } = hedged(answersMs, failing);
  expect(await runtime.run(ask().catch((error: Error) => error.message))).toBe(told);
  expect(runtime.monotonicMs()).toBe(tookMs);
  expect(sentMs).toEqual(tookMs < 1_000 ? [0] : [0, 1_000]);
});

test('a large reply has the time of a slow link before it is asked for again', async () => {
  const { runtime, ask, sentMs } = hedged([60_000]);
  expect(await runtime.run(ask(1024 * 1024))).toBe(1);
  expect(sentMs.length).toBe(1);
});

test('of several late replies only one at a time is asked for again', async () => {
  const { runtime, ask, sentMs } = hedged([4_000, 4_000, 4_000, 2_000, 4_000, 10]);
  const first = [ask(), ask(), ask()];
  await runtime.run(Promise.any(first));
  expect(sentMs).toEqual([0, 0, 0, 1_000]);
  await runtime.run(Promise.all(first));
  expect(await runtime.run(ask())).toBe(6);
  expect(sentMs.length).toBe(6);
});

test('no reply is asked for again once the store is closed', async () => {
  const { runtime, deadlines, ask, sentMs } = hedged([4_000]);
  const asked = ask();
  deadlines.close(new StoreError('aborted', 'said by a test'));
  expect(await runtime.run(asked)).toBe(1);
  expect(sentMs).toEqual([0]);
});

test('getMany over a slow link reads every byte once, in requests of about a megabyte', async () => {
  const runtime = new VirtualRuntime();
  const driver = memoryDriver({ limits: { readsMax: 1_000 } });
  const [bytesPerMs, pieceBytes, recordBytes] = [2_048, 16_384, 3_000];
  const keys = Array.from({ length: 4_000 }, (_, number) => key(number));
  const filler = await runtime.run(openStore({ driver, runtime, compression: 'none' }).table<string>('t'));
  await runtime.run(filler.putMany(keys.map((name) => ({ key: name, value: text(name, recordBytes) }))));
  // The replies share its bandwidth piece by piece, as in HTTP/2.
  const link = { freeMs: 0, bytes: 0, largestBytes: 0 };
  const read: Driver['read'] = async (requests, options) => {
    const entities = await driver.read(requests, options);
    const bytes = entities.reduce((sum, entity) => sum + bytesIn(entity), 0);
    link.bytes += bytes;
    link.largestBytes = Math.max(link.largestBytes, bytes);
    for (let left = bytes; left > 0; left -= pieceBytes) {
      const nowMs = runtime.monotonicMs();
      link.freeMs = Math.max(link.freeMs, nowMs) + Math.min(left, pieceBytes) / bytesPerMs;
      await runtime.sleep(link.freeMs - nowMs);
      if (link.freeMs > nowMs + SILENCE_MS) throw new StoreError('unavailable', 'said by a test');
    }
    return entities;
  };
  const table = await runtime.run(openStore({ driver: { ...driver, read }, runtime }).table<string>('t'));
  link.bytes = 0;
  const outcomes = await runtime.run(table.getMany(keys));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['found']));
  expect(link.bytes).toBeGreaterThan(keys.length * recordBytes);
  expect(link.bytes).toBeLessThan(1.1 * keys.length * recordBytes);
  expect(link.largestBytes).toBeLessThan(2 * 1024 * 1024);
});

function bytesIn(entity: Entity | undefined): number {
  return [...(entity?.parts.values() ?? [])].reduce((sum, { byteLength }) => sum + byteLength, 0);
}
