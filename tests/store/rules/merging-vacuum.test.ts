// A vacuum that merges: its wait, damage, and leaves that stay as they are.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { childrenOf } from '../../../shared/store/container/branch.ts';
import { leavesOf, storedNode, storedRoot } from './structure.ts';
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

test('the wait for quiet ends with its call: nothing holds the store open', async () => {
  const { world, store, table } = await opened({ order: 'key' });
  await world.run(table.put(key(1), text(1)));
  const caller = new AbortController();
  const vacuuming = store.vacuum('t', { quietMs: 60_000, signal: caller.signal });
  const ended = vacuuming.catch((error: unknown) => error);
  await world.runtime.advance(1_000);
  caller.abort();
  expect(await ended).toMatchObject({ code: 'aborted' });
  const begunMs = world.runtime.monotonicMs();
  await world.run(store.close());
  expect(world.runtime.monotonicMs() - begunMs).toBe(0);
});

test('a put finds its leaf where an entry leads back to the leaf that sends it on, and memory holds neither', async () => {
  const { world, table } = await opened({ order: 'key' }, new World({ limits: ROOMY }));
  await world.run(table.putMany(items(0, 1_200)));
  await world.run(table.deleteMany(keys(0, 700).filter((_, number) => number % 100 > 0)));
  // The vacuum ends when it has merged, and before it drops the entries that are left over.
  const vacuumer = world.process();
  const namedBy = (): number => new Set(childrenOf(storedRoot(world.state, 't'), 't').map(({ child }) => child)).size;
  const hasMerged = (): boolean => leavesOf(world.state, 't').length <= 4 && namedBy() === 4;
  vacuumer.rule(() => (hasMerged() ? { fail: 'unavailable' } : undefined));
  await expect(world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }))).rejects.toMatchObject({ code: 'unknown' });
  // The merged leaf splits again, to the left of the separators that still name it.
  const low = await world.run(world.process().store.table<string>('t'));
  await world.run(low.putMany(items(0, 520).map(({ key: name, value }) => ({ key: `k0000-${name}`, value }))));
  await world.run(world.runtime.sleep(20_000));
  const process = world.process({ cacheBytesMax: 16 * 1_024 });
  const forgetful = await world.run(process.store.table<string>('t'));
  // It learns that containers are small, and reads them whole from then on.
  for (let index = 0; index < 30; index += 1) await world.run(forgetful.get(key(750 + 140 * (index % 4))));
  for (const number of [155, 320, 450]) {
    process.takeCalls();
    await world.run(forgetful.put(key(number), 'written'));
    expect(process.takeCalls().length).toBeLessThan(8);
  }
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

test('a retired container with a damaged page is passed by, and told', async () => {
  const { world, table } = await begun();
  await world.run(table.putMany(items(0, 60)));
  await world.run(table.deleteMany(keys(0, 60).filter((_, number) => number % 20 > 0)));
  const { id, header } = (await retireOne(world, 1_000)).retired;
  damage(world, id, partName(`p${header.pages[0]!.slot}`));
  const report = await world.run(world.process().store.vacuum('t', { quietMs: 1_000 }));
  expect(report).toMatchObject({ left: 0, damaged: 1 });
  expect(storedNode(world.state, 't', id)!.header.state).toBe('retired');
});

test('what nobody writes is written anew at most once, however well it compresses', async () => {
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

test('a leaf that took in others, by writes whose answers came late, and that does not fit with the next is judged all the same', async () => {
  const { world, b: vacuumer, table } = await begun(100);
  const [left, right, next] = leavesOf(world.state, 't');
  const [low, high] = [right!, next!].map(({ header }) => Buffer.from(header.low).toString());
  const names = Array.from({ length: 100 }, (_, number) => key(number));
  await world.run(table.deleteMany(names.filter((name) => name > low! && name < high!)));
  // A read of the header alone shows that each has landed.
  vacuumer.rule((call) => (isWriteOf('replace', left!.id)(call) ? { reply: world.runtime.sleep(1_500) } : undefined));
  const { merged } = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect(merged).toBeGreaterThanOrEqual(1);
});

test('where a hundred leaves become two, a merge costs seven requests, the first look and the purge of what is dead among them', async () => {
  const { world, table } = await opened({ order: 'key' }, new World({ limits: ROOMY }));
  for (let from = 0; from < 9_000; from += 1_000) {
    await world.run(table.putMany(items(from, from + 1_000, 300)));
    // A round later, as the last leaf may not be full yet.
    await world.run(table.deleteMany(keys(Math.max(0, from - 1_000), from).filter((_, number) => number % 60 > 0)));
  }
  await world.run(table.deleteMany(keys(8_000, 9_000).filter((_, number) => number % 60 > 0)));
  const before = leavesOf(world.state, 't').length;
  const vacuumer = world.process();
  // One repair is written before the next: together they would hide their cost.
  vacuumer.rule(() => world.runtime.sleep(5).then(() => undefined));
  const { merged, purged } = await world.run(vacuumer.store.vacuum('t', { quietMs: 1_000 }));
  expect([before > 90, before - merged, purged > 90]).toEqual([true, 2, true]);
  expect(vacuumer.calls.length / merged).toBeLessThan(7.3);
});

test('a rest that no vacuum can wait for is refused by its name', async () => {
  const { world, store } = await opened();
  for (const quietMs of [-1, Number.NaN, Infinity, 24 * 3_600_000 + 1])
    await expect(world.run(store.vacuum('t', { quietMs }))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('quietMs') as string,
    });
});
