// One write, read or removal at a time: conditions, versions, absence.
import { matches, same } from './assertions.ts';
import { check, type Check } from './contract-check.ts';
import {
  entityId,
  insert,
  part,
  patch,
  readOne,
  removeOne,
  replace,
  textOf,
  writeOne,
  written,
} from './check-calls.ts';

const REFUSED = { kind: 'refused', reason: 'condition' };

export const SINGLE: readonly Check[] = [
  check('an inserted entity is read back with all its parts', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'head'), part('c', 'count'), part('p0', 'zero'), part('p17', 'x')]));
    same(textOf(await readOne(driver, id)), { h: 'head', c: 'count', p0: 'zero', p17: 'x' });
  }),

  check('an insert of an existing entity is refused and changes nothing', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'first')]));
    matches(await writeOne(driver, insert(id, [part('h', 'second')])), REFUSED);
    same(textOf(await readOne(driver, id)), { h: 'first' });
  }),

  check('a patch changes the named parts and keeps the others', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'old'), part('p1', 'one'), part('p2', 'two')]));
    await written(driver, patch(id, version, [part('h', 'new', 1), part('p2', 'TWO', 1), part('p3', 'three')]));
    same(textOf(await readOne(driver, id)), { h: 'new', p1: 'one', p2: 'TWO', p3: 'three' });
  }),

  ...[['patch', patch] as const, ['replace', replace] as const].map(([kind, change]) =>
    check(`a ${kind} at a stale version is refused and changes nothing`, async (driver, id) => {
      const stale = await written(driver, insert(id, [part('h', '1')]));
      await written(driver, change(id, stale, [part('h', '2', 1)]));
      matches(await writeOne(driver, change(id, stale, [part('h', '3', 1)])), REFUSED);
      same(textOf(await readOne(driver, id)), { h: '2' });
    }),
  ),

  check('a replace leaves no part that it does not name', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'old'), part('p1', 'one')]));
    await written(driver, replace(id, version, [part('h', 'new', 1), part('p2', 'two')]));
    same(textOf(await readOne(driver, id)), { h: 'new', p2: 'two' });
  }),

  check('rule 18: a removal at the present version removes', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    same(await removeOne(driver, { id, version }), { kind: 'removed' });
    same(await readOne(driver, id), undefined);
  }),

  check('rule 18: a removal at a stale version is refused and removes nothing', async (driver, id) => {
    const stale = await written(driver, insert(id, [part('h', '1')]));
    await written(driver, patch(id, stale, [part('h', '2', 1)]));
    matches(await removeOne(driver, { id, version: stale }), REFUSED);
    same(textOf(await readOne(driver, id)), { h: '2' });
  }),

  check('rule 18: a removal of what is gone is refused', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    await removeOne(driver, { id, version });
    matches(await removeOne(driver, { id, version }), REFUSED);
  }),

  check('a patch or replace of what is gone is refused and creates nothing', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    await removeOne(driver, { id, version });
    matches(await writeOne(driver, patch(id, version, [part('h', 'y', 1)])), REFUSED);
    matches(await writeOne(driver, replace(id, version, [part('h', 'y', 1)])), REFUSED);
    same(await readOne(driver, id), undefined);
  }),

  check('of writes that race at one version exactly one is written', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    const racing = Array.from({ length: 8 }, (_, n) => writeOne(driver, patch(id, version, [part('h', `${n}`, 1)])));
    const kinds = (await Promise.all(racing)).map(({ kind }) => kind);
    same(kinds.filter((kind) => kind === 'written').length, 1);
  }),

  check('every change brings a version that was not there before', async (driver, id) => {
    const versions = [await written(driver, insert(id, [part('h', '0')]))];
    for (let n = 1; n < 12; n += 1) {
      const write = n % 3 === 0 ? replace : patch;
      versions.push(await written(driver, write(id, versions.at(-1)!, [part('h', `${n}`, 1)])));
    }
    same(new Set(versions).size, versions.length);
  }),

  check('the version that a write answers is the one that a read shows', async (driver, id) => {
    const inserted = await written(driver, insert(id, [part('h', '1')]));
    same((await readOne(driver, id))?.version, inserted);
    const patched = await written(driver, patch(id, inserted, [part('h', '2', 1)]));
    same((await readOne(driver, id, ['h']))?.version, patched);
    const replaced = await written(driver, replace(id, patched, [part('h', '3', 1)]));
    same((await readOne(driver, id))?.version, replaced);
  }),

  check('an id may use every allowed character and the full length', async (driver, prefix) => {
    const alphabet = 'ABCXYZabcxyz0189._-!~';
    const id = entityId((prefix + alphabet).padEnd(driver.limits.idBytesMax, alphabet));
    await written(driver, insert(id, [part('h', 'x')]));
    same((await readOne(driver, id))?.id, id);
  }),

  check('ids that differ in case are different entities', async (driver, prefix) => {
    await written(driver, insert(entityId(`${prefix}a`), [part('h', 'small')]));
    await written(driver, insert(entityId(`${prefix}A`), [part('h', 'large')]));
    same(textOf(await readOne(driver, entityId(`${prefix}a`))), { h: 'small' });
  }),
];
