// Listing: prefixes, pages, and changes while it runs.
import type { Driver, EntityId } from '../../store/contract/driver.ts';
import { same } from './assertions.ts';
import { check, type Check } from './contract-check.ts';
import { CALL, entityId, insert, listAll, part, readOne, removeOne, written } from './check-calls.ts';

export const LIST: readonly Check[] = [
  check('a listing of a prefix that nobody used is empty', async (driver, prefix) => {
    same(await listAll(driver, prefix, 10), []);
  }),

  check('a listing gives each id once, and in one order, however small its pages are', async (driver, prefix) => {
    const ids = await insertMany(driver, prefix, 40);
    const whole = await listAll(driver, prefix, driver.limits.listMax);
    same([...whole].sort(), ids);
    for (const count of [1, 7]) same(await listAll(driver, prefix, count), whole);
  }),

  check('a listing that is longer than any page of a service gives all ids', async (driver, prefix) => {
    // Datastore ends a page after 300 entities, whatever was asked for.
    const ids = await insertInBulk(driver, prefix, 650);
    same((await listAll(driver, prefix, driver.limits.listMax)).sort(), ids);
  }),

  check('a listing of `user` with its end mark does not give `user2`', async (driver, prefix) => {
    for (const name of ['user~', 'user~1', 'user~~~', 'user~z', 'user2~', 'use~', 'user!', 'user'])
      await written(driver, insert(entityId(prefix + name), [part('h', 'x')]));
    const wanted = ['user~', 'user~1', 'user~z', 'user~~~'].map((name) => prefix + name);
    same((await listAll(driver, `${prefix}user~`, 2)).sort(), wanted);
  }),

  check('a listing gives all ids that stay while others are inserted and removed', async (driver, prefix) => {
    const staying = await insertMany(driver, `${prefix}s`, 24);
    const leaving = await insertMany(driver, `${prefix}r`, 24);
    let turn = 0;
    const disturb = async () => {
      await written(driver, insert(entityId(`${prefix}s${turn}-new`), [part('h', 'x')]));
      const id = leaving[turn];
      if (id !== undefined) await remove(driver, id);
      turn += 1;
    };
    const listed = await listAll(driver, prefix, 4, disturb);
    same(new Set(listed).size, listed.length);
    same(listed.filter((id) => staying.includes(id)).sort(), staying);
  }),

  check('an id that was removed before is not listed', async (driver, prefix) => {
    const ids = await insertMany(driver, prefix, 3);
    await remove(driver, ids[1]!);
    same((await listAll(driver, prefix, 10)).sort(), [ids[0], ids[2]]);
  }),
];

async function insertMany(driver: Driver, prefix: string, count: number): Promise<EntityId[]> {
  const ids = Array.from({ length: count }, (_, n) => entityId(`${prefix}${n}`));
  await Promise.all(ids.map((id) => written(driver, insert(id, [part('h', 'x')]))));
  return ids.sort();
}

async function insertInBulk(driver: Driver, prefix: string, count: number): Promise<EntityId[]> {
  const ids = Array.from({ length: count }, (_, n) => entityId(`${prefix}${n}`));
  const batches = Map.groupBy(ids, (id) => `${driver.limits.lane(id)} ${Math.floor(ids.indexOf(id) / 100)}`);
  for (const batch of batches.values()) {
    const writes = batch.map((id) => insert(id, [part('h', 'x')]));
    const outcomes = await driver.write(writes, CALL);
    if (outcomes.some(({ kind }) => kind !== 'written')) throw new Error('not written');
  }
  return ids.sort();
}

async function remove(driver: Driver, id: EntityId): Promise<void> {
  const entity = await readOne(driver, id, []);
  await removeOne(driver, { id, version: entity!.version });
}
