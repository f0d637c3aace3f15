// A vacuum that merges: its wait, damage, and leaves that stay as they are.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { faultsOf, leavesOf, storedNode } from './tree-of.ts';
import { begun, items, keys, opened, retireOne } from './table-steps.ts';
import { damage, isWriteOf, key, text, World } from './world.ts';
import { partName } from '../../support/ids.ts';

/** Leaves of some hundred pages each. */
const ROOMY = {
  entityBytesMax: 60_000,
  entityOverheadBytes: 100,
  chunkOverheadBytes: 8,
  chunkBytes: 32_768,
  chunksMax: 200,
  listMax: 50,
};

test('a process stays alive while its vacuum waits for quiet', async () => {
  const shared = fileURLToPath(new URL('../../../shared/', import.meta.url));
  const script = `
    import { memoryDriver } from ${JSON.stringify(`${shared}drivers/memory.ts`)};
    import { openStore } from ${JSON.stringify(`${shared}store/index.ts`)};
    const store = openStore({ driver: memoryDriver() });
    await (await store.table('t')).put('a', 'b');
    await store.vacuum('t', { quietMs: 300 });
    console.log('vacuumed');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('vacuumed\n');
});

test('a vacuum that is aborted while it waits for quiet does not hold its store open', async () => {
  const { world, store, table } = await opened({ order: 'key' });
  await world.run(table.put(key(1), text(1)));
  const caller = new AbortController();
  const vacuuming = store.vacuum('t', { quietMs: 60_000, signal: caller.signal });
  await world.runtime.advance(1_000);
  caller.abort();
  expect(await vacuuming).toMatchObject({ merged: 0, cursor: expect.any(String) as string });
  const begunMs = world.runtime.monotonicMs();
  await world.run(store.close());
  expect(world.runtime.monotonicMs() - begunMs).toBe(0);
});

test('a damaged page keeps its container from merging, and no other', async () => {
  const { world, b: vacuumer, table } = await begun();
  await world.run(table.putMany(items(0, 200)));
  await world.run(table.deleteMany(keys(0, 200).filter((_, number) => number % 20 > 0)));
  const { id, header } = leavesOf(world.state, 't')[3]!;
  damage(world, id, partName(`p${header.pages[0]!.slot}`));
  const report = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect(report).toMatchObject({ damaged: 1, busy: 0 });
  const left = leavesOf(world.state, 't');
  expect(left.map((leaf) => leaf.id)).toContain(id);
  expect(left.length).toBeLessThanOrEqual(3);
  // Nobody may write to a leaf that is retired and cannot be taken in.
  expect(left.map((leaf) => leaf.header.state)).toEqual(left.map(() => 'live'));
});

test('a vacuum passes by a retired container with a damaged page, and reports it', async () => {
  const { world, table } = await begun();
  await world.run(table.putMany(items(0, 60)));
  await world.run(table.deleteMany(keys(0, 60).filter((_, number) => number % 5 > 0)));
  const { id, header } = (await retireOne(world, 1_000)).retired;
  damage(world, id, partName(`p${header.pages[0]!.slot}`));
  const report = await world.run(world.process().store.vacuum('t', { quietMs: 1_000 }));
  expect(report).toMatchObject({ left: 0, damaged: 1 });
  expect(storedNode(world.state, 't', id)!.header.state).toBe('retired');
});

test('a vacuum rewrites leaves that nobody writes at most once, however well they compress', async () => {
  const { world, table } = await opened({ order: 'key' }, new World({ limits: ROOMY }), { compression: 'zstd' });
  await world.run(table.putMany(items(0, 6_000)));
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  const vacuum = async (): Promise<number> => {
    const vacuumer = world.process({ compression: 'zstd' });
    await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
    return vacuumer.writes.length;
  };
  await vacuum();
  expect(await vacuum()).toBe(0);
});

test('a vacuum merges by writes whose answers come late, though the merged leaf does not fit with the next', async () => {
  const { world, b: vacuumer, table } = await begun(100);
  const [left, right, next] = leavesOf(world.state, 't');
  const [low, high] = [right!, next!].map(({ header }) => Buffer.from(header.low).toString());
  const names = Array.from({ length: 100 }, (_, number) => key(number));
  await world.run(table.deleteMany(names.filter((name) => name > low! && name < high!)));
  // The process reads only the header to learn that each was applied.
  vacuumer.rule((call) => (isWriteOf('replace', left!.id)(call) ? { reply: world.runtime.sleep(1_500) } : undefined));
  const { merged } = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect(merged).toBeGreaterThanOrEqual(1);
});

/** As Azure: a request holds one read, or writes to one leaf. */
const ALONE = { ...ROOMY, readsMax: 1, lane: (id: string) => id };

/** About a hundred leaves, each of which keeps a sixtieth of its records. */
async function sparse(limits: typeof ROOMY) {
  const { world, table } = await opened({ order: 'key' }, new World({ limits }));
  for (let from = 0; from < 9_000; from += 1_000) {
    await world.run(table.putMany(items(from, from + 1_000, 300)));
    // Delete a round later, as the last leaf may not be full yet.
    await world.run(table.deleteMany(keys(Math.max(0, from - 1_000), from).filter((_, number) => number % 60 > 0)));
  }
  await world.run(table.deleteMany(keys(8_000, 9_000).filter((_, number) => number % 60 > 0)));
  const before = leavesOf(world.state, 't').length;
  const vacuumer = world.process();
  return { world, before, vacuumer };
}

test('a merge takes three writes beside the purges, and a vacuum sends requests side by side, with room for others', async () => {
  const { world, before, vacuumer } = await sparse(ALONE);
  let underWay = 0;
  let most = 0;
  vacuumer.rule(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await world.runtime.sleep(10);
    underWay -= 1;
    return undefined;
  });
  const begunMs = world.runtime.monotonicMs();
  const { merged, purged } = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect([before > 90, before - merged]).toEqual([true, 2]);
  const { writes, calls } = vacuumer;
  expect((writes.length - purged) / merged).toBeLessThan(3.2);
  // A first look, a purge of what is dead and the entries.
  expect(calls.length / merged).toBeLessThan(7.3);
  // A quarter of the 64 reads and of the 64 writes that a store may have in flight.
  expect(most).toBeLessThanOrEqual(32);
  const inARow = (world.runtime.monotonicMs() - begunMs - 1_000) / 10;
  expect(inARow).toBeLessThan(calls.length / 5);
});

test('a merge takes less than one request if the provider takes many entities in one', async () => {
  const { world, vacuumer } = await sparse(ROOMY);
  const { merged } = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect(vacuumer.calls.length).toBeLessThan(merged);
});

test('a vacuum whose time is over reports what it did and where the next one goes on, until all is done', async () => {
  const { world, before, vacuumer } = await sparse(ALONE);
  vacuumer.rule(() => world.runtime.sleep(10).then(() => undefined));
  const reports = [];
  let cursor: string | undefined;
  do {
    const report = await world.run(
      vacuumer.store.vacuum('t', { quietMs: 0, timeoutMs: 400, ...(cursor === undefined ? {} : { cursor }) }),
    );
    reports.push(report);
    ({ cursor } = report);
  } while (cursor !== undefined && reports.length < 100);
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.length).toBeLessThan(100);
  const merged = reports.reduce((sum, report) => sum + report.merged, 0);
  expect(leavesOf(world.state, 't')).toHaveLength(2);
  expect(before - merged).toBe(2);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('a vacuum refuses a cursor that another table gave, or nobody', async () => {
  const { world, store } = await opened();
  await world.run(store.table('u'));
  const caller = new AbortController();
  const vacuuming = store.vacuum('t', { quietMs: 60_000, signal: caller.signal });
  await world.runtime.advance(1_000);
  caller.abort();
  const { cursor = '' } = await vacuuming;
  expect(await world.run(store.vacuum('t', { quietMs: 0, cursor }))).not.toHaveProperty('cursor');
  for (const [name, given] of [
    ['u', cursor],
    ['t', 'none'],
    ['t', ''],
  ] as const)
    await expect(world.run(store.vacuum(name, { quietMs: 0, cursor: given }))).rejects.toMatchObject({
      code: 'invalid',
    });
});

test('a vacuum refuses a senseless quietMs by its name', async () => {
  const { world, store } = await opened();
  for (const quietMs of [-1, Number.NaN, Infinity, 24 * 3_600_000 + 1])
    await expect(world.run(store.vacuum('t', { quietMs }))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('quietMs') as string,
    });
});
