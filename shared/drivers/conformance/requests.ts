// Several entities in one request: order, outcomes, budgets, and what a failure may mean.
import type { EntityId } from '../../store/contract/driver.ts';
import { same } from './assertions.ts';
import { check, type Check } from './contract-check.ts';
import {
  CALL,
  entityId,
  idsOfOneLane,
  insert,
  noise,
  part,
  partName,
  patch,
  readOne,
  replace,
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
