// How commits share requests.
import { expect, test } from 'vitest';
import type { MemoryCall } from '../../../shared/drivers/memory.ts';
import type { Table } from '../../../shared/store/index.ts';
import { isWriteOf, type Process, World } from '../rules/world.ts';

/** A table of several leaves, with its branches known to the process. */
async function manyLeaves(world: World, process: Process): Promise<{ table: Table<string>; keys: string[] }> {
  const table = await world.run(process.store.table<string>('t', { containers: 8 }));
  const keys = Array.from({ length: 40 }, (_, number) => `key${number}`);
  await world.run(table.putMany(keys.map((key) => ({ key, value: 'old' }))));
  process.takeCalls();
  return { table, keys };
}

function writesOf(calls: readonly MemoryCall[]): number[] {
  return calls.flatMap((call) => (call.kind === 'write' ? [call.writes.length] : []));
}

test('commits of several containers share a request', async () => {
  const world = new World();
  const process = world.process();
  const { table, keys } = await manyLeaves(world, process);
  await world.run(Promise.all(keys.map((key) => table.put(key, 'new'))));
  const batches = writesOf(process.takeCalls());
  expect(batches.length).toBeLessThan(4);
  expect(Math.max(...batches)).toBeGreaterThan(4);
  for (const key of keys) expect((await world.run(table.get(key)))?.value).toBe('new');
});

test('rule 1: every container of a batch that failed is settled by reading, and its next commit goes alone', async () => {
  const world = new World();
  const process = world.process();
  const { table, keys } = await manyLeaves(world, process);
  process.once(isWriteOf('patch'), { fail: 'unavailable' });
  await world.run(Promise.all(keys.map((key) => table.put(key, 'new'))));
  const [failed, ...later] = writesOf(process.takeCalls());
  expect(failed).toBeGreaterThan(4);
  expect(later.slice(0, failed)).toEqual(Array.from({ length: failed! }, () => 1));
  for (const key of keys) expect((await world.run(table.get(key)))?.value).toBe('new');
});

test('after some commits without trouble a container shares requests again', async () => {
  const world = new World();
  const process = world.process();
  const { table, keys } = await manyLeaves(world, process);
  process.once(isWriteOf('patch'), { fail: 'unavailable' });
  for (let round = 0; round < 12; round += 1) await world.run(Promise.all(keys.map((key) => table.put(key, 'new'))));
  process.takeCalls();
  await world.run(Promise.all(keys.map((key) => table.put(key, 'newest'))));
  expect(Math.max(...writesOf(process.takeCalls()))).toBeGreaterThan(4);
});
