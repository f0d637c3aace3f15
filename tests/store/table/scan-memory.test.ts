// A scan of what memory has asks for last commits alone; what it expands counts in the cache.
import { expect, test } from 'vitest';
import type { Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items } from '../rules/table-steps.ts';
import { key, type Process, World } from '../rules/world.ts';

const RECORDS = 400;

let world: World;

async function filled(process: Process, bytes: number): Promise<Table<string>> {
  const options = { order: 'key', containerBytesMax: 16_384 } as const;
  const table = await world.run(process.store.table<string>('t', options));
  for (let first = 0; first < RECORDS; first += 50) await world.run(table.putMany(items(first, first + 50, bytes)));
  return table;
}

async function scanned(table: Table<string>): Promise<Map<string, string>> {
  return new Map(await Array.fromAsync(table.scan(), ({ key: name, value }) => [name, value] as const));
}

/** Leaves read since the last time: whole, or for their last commit alone. */
function readsOf(process: Process) {
  const reads = process.takeReads();
  const whole = reads.filter(({ parts }) => parts === 'all').length;
  return { whole, checks: reads.length - whole };
}

test('a scan asks leaves that memory has whole for their last commits alone', async () => {
  world = new World({ limits: {} });
  const process = world.process();
  const table = await filled(process, 200);
  const before = await world.run(scanned(table));
  readsOf(process);
  expect(await world.run(scanned(table))).toEqual(before);
  const leaves = leavesOf(world.state, 't').length;
  expect(readsOf(process)).toEqual({ whole: 0, checks: leaves });
});

test('a leaf that another process has written since is read again, and gives what that wrote', async () => {
  world = new World({ limits: {} });
  const process = world.process();
  const table = await filled(process, 200);
  await world.run(scanned(table));
  const other = await world.run(world.process().store.table<string>('t', { order: 'key' }));
  await world.run(other.put(key(7), 'of the other'));
  readsOf(process);
  expect((await world.run(scanned(table))).get(key(7))).toBe('of the other');
  expect(readsOf(process).whole).toBe(1);
});

test('pages that a scan expanded count in the cache with their expanded size', async () => {
  world = new World({ limits: {} });
  await filled(world.process({ compression: 'zstd' }), 2_000);
  // Room for all leaves as they are stored, and for a few as they are expanded.
  const process = world.process({ cacheBytesMax: 256 * 1_024 });
  const table = await world.run(process.store.table<string>('t', { order: 'key' }));
  await world.run(scanned(table));
  readsOf(process);
  await world.run(scanned(table));
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  expect(readsOf(process).whole).toBeGreaterThan(0);
});
