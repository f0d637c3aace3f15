// Rules 14 and 15: removing orphans, and meeting a node that is missing.
import { expect, test } from 'vitest';
import type { MemoryCall } from '../../../shared/drivers/memory.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { COMMIT_PART } from '../../../shared/store/format/entity-ids.ts';
import type { StoreOptions } from '../../../shared/store/index.ts';
import { faultsOf, leavesOf, orphansOf, storedIds, storedRoot } from './tree-of.ts';
import { begun, fill, keysBy, open } from './table-steps.ts';
import { change, isReadOf, isRemovalOf, isWholeRead, isWriteOf, key, text, World } from './world.ts';
import { entityId } from '../../support/ids.ts';

const ROOT = entityId('t!t!');

type Stored = NonNullable<ReturnType<World['state']['entities']['get']>>;

/** A split that has inserted its nodes, and whose link the test delivers when it wants. */
async function splitUnderWay(options: Partial<StoreOptions> = {}) {
  const world = new World();
  const [splitter, other] = [world.process(), world.process(options)];
  const table = await open(world, splitter);
  const link = Promise.withResolvers<() => void>();
  splitter.once(isWriteOf('replace', ROOT), { late: link.resolve, reply: new Promise(() => undefined) });
  let filled = 0;
  // The put that splits never ends, as its process has stopped.
  const filling = (async () => {
    for (; filled < 60; filled += 1) await table.put(key(filled), text(filled), { timeoutMs: 1_000_000 });
  })();
  filling.catch(() => undefined);
  splitter.rule((call) =>
    call.kind === 'read' && filled > 10 && orphansOf(world.state, 't').length > 1 ? { fail: 'unavailable' } : undefined,
  );
  const deliver = await world.run(link.promise);
  return { world, other, deliver, count: filled };
}

test('the ids of all commits of a process begin with the same two bytes, whatever they are for', async () => {
  const { world, other, deliver } = await splitUnderWay();
  const vacuum = () => world.run(other.store.vacuum('t', { quietMs: 1_000 }));
  expect(await vacuum()).toMatchObject({ removed: 2 });
  deliver();
  const table = await open(world, other);
  await fill(world, table, 0, 100);
  await world.run(table.deleteMany(Array.from({ length: 90 }, (_, number) => key(number))));
  const { merged, stripped } = await vacuum();
  expect(Math.min(merged, stripped)).toBeGreaterThan(1);
  await world.run(other.store.drop('t'));
  await world.run(other.store.table('t', { containers: 4 }));
  const ids = other.writes.map(({ parts }) => parts.find(({ name }) => name === COMMIT_PART)!.bytes);
  expect(new Set(ids.map((id) => Buffer.from(id).toString('hex', 0, 2))).size).toBe(1);
});

test('rule 14: a vacuum whose fence has an unknown fate, and did not happen, removes nothing', async () => {
  const { world, other, deliver } = await splitUnderWay();
  other.rule((call) => (isWriteOf('patch', ROOT)(call) ? { fail: 'unavailable' } : undefined));
  expect(await world.run(other.store.vacuum('t', { quietMs: 0 }))).toMatchObject({ removed: 0, left: 2 });
  deliver();
  expect(storedRoot(world.state, 't').header.level).toBe(1);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test.each<[string, (orphans: readonly EntityId[]) => ((call: MemoryCall) => boolean)[]]>([
  ['as vacuum comes to look at its origin', () => [(call) => isReadOf(ROOT)(call) && !isWholeRead(call)]],
  [
    'right after vacuum has read the root to judge it by',
    (orphans) => [(call) => orphans.some((id) => isReadOf(id)(call)), isReadOf(ROOT), () => true],
  ],
])('rule 14: a node that is linked %s lives', async (_, stepsBefore) => {
  const { world, other, deliver, count } = await splitUnderWay();
  const orphans = orphansOf(world.state, 't');
  const steps = stepsBefore(orphans);
  let met = 0;
  other.rule((call) => {
    if (steps[met]?.(call) !== true) return undefined;
    met += 1;
    if (met === steps.length) deliver();
    return undefined;
  });
  expect(await world.run(other.store.vacuum('t', { quietMs: 0 }))).toMatchObject({ removed: 0 });
  expect(met).toBe(steps.length);
  expect(storedIds(world.state, 't')).toEqual(expect.arrayContaining(orphans));
  expect(faultsOf(world.state, 't')).toEqual([]);
  expect(await keysBy(world, await open(world, other))).toHaveLength(count + 1);
});

test('rule 14: a vacuum that misses a node on its walk removes nothing', async () => {
  const { world, a: process, table } = await begun();
  // The branch knows the first leaves only: the others are reached by walking right.
  process.rule((call) =>
    isWriteOf('patch', ROOT)(call) && storedRoot(world.state, 't').header.level > 0
      ? { fail: 'unavailable' }
      : undefined,
  );
  await fill(world, table, 0, 120);
  const leaves = leavesOf(world.state, 't').map(({ id }) => id);
  world.state.entities.delete(leaves[3]!);
  const report = await world.run(process.store.vacuum('t', { quietMs: 0 }));
  expect(report).toMatchObject({ removed: 0, left: leaves.length - 4 });
  expect(leaves.filter((id) => !world.state.entities.has(id))).toEqual([leaves[3]]);
});

test.each([
  ['14: an orphan that changed since it was judged', false],
  ['18: an orphan that changes while it is being judged', true],
])('rule %s is not removed at the version that nobody judged', async (_, isEarly) => {
  const { world, other } = await splitUnderWay();
  const [first] = orphansOf(world.state, 't');
  let reads = 0;
  const end = other.rule((call) => {
    // The first look reads it, and then the judgement does.
    if (isEarly ? reads === 2 : isRemovalOf(first!)(call)) {
      end();
      change(world, first!, () => {});
    }
    if (isReadOf(first!)(call)) reads += 1;
    return undefined;
  });
  expect(await world.run(other.store.vacuum('t', { quietMs: 0 }))).toMatchObject({ removed: 1, left: 1 });
  expect(world.state.entities.has(first!)).toBe(true);
});

test('rule 14: vacuum removes nothing of a table whose root is gone', async () => {
  const { world, a: process } = await begun(80);
  const ids = storedIds(world.state, 't');
  world.state.entities.delete(ROOT);
  expect(await world.run(process.store.vacuum('t', { quietMs: 0 }))).toMatchObject({
    listed: ids.length,
    removed: 0,
    left: ids.length,
  });
  expect(storedIds(world.state, 't')).toEqual(ids);
});

test('rule 17: a vacuum reports and keeps nodes of a table whose root was lost, even if it was created anew', async () => {
  const { world } = await begun(80);
  const ids = storedIds(world.state, 't');
  world.state.entities.delete(ROOT);
  for (const drops of [0, 1, 2]) {
    const { store } = world.process();
    if (drops > 0) await world.run(store.drop('t'));
    const table = await open(world, world.process());
    expect(table.isNew).toBe(true);
    await fill(world, table, 0, 40);
    const report = await world.run(store.vacuum('t', { quietMs: 0 }));
    expect(report).toMatchObject({ removed: 0, left: 0, foreign: ids.length });
  }
  expect(storedIds(world.state, 't')).toEqual(expect.arrayContaining(ids));
});

test('rule 17: a vacuum removes nodes of dropped tables that doubled requests bring back', async () => {
  const world = new World();
  const { store } = world.process();
  const nodes = new Map<EntityId, Stored>();
  for (let drops = 0; drops < 4; drops += 1) {
    await fill(world, await open(world, world.process()), 0, 40);
    for (const id of storedIds(world.state, 't')) nodes.set(id, world.state.entities.get(id)!);
    await world.run(store.drop('t'));
  }
  const expectRemovedAgain = async (): Promise<void> => {
    nodes.forEach((entity, id) => void world.state.entities.set(id, entity));
    const report = await world.run(store.vacuum('t', { quietMs: 0 }));
    expect(report).toMatchObject({ removed: nodes.size, left: 0, foreign: 0 });
  };
  await expectRemovedAgain();
  const table = await open(world, world.process());
  await expectRemovedAgain();
  // A root that grew still names the dropped incarnations.
  await fill(world, table, 0, 40);
  expect(storedRoot(world.state, 't').header.level).toBe(1);
  await expectRemovedAgain();
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 15: a linked node that is truly gone is corrupt, never absence, never a reason to create', async () => {
  const { world, a: process } = await begun(60);
  world.state.entities.delete(leavesOf(world.state, 't')[0]!.id);
  const ids = [...world.state.entities.keys()];
  for (const { store } of [process, world.process()]) {
    const same = await world.run(store.table<string>('t'));
    await expect(world.run(same.get(key(0)))).rejects.toMatchObject({ code: 'corrupt' });
    expect((await world.run(same.getMany([key(0)])))[0]).toMatchObject({ status: 'failed' });
    await expect(keysBy(world, same)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(world.run(same.put(key(0), 'x', { ifAbsent: true }))).rejects.toMatchObject({
      code: /corrupt|unknown/,
    });
  }
  expect([...world.state.entities.keys()]).toEqual(ids);
});
