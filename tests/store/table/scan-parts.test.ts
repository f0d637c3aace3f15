// A scan with a limit reads the pages that it needs, and the rest of a leaf once it goes on there.
import { beforeEach, expect, test } from 'vitest';
import type { ScanOptions, Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items, keys } from '../rules/table-steps.ts';
import { key, type Process, World } from '../rules/world.ts';

const RECORDS = 1_000;

let world: World;
let filling: Table<string>;

beforeEach(async () => {
  world = new World({ limits: {} });
  filling = await world.run(world.process().store.table<string>('t', { order: 'key' }));
  await world.run(filling.putMany(items(0, RECORDS, 400)));
});

/** A process that knows the table's root alone. */
async function cold(): Promise<{ process: Process; table: Table<string> }> {
  // The root is a leaf as long as the table has one.
  await world.run(filling.putMany(items(RECORDS, 4 * RECORDS, 400)));
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  const process = world.process();
  const table = await world.run(process.store.table<string>('t'));
  process.takeCalls();
  return { process, table };
}

async function keysOf(table: Table<string>, options: ScanOptions): Promise<string[]> {
  return world.run(Array.fromAsync(table.keys(options)));
}

/** Lets records expire. The rows of their pages still count them. */
async function expired(from: number, to: number): Promise<void> {
  await world.run(filling.putMany(items(from, to, 400).map((item) => ({ ...item, ttlMs: 1_000 }))));
  await world.run(world.runtime.sleep(2_000));
}

/** The number of pages of each read since the last time, or `all` for a whole leaf. */
function readsOf(process: Process): (number | 'all')[] {
  return process
    .takeReads()
    .map(({ parts }) => (parts === 'all' ? 'all' : parts.filter((name) => name.startsWith('p')).length));
}

test('a scan with a limit reads the header of an unknown leaf, then its first pages', async () => {
  const { process, table } = await cold();
  expect(await keysOf(table, { limit: 1 })).toEqual(keys(0, 1));
  expect(readsOf(process)).toEqual([0, 1]);
  expect(await keysOf(table, { limit: 100 })).toEqual(keys(0, 100));
  const [pages, ...others] = readsOf(process);
  expect(pages).toBeGreaterThan(1);
  expect(pages).toBeLessThan(10);
  expect(others).toEqual([]);
  // By now it knows all that it needs.
  expect(await keysOf(table, { limit: 100 })).toEqual(keys(0, 100));
  expect(readsOf(process)).toEqual([0]);
});

test('a scan in reverse reads the last pages of its range', async () => {
  const { process, table } = await cold();
  expect(await keysOf(table, { reverse: true, to: key(500), limit: 3 })).toEqual(keys(497, 500).toReversed());
  const [header, pages, ...others] = readsOf(process);
  expect(header).toBe(0);
  expect(pages).toBeLessThan(3);
  expect(others).toEqual([]);
});

test('a scan whose bounds lie within a leaf reads only the pages between them', async () => {
  const { process, table } = await cold();
  expect(await keysOf(table, { from: key(100), to: key(110) })).toEqual(keys(100, 110));
  const [header, pages, ...others] = readsOf(process);
  expect(header).toBe(0);
  expect(pages).toBeLessThan(3);
  expect(others).toEqual([]);
});

test('a scan whose limit reaches beyond a leaf gives each record once', async () => {
  const { table } = await cold();
  expect(await keysOf(table, { limit: 3 * RECORDS })).toEqual(keys(0, 3 * RECORDS));
  const reversed = keys(0, 4 * RECORDS).toReversed();
  expect(await keysOf(table, { reverse: true, limit: 3 * RECORDS })).toEqual(reversed.slice(0, 3 * RECORDS));
});

test('a scan that meets many expired records reads the rest of the leaf in one request', async () => {
  await expired(1, 600);
  const { process, table } = await cold();
  expect(await keysOf(table, { limit: 50 })).toEqual([...keys(0, 1), ...keys(600, 649)]);
  const [header, pages, rest, ...others] = readsOf(process);
  expect(header).toBe(0);
  expect(pages).toBeLessThan(10);
  expect(rest).toBe('all');
  expect(others).toEqual([]);
});

test('a scan gives what another process writes between two reads of a leaf, and nothing twice', async () => {
  await expired(1, 600);
  const { table } = await cold();
  const scan = table.scan({ limit: 50 })[Symbol.asyncIterator]();
  expect((await world.run(scan.next())).value).toMatchObject({ key: key(0) });
  await world.run(filling.put(key(599), 'written meanwhile'));
  const rest: string[] = [];
  for (let next = await world.run(scan.next()); next.done !== true; next = await world.run(scan.next()))
    rest.push(next.value.key);
  expect(rest).toEqual(keys(599, 648));
});
