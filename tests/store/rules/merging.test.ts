// Rules 26 to 32: leaves that fell quiet or empty become one with their left neighbours, beside whoever remembers them.
import { expect, test } from 'vitest';
import type { Table } from '../../../shared/store/index.ts';
import { faultsOf, leavesOf, orphansOf, storedIds, storedNode, storedRoot } from './structure.ts';
import { isWriteOf, key, type Process, text, World } from './world.ts';

const QUIET = { quietMs: 60_000 };

async function open(world: World, process: Process): Promise<Table<string>> {
  return world.run(process.store.table<string>('t', { order: 'key' }));
}

async function fill(world: World, table: Table<string>, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) await world.run(table.put(key(number), text(number)));
}

async function keysBy(world: World, table: Table<string>): Promise<string[]> {
  const found: string[] = [];
  await world.run(
    (async () => {
      for await (const entry of table.scan()) found.push(entry.key);
    })(),
  );
  return found;
}

/** A table of some ten leaves, of whose 200 records every twentieth is left. */
async function emptied(options = {}) {
  const world = new World();
  const [writer, vacuumer] = [world.process(options), world.process({ merges: true, ...options })];
  const table = await open(world, writer);
  await fill(world, table, 0, 200);
  const kept = Array.from({ length: 10 }, (_, index) => key(index * 20));
  const dropped = Array.from({ length: 200 }, (_, index) => key(index)).filter((name) => !kept.includes(name));
  await world.run(table.deleteMany(dropped));
  return { world, writer, vacuumer, table, kept };
}

function statesOf(world: World): string[] {
  return storedIds(world.state, 't').map((id) => storedNode(world.state, 't', id)!.header.state);
}

test('rules 26, 27, 30: emptied leaves become one; what is left of each is a header that says so', async () => {
  const { world, vacuumer, table, kept } = await emptied();
  const before = leavesOf(world.state, 't');
  expect(before.length).toBeGreaterThan(6);
  const report = await world.run(vacuumer.store.vacuum('t', QUIET));
  expect(report).toMatchObject({
    merged: before.length - 1,
    stripped: before.length - 1,
    busy: 0,
    left: 0,
    removed: 0,
  });
  expect(leavesOf(world.state, 't')).toHaveLength(1);
  expect(statesOf(world).toSorted()).toEqual(['live', ...Array(before.length - 1).fill('merged')]);
  expect(faultsOf(world.state, 't')).toEqual([]);
  for (const process of [world.process(), world.process()]) {
    expect(await keysBy(world, await open(world, process))).toEqual(kept);
  }
  expect(await keysBy(world, table)).toEqual(kept);
});

test('rule 29: the entries that merges left over are dropped, but for the first of the branch', async () => {
  const { world, vacuumer } = await emptied();
  const { entriesDropped } = await world.run(vacuumer.store.vacuum('t', QUIET));
  expect(entriesDropped).toBeGreaterThan(5);
  const records = storedRoot(world.state, 't').header.pages.reduce((sum, ref) => sum + ref.records, 0);
  expect(records).toBe(1);
});

test('rule 28: who remembers a leaf that was merged finds its records, reads and writes', async () => {
  const { world, writer, vacuumer, table, kept } = await emptied();
  await world.run(vacuumer.store.vacuum('t', QUIET));
  writer.takeCalls();
  for (const name of kept) expect(await world.run(table.get(name))).toMatchObject({ key: name });
  expect((await world.run(table.getMany([...kept, 'none']))).map(({ status }) => status)).toEqual([
    ...kept.map(() => 'found'),
    'absent',
  ]);
  await fill(world, table, 0, 200);
  expect(await keysBy(world, table)).toHaveLength(200);
  expect(table.stats().leftSearches).toBeGreaterThan(0);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 28: once it searched, a process goes straight to the leaf', async () => {
  const { world, writer, vacuumer, table, kept } = await emptied();
  await world.run(vacuumer.store.vacuum('t', QUIET));
  for (const name of kept) await world.run(table.get(name));
  await world.run(world.runtime.sleep(20_000));
  writer.takeCalls();
  for (const name of kept) await world.run(table.get(name));
  expect(writer.takeCalls()).toHaveLength(kept.length);
});

test('rule 32: what was written between two looks stays as it is', async () => {
  const { world, vacuumer, table, kept } = await emptied();
  const before = leavesOf(world.state, 't').length;
  const vacuuming = world.run(vacuumer.store.vacuum('t', QUIET));
  const writing = (async () => {
    for (let round = 0; round < 5; round += 1) {
      await world.runtime.sleep(10_000);
      for (const name of kept) await table.put(name, text(round));
    }
  })();
  await world.run(writing);
  const report = await vacuuming;
  expect(report.busy).toBeGreaterThan(0);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(before / 3);
  expect(await keysBy(world, table)).toEqual(kept);
});

test('a store that does not merge leaves quiet leaves alone, and finishes what another began', async () => {
  const { world, writer, vacuumer, kept } = await emptied();
  const before = leavesOf(world.state, 't').length;
  expect(await world.run(writer.store.vacuum('t'))).toMatchObject({ merged: 0, purged: 0 });
  expect(leavesOf(world.state, 't')).toHaveLength(before);

  // The merger dies once its first leaf is retired.
  vacuumer.rule(() => (statesOf(world).includes('retired') ? { fail: 'unavailable' } : undefined));
  await expect(world.run(vacuumer.store.vacuum('t', QUIET))).rejects.toMatchObject({ code: 'unknown' });
  expect(statesOf(world)).toContain('retired');
  expect(await world.run(writer.store.vacuum('t'))).toMatchObject({ merged: 1, stripped: 1 });
  expect(leavesOf(world.state, 't')).toHaveLength(before - 1);
  expect(await keysBy(world, await open(world, world.process()))).toEqual(kept);
});

test('rules 27, 28: a retired leaf whose merger died is read as it is, and absorbed by the next who writes to it', async () => {
  const { world, vacuumer, kept } = await emptied();
  vacuumer.rule(() => (statesOf(world).includes('retired') ? { fail: 'unavailable' } : undefined));
  await world.run(vacuumer.store.vacuum('t', QUIET)).catch(() => undefined);
  const retired = storedIds(world.state, 't').find(
    (id) => storedNode(world.state, 't', id)!.header.state === 'retired',
  )!;
  const low = Buffer.from(storedNode(world.state, 't', retired)!.header.low).toString();

  const reader = world.process();
  const read = await open(world, reader);
  expect(await keysBy(world, read)).toEqual(kept);
  expect(await world.run(read.get(low + '!'))).toBeUndefined();
  expect(reader.writes).toEqual([]);

  const writer = world.process();
  const written = await open(world, writer);
  await world.run(written.put(low + '!', text('new')));
  expect(written.stats().merges).toBe(1);
  expect(writer.writes.filter(({ kind }) => kind === 'insert')).toEqual([]);
  expect(orphansOf(world.state, 't')).toEqual([retired]);
  expect(await keysBy(world, read)).toEqual([...kept, low + '!'].toSorted());
});

test('rule 27: where both are too large together, the neighbour lives on in a copy', async () => {
  const { world, vacuumer, table, kept } = await emptied();
  vacuumer.rule(() => (statesOf(world).includes('retired') ? { fail: 'unavailable' } : undefined));
  await world.run(vacuumer.store.vacuum('t', QUIET)).catch(() => undefined);
  const retired = storedIds(world.state, 't').find(
    (id) => storedNode(world.state, 't', id)!.header.state === 'retired',
  )!;
  const low = Buffer.from(storedNode(world.state, 't', retired)!.header.low).toString();
  // Its left neighbour grows meanwhile.
  for (let number = 0; number < 22; number += 1) await world.run(table.put(key(0) + String(number), text(number)));
  const before = leavesOf(world.state, 't').length;
  await world.run(table.put(low + '!', text('new')));
  expect(table.stats().merges).toBe(1);
  expect(leavesOf(world.state, 't')).toHaveLength(before);
  expect(leavesOf(world.state, 't').every(({ header }) => header.state === 'live')).toBe(true);
  expect(await keysBy(world, await open(world, world.process()))).toHaveLength(kept.length + 23);
  expect(faultsOf(world.state, 't')).toEqual([]);
  expect(isWriteOf('insert')(vacuumer.calls.at(-1)!)).toBe(false);
});
