// The requests of a process that changes a container which others write to as well.
import { expect, test } from 'vitest';
import { open, twoProcesses } from '../rules/table-steps.ts';
import { isWriteOf, type Process, World } from '../rules/world.ts';

const EACH_WAY_MS = 3;

/** A request takes EACH_WAY_MS out, and as long back unless the test changes it. */
function farProcess(world: World): { process: Process; way: { backMs: number } } {
  const process = world.process();
  const way = { backMs: EACH_WAY_MS };
  process.rule(async () => {
    await world.runtime.sleep(EACH_WAY_MS);
    return { reply: world.runtime.sleep(way.backMs) };
  });
  return { process, way };
}

async function twoThatAlternate() {
  const world = new World();
  const { process: a, way } = farProcess(world);
  const [tableA, tableB] = [await open<number>(world, a), await open<number>(world, farProcess(world).process)];
  const alternate = async (): Promise<void> => {
    await world.run(tableB.put('k', 1));
    await world.runtime.advance(100);
    await world.run(tableA.put('k', 2));
    await world.runtime.advance(100);
  };
  for (let round = 0; round < 20; round += 1) await alternate();
  return { world, a, way, tableA, tableB, alternate };
}

test('a process whose container others write reads before each commit, and none is refused', async () => {
  const { a, tableA, alternate } = await twoThatAlternate();
  const before = tableA.stats();
  a.takeCalls();
  for (let round = 0; round < 5; round += 1) await alternate();
  const kinds = a.takeCalls().map(({ kind }) => kind);
  expect(kinds).toEqual(Array.from({ length: 5 }, () => ['read', 'write']).flat());
  const now = tableA.stats();
  expect(now.conflicts).toBe(before.conflicts);
  expect(now.readsFirst).toBe(before.readsFirst + 5);
  expect(now.foreignCommits).toBe(before.foreignCommits + 5);
});

test('one read serves one commit: what was read before the last own commit is old again', async () => {
  const { world, a, way, tableA, tableB } = await twoThatAlternate();
  a.takeCalls();
  const first = tableA.put('k', 3);
  await world.runtime.advance(2 * EACH_WAY_MS + 1);
  // The reply to this commit will be slow. Another process commits before it arrives.
  way.backMs = 200;
  const second = tableA.put('k', 4);
  await world.runtime.advance(50);
  await world.run(tableB.put('k', 5));
  await world.run(Promise.all([first, second]));
  expect(a.takeCalls().map(({ kind }) => kind)).toEqual(['read', 'write', 'read', 'write']);
  expect((await world.run(tableB.get('k')))?.value).toBe(4);
});

test('an own commit under way does not count as foreign, whether a read shows it before its answer or a foreign one follows it', async () => {
  const { world, a, tableA, tableB } = await twoProcesses<number>();
  await world.run(tableA.put('k', 0));
  const before = tableA.stats().foreignCommits;
  a.once(isWriteOf('patch'), { reply: world.runtime.sleep(500) });
  const putting = tableA.put('k', 1);
  await world.runtime.advance(1);
  const read = () => Array.fromAsync(tableA.scan(), ({ value }) => value);
  expect(await read()).toEqual([1]);
  expect(tableA.stats().foreignCommits).toBe(before);
  await world.run(tableB.put('k', 2));
  expect(await read()).toEqual([2]);
  expect(tableA.stats().foreignCommits).toBe(before + 1);
  await world.run(putting);
});

test('an own commit whose reply was lost does not count as foreign', async () => {
  const world = new World();
  const a = world.process();
  const table = await open<number>(world, a);
  await world.run(table.put('k', 0));
  a.once(isWriteOf('patch'), { replyLost: true });
  await world.run(table.put('k', 1));
  expect(table.stats()).toMatchObject({ unknownOutcomes: 1, foreignCommits: 0 });
});

test('a commit that another got ahead of is tried again at once, every time', async () => {
  const { world, a, tableA, tableB } = await twoProcesses<number>();
  await world.run(tableA.put('k', 0));
  const before = world.runtime.monotonicMs();
  let others = 0;
  const end = a.rule(async (call) => {
    if (call.kind === 'write') await tableB.put('k', (others += 1));
    if (others === 5) end();
    return undefined;
  });
  await world.run(tableA.put('k', 9));
  expect(tableA.stats().conflicts).toBe(5);
  expect(world.runtime.monotonicMs()).toBe(before);
  expect((await world.run(tableB.get('k')))?.value).toBe(9);
});

test.each([
  ['the pages that others added too', 4_000, 1, (round: number) => [round * 90, round * 90 + 45]],
  [
    'what ten commits of others wrote',
    10,
    10,
    (round: number, other: number) => [(round * 7 + other * 3) % 10, round % 10],
  ],
])('a read before a commit brings %s, and layers are merged without another', async (_, records, others, at) => {
  const { world, a, tableA, tableB } = await twoThatAlternate();
  await world.run(tableB.putMany(Array.from({ length: records }, (_each, each) => ({ key: `c${each}`, value: each }))));
  await world.run(tableA.put('k', 0));
  const reads: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    for (let other = 0; other < others; other += 1) {
      await world.run(tableB.put(`c${at(round, other)[0]}`, 1));
      await world.runtime.advance(300 / (others + 2));
    }
    a.takeCalls();
    await world.run(tableA.put(`c${at(round, 0)[1]}`, 2));
    await world.runtime.advance(300 / (others + 2));
    reads.push(a.takeCalls().filter(({ kind }) => kind === 'read').length);
  }
  expect(reads).toEqual(reads.map(() => 1));
});
