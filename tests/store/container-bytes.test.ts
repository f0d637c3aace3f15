// The option `containerBytesMax`: sizes, larger records, handles and processes that differ.
import { expect, test } from 'vitest';
import { sizesOf } from '../../shared/store/container/container-size.ts';
import type { Snapshot } from '../../shared/store/container/snapshot.ts';
import { encodeHeader } from '../../shared/store/format/header.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import type { Table } from '../../shared/store/index.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import { faultsOf, leavesOf, levelsOf } from './rules/tree-of.ts';
import { items, keys, keysBy } from './rules/table-steps.ts';
import { key, text, World } from './rules/world.ts';

const KIB_16 = 16 * 1_024;
const KIB_64 = 64 * 1_024;
const { limits: LIMITS } = memoryDriver();

let world: World;

/** A world with the memory driver's own limits: entities of 1,000,000 bytes. */
function newWorld(): World {
  world = new World({ limits: {} });
  return world;
}

function open(containerBytesMax: number | undefined, process = world.process()): Promise<Table<string>> {
  const size = containerBytesMax === undefined ? {} : { containerBytesMax };
  return world.run(process.store.table<string>('t', { order: 'key', ...size }));
}

async function load(table: Table<string>, count: number): Promise<void> {
  const outcomes = await world.run(table.putMany(items(0, count, 500)));
  expect(outcomes.filter(({ status }) => status !== 'written')).toEqual([]);
}

function bytesOf({ header }: Snapshot): number {
  return sizesOf(header, encodeHeader(header).length, LIMITS).live.entityBytes;
}

function recordsOf({ header }: Snapshot): number {
  return header.pages.reduce((sum, { records }) => sum + records, 0);
}

function leaves(): readonly Snapshot[] {
  return leavesOf(world.state, 't');
}

test('containers of leaves and of branches stay below the option, and stats() tells it', async () => {
  newWorld();
  const table = await open(KIB_16);
  await load(table, 9_000);
  const levels = levelsOf(world.state, 't');
  expect(levels.length).toBe(3);
  const nodes = levels.flatMap((level) => level.nodes);
  expect(Math.max(...nodes.map(bytesOf))).toBeLessThanOrEqual(KIB_16);
  expect(table.stats().containerBytesMax).toBe(KIB_16);
  expect(await keysBy(world, table)).toHaveLength(9_000);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test.each([KIB_16 - 1, 1_000_001, 20_000.5, NaN, Infinity, -1, 0])('%f is refused, unsent', async (size) => {
  newWorld();
  const process = world.process();
  await expect(open(size, process)).rejects.toMatchObject({
    code: 'invalid',
    message: 'containerBytesMax must be a whole number from 16384 to 1000000, the largest container of memory',
  });
  expect(process.calls).toEqual([]);
});

test('records larger than a container may be are stored, one in a container, up to what the provider takes', async () => {
  newWorld();
  const table = await open(KIB_16);
  await load(table, 60);
  const large = new Map([10, 11, 30, 59].map((number, at) => [key(number), text(number, 15_000 + 168_000 * at)]));
  for (const [name, value] of large) await world.run(table.put(name, value));
  // Neighbours on both sides come, change and go again.
  for (const name of large.keys()) {
    for (const beside of [`${name}+`, `${name}-`]) await world.run(table.put(beside, text('beside', 500)));
    await world.run(table.delete(`${name}+`));
  }
  for (const [name, value] of large) {
    await world.run(table.update(name, (current) => current!.value.replaceAll('.', ',')));
    expect((await world.run(table.get(name)))!.value).toBe(value.replaceAll('.', ','));
  }
  expect(faultsOf(world.state, 't')).toEqual([]);
  const over = leaves().filter((leaf) => bytesOf(leaf) > KIB_16);
  expect(over.map(recordsOf)).toEqual([1, 1, 1]);
  const tooLarge = table.put(key(5), text('', 524_289));
  await expect(world.run(tooLarge)).rejects.toMatchObject({ code: 'too_large' });
});

test('a large record splits its neighbours off, and does not spread them over many containers', async () => {
  newWorld();
  const table = await open(KIB_64);
  await load(table, 60);
  expect(leaves().length).toBe(1);
  await world.run(table.put(`${key(30)}+`, text('large', 500_000)));
  expect(leaves().length).toBeLessThanOrEqual(4);
  const draw = seededRandom(7);
  for (let number = 100; number < 130; number += 1)
    await world.run(table.put(key(number), text(number, draw() < 0.2 ? 100_000 : 500)));
  const large = leaves().filter((leaf) => bytesOf(leaf) > KIB_64).length;
  expect(large).toBeGreaterThan(4);
  expect(leaves().length).toBeLessThanOrEqual(2 * large + 4);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('a record that its container holds alone is written again in one request', async () => {
  newWorld();
  const process = world.process();
  const table = await open(KIB_16, process);
  await load(table, 20);
  await world.run(table.put(key(7), text('large', 100_000)));
  await world.run(table.put(key(7), text('again', 100_000)));
  process.takeCalls();
  await world.run(table.put(key(7), text('again and again', 100_000)));
  expect(process.takeCalls().map(({ kind }) => kind)).toEqual(['write']);
});

test("handles of a table in one store share the first one's size: another is invalid", async () => {
  newWorld();
  const process = world.process();
  await open(KIB_64, process);
  expect((await open(undefined, process)).stats().containerBytesMax).toBe(KIB_64);
  expect((await open(KIB_64, process)).stats().containerBytesMax).toBe(KIB_64);
  process.takeCalls();
  await expect(open(KIB_16, process)).rejects.toMatchObject({
    code: 'invalid',
    message: 'the table is open in this store with containerBytesMax 65536: give the same, or none table=t',
  });
  expect(process.calls).toEqual([]);
  // The default is a size as well.
  await world.run(process.store.table('u'));
  await expect(process.store.table('u', { containerBytesMax: KIB_16 })).rejects.toMatchObject({ code: 'invalid' });
});

test('of two handles that are opened at once with different sizes one is refused', async () => {
  newWorld();
  const process = world.process();
  const opening = Promise.allSettled([open(KIB_16, process), open(KIB_64, process)]);
  expect((await opening).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('processes may differ: a container that is too large for one is split when that one writes it', async () => {
  newWorld();
  const [large, small] = [await open(undefined), await open(KIB_16)];
  await load(large, 400);
  expect(leaves().length).toBe(1);
  await world.run(small.put(key(5), 'small'));
  const split = leaves().length;
  expect(split).toBeGreaterThan(10);
  expect(Math.max(...leaves().map(bytesOf))).toBeLessThanOrEqual(KIB_16);
  for (let number = 0; number < 400; number += 7) await world.run(large.put(key(number), text('large', 600)));
  expect(leaves().length).toBe(split);
  const found = await world.run(small.getMany(keys(0, 400)));
  expect(found.filter(({ status }) => status !== 'found')).toEqual([]);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('a vacuum merges up to the size that its call names, or the table is open with', async () => {
  newWorld();
  const [writer, vacuumer] = [world.process(), world.process()];
  const table = await open(KIB_16, writer);
  await load(table, 600);
  await world.run(table.deleteMany(keys(0, 600).filter((_, number) => number % 10 !== 0)));
  const quiet = { quietMs: 60_000 };
  await world.run(vacuumer.store.vacuum('t', { ...quiet, containerBytesMax: KIB_16 }));
  await world.run(writer.store.vacuum('t', quiet));
  expect(leaves().length).toBeGreaterThan(2);
  expect(Math.max(...leaves().map(bytesOf))).toBeLessThanOrEqual(KIB_16);
  await expect(world.run(writer.store.vacuum('t', { containerBytesMax: KIB_64 }))).rejects.toMatchObject({
    code: 'invalid',
  });
  await world.run(vacuumer.store.vacuum('t', quiet));
  expect(leaves()).toHaveLength(1);
});
