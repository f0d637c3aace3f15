// Which parts of a container a read asks for, and when its request is sent.
import { expect, onTestFinished, test, vi } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { openStore } from '../../../shared/store/index.ts';
import { RequestLimit } from '../../../shared/store/io/requests.ts';
import { engineOn } from '../engine/engine-on.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { opened, twoProcesses } from '../rules/table-steps.ts';
import { key, text, World } from '../rules/world.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

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

test.each([100, 5, 1])('with %i reads per request, no departure is asked for without a request', async (readsMax) => {
  const { world, process, table } = await opened({ containers: 16 }, new World({ limits: { readsMax } }));
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key }))));
  await world.run(table.getMany(KEYS));
  process.takeCalls();
  const run = vi.spyOn(RequestLimit.prototype, 'run');
  onTestFinished(() => run.mockRestore());
  await world.run(table.getMany(KEYS));
  const requests = process.takeCalls().map((call) => (call.kind === 'read' ? call.requests.length : 0));
  const leaves = requests.reduce((sum, count) => sum + count, 0);
  expect(leaves).toBeGreaterThan(10);
  expect(requests.length).toBe(Math.ceil(leaves / readsMax));
  expect(run).toHaveBeenCalledTimes(requests.length);
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
