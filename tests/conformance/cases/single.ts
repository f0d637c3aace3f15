// One write, read or removal at a time: conditions, versions, absence.
import { expect } from 'vitest';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { declarer } from '../declare.ts';
import {
  type Harness,
  insert,
  part,
  patch,
  readOne,
  removeOne,
  replace,
  textOf,
  writeOne,
  written,
} from '../harness.ts';
import { entityId } from '../../support/ids.ts';

const REFUSED = { kind: 'refused', reason: 'condition' };

export function singleCases(harness: Harness, opened: () => Driver): void {
  const test = declarer(harness, opened);

  test('an inserted entity is read back with all its parts', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'head'), part('c', 'count'), part('p0', 'zero'), part('p17', 'x')]));
    expect(textOf(await readOne(driver, id))).toEqual({ h: 'head', c: 'count', p0: 'zero', p17: 'x' });
  });

  test('an insert of an existing entity is refused and changes nothing', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'first')]));
    expect(await writeOne(driver, insert(id, [part('h', 'second')]))).toMatchObject(REFUSED);
    expect(textOf(await readOne(driver, id))).toEqual({ h: 'first' });
  });

  test('a patch changes the named parts and keeps the others', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'old'), part('p1', 'one'), part('p2', 'two')]));
    await written(driver, patch(id, version, [part('h', 'new', 1), part('p2', 'TWO', 1), part('p3', 'three')]));
    expect(textOf(await readOne(driver, id))).toEqual({ h: 'new', p1: 'one', p2: 'TWO', p3: 'three' });
  });

  for (const [kind, change] of [['patch', patch] as const, ['replace', replace] as const])
    test(`a ${kind} at a stale version is refused and changes nothing`, async (driver, id) => {
      const stale = await written(driver, insert(id, [part('h', '1')]));
      await written(driver, change(id, stale, [part('h', '2', 1)]));
      expect(await writeOne(driver, change(id, stale, [part('h', '3', 1)]))).toMatchObject(REFUSED);
      expect(textOf(await readOne(driver, id))).toEqual({ h: '2' });
    });

  test('a replace leaves no part that it does not name', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'old'), part('p1', 'one')]));
    await written(driver, replace(id, version, [part('h', 'new', 1), part('p2', 'two')]));
    expect(textOf(await readOne(driver, id))).toEqual({ h: 'new', p2: 'two' });
  });

  test('rule 18: a removal at the present version removes', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    expect(await removeOne(driver, { id, version })).toEqual({ kind: 'removed' });
    expect(await readOne(driver, id)).toBeUndefined();
  });

  test('rule 18: a removal at a stale version is refused and removes nothing', async (driver, id) => {
    const stale = await written(driver, insert(id, [part('h', '1')]));
    await written(driver, patch(id, stale, [part('h', '2', 1)]));
    expect(await removeOne(driver, { id, version: stale })).toMatchObject(REFUSED);
    expect(textOf(await readOne(driver, id))).toEqual({ h: '2' });
  });

  test('rule 18: a removal of what is gone is refused', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    await removeOne(driver, { id, version });
    expect(await removeOne(driver, { id, version })).toMatchObject(REFUSED);
  });

  test('a patch or replace of what is gone is refused and creates nothing', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    await removeOne(driver, { id, version });
    expect(await writeOne(driver, patch(id, version, [part('h', 'y', 1)]))).toMatchObject(REFUSED);
    expect(await writeOne(driver, replace(id, version, [part('h', 'y', 1)]))).toMatchObject(REFUSED);
    expect(await readOne(driver, id)).toBeUndefined();
  });

  test('of writes that race at one version exactly one is written', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'x')]));
    const racing = Array.from({ length: 8 }, (_, n) => writeOne(driver, patch(id, version, [part('h', `${n}`, 1)])));
    const kinds = (await Promise.all(racing)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'written')).toHaveLength(1);
  });

  test('every change brings a version that was not there before', async (driver, id) => {
    const versions = [await written(driver, insert(id, [part('h', '0')]))];
    for (let n = 1; n < 12; n += 1) {
      const write = n % 3 === 0 ? replace : patch;
      versions.push(await written(driver, write(id, versions.at(-1)!, [part('h', `${n}`, 1)])));
    }
    expect(new Set(versions).size).toBe(versions.length);
  });

  test('the version that a write answers is the one that a read shows', async (driver, id) => {
    const inserted = await written(driver, insert(id, [part('h', '1')]));
    expect((await readOne(driver, id))?.version).toBe(inserted);
    const patched = await written(driver, patch(id, inserted, [part('h', '2', 1)]));
    expect((await readOne(driver, id, ['h']))?.version).toBe(patched);
    const replaced = await written(driver, replace(id, patched, [part('h', '3', 1)]));
    expect((await readOne(driver, id))?.version).toBe(replaced);
  });

  test('an id may use every allowed character and the full length', async (driver, prefix) => {
    const alphabet = 'ABCXYZabcxyz0189._-!~';
    const id = entityId((prefix + alphabet).padEnd(driver.limits.idBytesMax, alphabet));
    await written(driver, insert(id, [part('h', 'x')]));
    expect((await readOne(driver, id))?.id).toBe(id);
  });

  test('ids that differ in case are different entities', async (driver, prefix) => {
    await written(driver, insert(entityId(`${prefix}a`), [part('h', 'small')]));
    await written(driver, insert(entityId(`${prefix}A`), [part('h', 'large')]));
    expect(textOf(await readOne(driver, entityId(`${prefix}a`)))).toEqual({ h: 'small' });
  });
}
