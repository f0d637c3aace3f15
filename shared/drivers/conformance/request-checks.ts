// Several entities in a request, listings, and the end of a driver.
import type { Driver, EntityId } from '../../store/contract/driver.ts';
import {
  CALL,
  check,
  type Check,
  entityId,
  idsOfOneLane,
  insert,
  listAll,
  matches,
  noise,
  part,
  partName,
  patch,
  readOne,
  removeOne,
  replace,
  same,
  textOf,
  written,
} from './check-calls.ts';

export const REQUESTS: readonly Check[] = [
  check('a read answers in the order of its requests, undefined for what is missing', async (driver, prefix) => {
    const ids = Array.from({ length: Math.min(driver.limits.readsMax, 9) }, (_, n) => entityId(`${prefix}${n}`));
    for (const id of ids.slice(1)) await written(driver, insert(id, [part('h', id)]));
    const asked = [...ids].reverse().map((id) => ({ id, parts: [partName('h')] }));
    const found = (await driver.read(asked, CALL)).map((answer) => answer?.id);
    same(found, [...ids.slice(1).reverse(), undefined]);
  }),

  check('a read may want all of one entity and different parts of others', async (driver, prefix) => {
    if (driver.limits.readsMax < 3) return;
    const ids = ['a', 'b', 'c'].map((suffix) => entityId(prefix + suffix));
    for (const id of ids) await written(driver, insert(id, [part('h', 'h'), part('p1', 'one'), part('p2', 'two')]));
    const wanted = ['all', [partName('h')], [partName('p2')]] as const;
    const asked = ids.map((id, n) => ({ id, parts: wanted[n]! }));
    const found = (await driver.read(asked, CALL)).map(textOf);
    same(found, [{ h: 'h', p1: 'one', p2: 'two' }, { h: 'h' }, { p2: 'two' }]);
  }),

  check('several writes of one lane ride in one request, with a version for each', async (driver, prefix) => {
    const [a, b, c] = idsOfOneLane(driver, prefix, 3) as [EntityId, EntityId, EntityId];
    const versionB = await written(driver, insert(b, [part('h', 'old'), part('p1', 'kept')]));
    const versionC = await written(driver, insert(c, [part('h', 'old'), part('p1', 'gone')]));
    const writes = [
      insert(a, [part('h', 'new a')]),
      patch(b, versionB, [part('h', 'new b', 1)]),
      replace(c, versionC, [part('h', 'new c', 1)]),
    ];
    const outcomes = await driver.write(writes, CALL);
    const entities = [await readOne(driver, a), await readOne(driver, b), await readOne(driver, c)];
    same(entities.map(textOf), [{ h: 'new a' }, { h: 'new b', p1: 'kept' }, { h: 'new c' }]);
    const wanted = entities.map((entity) => ({ kind: 'written', version: entity?.version }));
    same(outcomes, wanted);
  }),

  check(
    'rule 1: no member of a request that failed is called written, and refused only if none was applied',
    async (driver, prefix, around) => {
      const [a, b, c] = idsOfOneLane(driver, prefix, 3) as [EntityId, EntityId, EntityId];
      await written(driver, insert(b, [part('h', 'there')]));
      const writes = [a, b, c].map((id) => insert(id, [part('h', 'new')]));
      const wanted = around.isAtomic ? 'refused' : 'unknown';
      const kinds = (await driver.write(writes, CALL)).map(({ kind }) => kind);
      same(kinds, [wanted, wanted, wanted]);
      const applied = [await readOne(driver, a), await readOne(driver, c)].filter((entity) => entity !== undefined);
      same(around.isAtomic ? applied : [], []);
      same(textOf(await readOne(driver, b)), { h: 'there' });
    },
  ),

  check('rule 1: a stale patch among others changes nothing of its own entity', async (driver, prefix) => {
    const [a, b] = idsOfOneLane(driver, prefix, 2) as [EntityId, EntityId];
    const first = await written(driver, insert(a, [part('h', '1')]));
    await written(driver, patch(a, first, [part('h', '2', 1)]));
    const outcomes = await driver.write([insert(b, [part('h', 'x')]), patch(a, first, [part('h', '3', 1)])], CALL);
    same(outcomes.filter(({ kind }) => kind === 'written').length, 0);
    same(textOf(await readOne(driver, a)), { h: '2' });
  }),

  check('a request takes as many writes as the limit says', async (driver, prefix) => {
    const ids = idsOfOneLane(driver, prefix, driver.limits.writesMax);
    const writes = ids.map((id) => insert(id, [part('h', 'x')]));
    const outcomes = await driver.write(writes, CALL);
    same(outcomes.filter(({ kind }) => kind === 'written').length, ids.length);
  }),

  check('a request takes as many bytes as the limit says', async (driver, prefix) => {
    const { writeBytesMax, entityBytesMax, writesMax } = driver.limits;
    const size = Math.floor(Math.min(entityBytesMax * 0.8, writeBytesMax / 3));
    const count = Math.min(Math.floor(writeBytesMax / size), writesMax - 1);
    const [last, ...ids] = idsOfOneLane(driver, prefix, count + 1) as [EntityId, ...EntityId[]];
    const rest = insert(last, [part('p0', noise(Math.min(writeBytesMax - count * size, size)))]);
    const outcomes = await driver.write([...ids.map((id) => insert(id, [part('p0', noise(size))])), rest], CALL);
    same(outcomes.filter(({ kind }) => kind === 'written').length, count + 1);
  }),

  check('rule 18: several removals have an outcome each', async (driver, prefix) => {
    const ids = idsOfOneLane(driver, prefix, 3);
    const removals = [];
    for (const id of ids) removals.push({ id, version: await written(driver, insert(id, [part('h', 'x')])) });
    const removed = { kind: 'removed' };
    same(await driver.remove(removals, CALL), [removed, removed, removed]);
    for (const id of ids) same(await readOne(driver, id), undefined);
  }),

  check('rule 18: a stale removal among others removes nothing of its own entity', async (driver, prefix) => {
    const [a, b] = idsOfOneLane(driver, prefix, 2) as [EntityId, EntityId];
    const versionA = await written(driver, insert(a, [part('h', 'x')]));
    const stale = await written(driver, insert(b, [part('h', '1')]));
    await written(driver, patch(b, stale, [part('h', '2', 1)]));
    const one = { id: a, version: versionA };
    const [, outcome] = await driver.remove([one, { id: b, version: stale }], CALL);
    same(outcome!.kind === 'removed', false);
    same(textOf(await readOne(driver, b)), { h: '2' });
  }),
];

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
    const ids = await insertMany(driver, prefix, 650);
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
    const ids = ['0', '1', '2'].map((name) => entityId(prefix + name));
    for (const id of ids) await written(driver, insert(id, [part('h', 'x')]));
    await remove(driver, ids[1]!);
    same((await listAll(driver, prefix, 10)).sort(), [ids[0], ids[2]]);
  }),
];

const UNAVAILABLE = { status: 'rejected', reason: { code: 'unavailable' } };
/** Certainly not applied, and the cause says why. */
const UNSENT = { kind: 'refused', cause: { code: 'unavailable' } };

export const CLOSE: readonly Check[] = [
  check('a closed driver rejects reads and lists, and sends no write or removal', async (_driver, id, around) => {
    const own = await around.open();
    const version = await written(own, insert(id, [part('h', 'x')]));
    await own.close();
    await own.close();
    const asked = [own.read([{ id, parts: 'all' }], CALL), own.list(id, undefined, 10, CALL)];
    matches(await Promise.allSettled(asked), [UNAVAILABLE, UNAVAILABLE]);
    matches(await own.write([patch(id, version, [part('h', 'y', 1)])], CALL), [UNSENT]);
    matches(await own.remove([{ id, version }], CALL), [UNSENT]);
  }),
];

/** In few requests, which follow each other. */
async function insertMany(driver: Driver, prefix: string, count: number): Promise<EntityId[]> {
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
