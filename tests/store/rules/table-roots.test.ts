// Rules 16 to 18: tables are their roots; dropping; conditional removal.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore, type Table } from '../../../shared/store/index.ts';
import { faultsOf, storedIds } from './tree-of.ts';
import { begun, fill, open, opened } from './table-steps.ts';
import { isReadOf, isRemovalOf, isWriteOf, World } from './world.ts';
import { entityId, entityVersion } from '../../support/ids.ts';

const ROOT = entityId('t!t!');

test('rule 16: two processes that create a table at once get one table, which one of them made', async () => {
  const world = new World();
  const opening = [{}, { containers: 8 }].map((options) => world.process().store.table<string>('t', options));
  const [tableA, tableB] = (await world.run(Promise.all(opening))) as [Table<string>, Table<string>];
  await world.run(tableA.put('k', 'a'));
  expect((await world.run(tableB.get('k')))?.value).toBe('a');
  expect([tableA, tableB].filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 16: of two processes that create a table in different orders at once, one fails with a conflict', async () => {
  const world = new World();
  const [a, b] = [world.process(), world.process()];
  const ends = await world.run(
    Promise.allSettled([a.store.table('t', { order: 'key' }), b.store.table('t', { order: 'hash' })]),
  );
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(ends.find((end) => end.status === 'rejected')?.reason).toMatchObject({ code: 'conflict' });
});

test('rule 16: a process whose insert of a root was not answered reads it, and finds that it made it', async () => {
  const world = new World();
  const a = world.process();
  a.once(isWriteOf('insert', ROOT), { replyLost: true });
  const table = await open(world, a);
  expect(a.writes).toHaveLength(1);
  expect(table.isNew).toBe(true);
});

test('rule 16: a pre-split keeps the records that were written before it', async () => {
  const world = new World();
  const [a, b] = [world.process(), world.process()];
  let looks = 0;
  a.rule(async (call) => {
    if (!isReadOf(ROOT)(call)) return undefined;
    looks += 1;
    // The first look finds no root, the second is that of the pre-split.
    if (looks === 2) await (await b.store.table<string>('t')).put('k', 'early');
    return undefined;
  });
  const table = await world.run(a.store.table<string>('t', { containers: 8 }));
  expect((await world.run(table.get('k')))?.value).toBe('early');
});

test('a table whose root the provider refuses as invalid fails as invalid after one try', async () => {
  let writes = 0;
  const driver: Driver = {
    ...memoryDriver(),
    write: async () => ((writes += 1), [{ kind: 'refused', reason: 'invalid' }]),
  };
  const store = openStore({ driver });
  await expect(store.table('t')).rejects.toMatchObject({ code: 'invalid', table: 't' });
  expect(writes).toBe(1);
  await store.close();
});

test('rule 16: no name lists, drops or vacuums the containers of another', async () => {
  const world = new World();
  const { store } = world.process();
  const names = ['user', 'users', 'user.s', 'user-s', 'use'];
  for (const name of names) {
    const table = await world.run(store.table<string>(name, { order: 'key' }));
    await fill(world, table, 0, 30);
  }
  expect((await world.run(store.tables())).map(({ name }) => name)).toEqual(names.toSorted());
  await world.run(store.drop('user'));
  expect(await world.run(store.drop('use.'))).toBe(false);
  for (const name of names.slice(1)) expect(faultsOf(world.state, name)).toEqual([]);
  expect((await world.run(store.tables())).map(({ name }) => name)).not.toContain('user');
});

function numberOf(version: string): number {
  return Number.parseInt(version.split('-')[1]!, 36);
}

test('rule 17: no record of a recreated table meets a version of the dropped one, even if both bear the same number', async () => {
  const { world, store, table: first } = await opened();
  for (let round = 0; round < 9; round += 1) await world.run(first.put('k', `${round}`));
  await fill(world, first, 0, 60);
  const { version } = await world.run(first.put('k', 'last'));
  await world.run(store.drop('t'));
  const second = await world.run(store.table<string>('t'));
  // A put takes two numbers, for its record and its page; two records that share a page take three.
  for (let left = Infinity; left !== 0;) {
    if (left % 2 === 1) await world.run(second.putMany(['p', 'q'].map((name) => ({ key: name, value: '1' }))));
    left = numberOf(version) - numberOf((await world.run(second.put('k', '1'))).version);
    expect(left).toBeGreaterThanOrEqual(0);
  }
  await expect(world.run(second.put('k', '2', { ifVersion: version }))).rejects.toMatchObject({ code: 'conflict' });
  expect((await world.run(second.get('k')))?.value).toBe('1');
});

test('rule 17: a handle of a table that was created again in another order refuses to write or read positions of the old one', async () => {
  const world = new World();
  const [a, b] = [world.process(), world.process()];
  const old = await open(world, a, 'hash');
  await world.run(old.put('k', '1'));
  await world.run(b.store.drop('t'));
  const fresh = await open(world, b, 'key');
  for (const name of ['a', 'b', 'c']) await world.run(fresh.put(name, name));
  await expect(world.run(old.put('k', '2'))).rejects.toMatchObject({ code: 'conflict' });
  await expect(world.run(old.get('a'))).rejects.toMatchObject({ code: 'conflict' });
  await expect(world.run(old.scan()[Symbol.asyncIterator]().next())).rejects.toMatchObject({ code: 'conflict' });
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 18: every removal names the version that was read, and a refused one is read and tried again', async () => {
  const { world, a } = await begun(80);
  const [changed] = storedIds(world.state, 't');
  a.once(isRemovalOf(changed!), () => {
    const entity = world.state.entities.get(changed!)!;
    world.state.entities.set(changed!, { ...entity, version: entityVersion('another') });
    return undefined;
  });
  await world.run(a.store.drop('t'));
  const removals = a.calls.flatMap((call) => (call.kind === 'remove' ? call.removals : []));
  expect(removals.filter(({ id }) => id === changed).map(({ version }) => version)).toContain('another');
  expect(removals.every(({ version }) => version !== '' && version !== '*')).toBe(true);
  expect(storedIds(world.state, 't')).toEqual([]);
});
