// Clears beside other writers, and beside a provider that loses replies.
import { describe, expect, test } from 'vitest';
import { layersOf } from '../../../shared/store/container/layers.ts';
import type { StoreError, Table } from '../../../shared/store/index.ts';
import { leavesOf, storedKeys } from './tree-of.ts';
import { items, keys, open } from './table-steps.ts';
import { isWriteOf, key, type Process, TINY, World } from './world.ts';

let world: World;

async function tableWith(count: number): Promise<{ process: Process; table: Table<string> }> {
  world = new World();
  const process = world.process();
  const table = await open(world, process);
  await put(table, 0, count);
  return { process, table };
}

async function put(table: Table<string>, first: number, count: number): Promise<void> {
  for (const { status } of await world.run(table.putMany(items(first, first + count)))) expect(status).toBe('written');
}

describe('rule 33: a clear', () => {
  test('takes one commit per leaf, and reads no leaf that it knows', async () => {
    const { process, table } = await tableWith(200);
    const leaves = leavesOf(world.state, 't').length;
    const before = table.stats().commits;
    process.takeCalls();
    expect(await world.run(table.clear())).toBe(200);
    expect(process.takeReads()).toEqual([]);
    expect(table.stats().commits - before).toBe(leaves);
    expect(leavesOf(world.state, 't').flatMap(({ header }) => header.pages)).toEqual([]);
  });

  test('keeps the records outside its range for every reader, while there are layers and after them', async () => {
    const { table } = await tableWith(16);
    for (const number of [2, 5]) await world.run(table.put(key(number), 'again'));
    const left = new Set(keys(0, 16));
    for (const number of [8, 2, 5]) {
      expect(leavesOf(world.state, 't').map(({ header }) => header.layers.length)).not.toEqual([0]);
      await world.run(table.clear({ from: key(number), to: key(number + 1) }));
      left.delete(key(number));
      for (const { header } of leavesOf(world.state, 't'))
        expect(layersOf(header)[0]!.filter(({ fingerprints }) => fingerprints !== undefined)).toEqual([]);
      const other = await world.run(world.process().store.table<string>('t'));
      for (const name of keys(0, 16)) expect((await world.run(other.get(name))) !== undefined).toBe(left.has(name));
    }
    expect(leavesOf(world.state, 't').map(({ header }) => header.layers.length)).toEqual([0]);
  });

  test('begins nothing after a failure, and fails with it', async () => {
    const { process, table } = await tableWith(200);
    process.rule((call) => (call.kind === 'write' ? { refuse: 'denied' } : undefined));
    await expect(world.run(table.clear())).rejects.toMatchObject({ code: 'unavailable' });
    expect(storedKeys(world.state, 't').length).toBe(200);
  });

  test.each([1, 2, 3, 5])(
    'that ends when %i leaves are empty is unknown, and says how many records went',
    async (at) => {
      world = new World({ limits: { ...TINY, inFlightMax: 1, writesMax: 1 } });
      const table = await open(world, world.process());
      await put(table, 0, 200);
      const [before, ending] = [table.stats().commits, new AbortController()];
      const clearing = table.clear({ signal: ending.signal });
      while (table.stats().commits < before + at) await Promise.resolve();
      ending.abort();
      const error = (await world.run(clearing.catch((caught: unknown) => caught))) as StoreError;
      expect(error).toMatchObject({ code: 'unknown', table: 't', cause: { cause: ending.signal.reason as unknown } });
      const told = Number(/at least (\d+) records were removed: clear again/.exec(error.message)?.[1]);
      const gone = 200 - storedKeys(world.state, 't').length;
      expect(told).toBeGreaterThanOrEqual(at);
      expect(told).toBeLessThanOrEqual(gone);
    },
  );

  test('fails where the table was dropped and created again meanwhile, and leaves the new one alone', async () => {
    const { process, table } = await tableWith(200);
    const other = world.process();
    const again = async (): Promise<void> => {
      await other.store.drop('t');
      const table = await other.store.table<string>('t', { order: 'key' });
      await table.putMany(items(0, 9));
    };
    process.once(isWriteOf('patch'), () => ({ reply: world.runtime.sleep(100).then(again) }));
    // Nobody can tell whether a write to a leaf that is gone took effect.
    await expect(world.run(table.clear())).rejects.toMatchObject({ code: 'unknown' });
    expect(storedKeys(world.state, 't').length).toBe(9);
  });
});
