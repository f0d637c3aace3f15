// How much a read asks for of a container that the process does not know.
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { createEngine } from '../../../shared/store/engine/engine.ts';
import { AdaptiveLimit } from '../../../shared/store/io/adaptive-limit.ts';
import { Clock } from '../../../shared/store/io/clock.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { RecentContainers } from '../../../shared/store/io/recent-containers.ts';
import { leavesOf } from '../rules/structure.ts';
import { World } from '../rules/world.ts';

const KEYS = Array.from({ length: 64 }, (_, number) => `k${number}`);

/** A table of 16 leaves with 64 such records, and the requests that a fresh process sends for a get of each, those for the root left out. */
async function requestsFor(value: string): Promise<string[][]> {
  const world = new World({ limits: {} });
  const writer = await world.run(world.process().store.table<string>('t', { containers: 16 }));
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

test('where containers are small one that is not known is read whole, once some have shown it', async () => {
  const sent = await requestsFor('small');
  expect(sent[0]).toEqual(['c,h', expect.stringContaining('p') as string]);
  const first = sent.findIndex(([request]) => request === 'whole');
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(16);
  const later = sent.slice(first).filter((requests) => requests.length > 0);
  expect(later.every((requests) => requests.length === 1)).toBe(true);
});

test('where containers are large one that is not known is asked for its header first, and for a page then', async () => {
  const sent = await requestsFor('large'.padEnd(20_000, '.'));
  expect(sent.flat()).not.toContain('whole');
  expect(sent.filter((requests) => requests.length === 2).length).toBeGreaterThan(16);
});

test('a header that the caller saw last is not decoded again, where the cache has no room for it', async () => {
  const world = new World();
  const { runtime, state } = world;
  const table = await world.run(world.process().store.table<string>('t', { order: 'key' }));
  await world.run(table.putMany(KEYS.map((key) => ({ key, value: key.padEnd(2_000, '.') }))));
  const shared = {
    runtime,
    clock: new Clock(runtime),
    cache: new ContainerCache(1_024),
    recentContainers: new RecentContainers(),
    deadlines: new Deadlines(runtime, 30_000),
    readLimit: new AdaptiveLimit(runtime),
    writeLimit: new AdaptiveLimit(runtime),
    limitCommits: pLimit(8),
    compression: 'none' as const,
    compressor: runtime.newCompressor(),
  };
  const { reader } = createEngine(shared, { table: 't', driver: memoryDriver({ state }) });
  const [leaf] = leavesOf(state, 't');
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
