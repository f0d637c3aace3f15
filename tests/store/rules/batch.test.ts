// A batch of one group takes effect whole or not at all, whatever providers and other writers do.
import { describe, expect, test } from 'vitest';
import type { BatchItem, Table } from '../../../shared/store/index.ts';
import { storedKeys } from './tree-of.ts';
import { isWriteOf, type Process, text, World } from './world.ts';

let world: World;

const GROUPED = { order: 'key', groupBy: '/' } as const;

async function grouped(): Promise<{ process: Process; table: Table<string> }> {
  world = new World();
  const process = world.process();
  return { process, table: await world.run(process.store.table<string>('t', GROUPED)) };
}

function puts(group: string, count: number, bytes = 100): BatchItem<string>[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `${group}/${String(at).padStart(3, '0')}`,
    value: text(at, bytes),
  }));
}

function invalid(message: string): unknown {
  return expect.objectContaining({ code: 'invalid', message: expect.stringContaining(message) as string });
}

describe('rule 34: a batch', () => {
  test('is one commit, and tells each version', async () => {
    const { process, table } = await grouped();
    await world.run(table.put('a/2', 'old'));
    process.takeCalls();
    const items = [
      { key: 'a/1', value: 'x' },
      { key: 'a/2', delete: true },
      { key: 'a/3', delete: true },
    ] as const;
    const outcomes = await world.run(table.batch(items));
    expect(process.writes.length).toBe(1);
    expect(outcomes.map(({ key }) => key)).toEqual(['a/1', 'a/2', 'a/3']);
    expect(outcomes[0]!.version).toBe((await world.run(table.get('a/1')))?.version);
    expect(outcomes.map(({ version }) => version !== undefined)).toEqual([true, true, false]);
    expect(storedKeys(world.state, 't')).toEqual(['a/1']);
  });

  test('writes nothing if one condition fails, and says which', async () => {
    const { process, table } = await grouped();
    await world.run(table.put('a/5', 'there'));
    const before = structuredClone(world.state.entities);
    process.takeCalls();
    const items = [...puts('a', 5), { key: 'a/5', value: 'new', ifAbsent: true }];
    await expect(world.run(table.batch(items))).rejects.toMatchObject({ code: 'conflict', key: 'a/5' });
    expect(process.writes).toEqual([]);
    expect(world.state.entities).toEqual(before);
  });

  test('is refused before anything is sent if it is senseless', async () => {
    const { process, table } = await grouped();
    const plain = await world.run(process.store.table<string>('plain', { order: 'key' }));
    process.takeCalls();
    const a = { key: 'a/1', value: 'x' };
    await expect(table.batch([a, { key: 'b/1', value: 'x' }])).rejects.toEqual(invalid('"a/1" and "b/1" are of two'));
    await expect(table.batch([a, { key: 'a', value: 'x' }])).rejects.toEqual(invalid('"a/1" and "a" are of two'));
    await expect(table.batch([a, a])).rejects.toEqual(invalid('each key once'));
    await expect(plain.batch([a])).rejects.toEqual(invalid('groupBy'));
    const odd = { key: 'a/2', delete: true, value: 'x' } as unknown as BatchItem<string>;
    await expect(table.batch([a, odd])).rejects.toEqual(invalid('ifVersion alone'));
    await expect(world.run(table.batch([]))).resolves.toEqual([]);
    expect(process.calls).toEqual([]);
  });

  test('is seen whole or not at all by a getMany of its group', async () => {
    const { process, table } = await grouped();
    const reader = await world.run(world.process().store.table<string>('t'));
    const seen = new Set<string>();
    const keys = puts('a', 6).map(({ key }) => key);
    for (let round = 0; round < 60; round += 1) {
      const value = text(round, 300);
      const latency = world.runtime.sleep(round % 7);
      process.once(isWriteOf('patch'), () => latency.then(() => undefined));
      const reading = world.runtime.sleep(round % 5).then(() => reader.getMany(keys));
      const writing = table.batch(keys.map((key) => ({ key, value })));
      const [outcomes] = await world.run(Promise.all([reading, writing, table.put(`b${round}/`, value)]));
      const values = outcomes.map((outcome) => (outcome.status === 'found' ? outcome.value : outcome.status));
      expect(new Set(values).size).toBe(1);
      seen.add(values[0] === value ? 'after' : 'before');
    }
    expect([...seen].toSorted()).toEqual(['after', 'before']);
  });

  test('shares commits with batches of other groups, of which another may fail', async () => {
    const { process, table } = await grouped();
    await world.run(table.put('a/1', 'there'));
    process.takeCalls();
    const batches = ['a', 'b', 'c', 'd', 'e'].map((group) => [
      { key: `${group}/1`, value: 'new', ifAbsent: true },
      { key: `${group}/2`, value: 'new' },
    ]);
    const outcomes = await world.run(Promise.allSettled(batches.map((batch) => table.batch(batch))));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array.from({ length: 4 }, () => 'fulfilled')]);
    expect(process.writes.length).toBeLessThan(4);
    expect(storedKeys(world.state, 't')).toEqual(['a/1', 'b/1', 'b/2', 'c/1', 'c/2', 'd/1', 'd/2', 'e/1', 'e/2']);
  });
});

test('rule 34: a batch changes nothing in a table that was created again with other groups', async () => {
  const { table } = await grouped();
  await world.run(table.batch(puts('a', 2)));
  const other = world.process().store;
  await world.run(other.drop('t'));
  await world.run(other.table('t', { order: 'key', groupBy: ':' }));
  await expect(world.run(table.batch(puts('a', 2)))).rejects.toMatchObject({ code: 'conflict', table: 't' });
  expect(storedKeys(world.state, 't')).toEqual([]);
});

describe('rule 34: a group', () => {
  test('that outgrows a container is refused at the write that would exceed it; its neighbours are not', async () => {
    const { table } = await grouped();
    await world.run(table.put('a/1', text(1)));
    let written = 0;
    const fill = async (): Promise<void> => {
      for (; written < 200; written += 1) await table.put(`m/${1_000 + written}`, text(written));
    };
    await expect(world.run(fill())).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('group') as string,
    });
    expect(written).toBeGreaterThan(20);
    await expect(world.run(table.batch(puts('m', 9)))).rejects.toMatchObject({ code: 'too_large' });
    for (const key of ['a/2', 'm', 'm.', 'm0', 'n/1', 'l/1', 'm0/1']) await world.run(table.put(key, text(key)));
    const kept = storedKeys(world.state, 't').filter((key) => key.startsWith('m/'));
    expect(kept.length).toBe(written);
    expect(await world.run(table.clear({ prefix: 'm/' }))).toBe(written);
    await world.run(table.batch(puts('m', 9)));
  });

  test('is a property of the table, which another opening cannot change', async () => {
    const { process } = await grouped();
    const open = (options: object) => world.run(process.store.table('t', options));
    await expect(open({ order: 'key', groupBy: ':' })).rejects.toMatchObject({ code: 'conflict' });
    await world.run(process.store.table('u', { order: 'key' }));
    await expect(world.run(process.store.table('u', GROUPED))).rejects.toMatchObject({ code: 'conflict' });
    const again = await open({});
    await world.run(again.batch([{ key: 'a/1', value: 'x' }]));
    for (const groupBy of ['', '//', 'é', ' '])
      await expect(open({ order: 'key', groupBy })).rejects.toMatchObject({ code: 'invalid' });
    await expect(open({ order: 'hash', groupBy: '/' })).rejects.toMatchObject({ code: 'invalid' });
  });
});
