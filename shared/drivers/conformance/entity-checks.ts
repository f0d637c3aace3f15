// One entity at a time: conditions, versions, absence, parts, sizes, chunks and limits.
import { chunksOf, type DriverLimits, type Entity } from '../../store/contract/driver.ts';
import {
  check,
  type Check,
  entityId,
  insert,
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

export const PARTS: readonly Check[] = [
  check('a read brings the parts it names and no others', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'head'), part('p1', 'one'), part('p10', 'ten')]));
    same(textOf(await readOne(driver, id, ['h', 'p1'])), { h: 'head', p1: 'one' });
  }),

  check('a read of no part, or of an absent one, brings the version', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'head')]));
    for (const names of [[], ['p5']]) same(await readOne(driver, id, names), { id, version, parts: new Map() });
  }),

  check('an empty part in a patch drops the part, which can come back', async (driver, id) => {
    const first = await written(driver, insert(id, [part('h', 'head'), part('p1', 'one')]));
    const second = await written(driver, patch(id, first, [part('p1', '', 1)]));
    same(textOf(await readOne(driver, id)), { h: 'head' });
    same(textOf(await readOne(driver, id, ['p1'])), {});
    await written(driver, patch(id, second, [part('p1', 'again', 1)]));
    same(textOf(await readOne(driver, id)), { h: 'head', p1: 'again' });
  }),

  check('an insert or replace ignores empty parts', async (driver, id) => {
    const version = await written(driver, insert(id, [part('h', 'head'), part('p1', '')]));
    await written(driver, replace(id, version, [part('h', 'new', 1), part('p2', '')]));
    same(textOf(await readOne(driver, id)), { h: 'new' });
  }),

  check('all byte values come back, also from a view of a larger buffer', async (driver, id) => {
    const large = Uint8Array.from({ length: 1_024 }, (_, n) => n % 256);
    const view = large.subarray(100, 612);
    await written(driver, insert(id, [part('p0', view)]));
    sameBytes(await readOne(driver, id), 'p0', view);
  }),

  check('rule 23: a part grows to 300 KB, shrinks and goes, and never shows old chunks', async (driver, id) => {
    let peak = 1;
    let version = await written(driver, insert(id, [part('h', 'head'), part('p1', 'small')]));
    for (const size of [300_000, 100, 65_532, 65_533, 200_000, 65_536, 1, 131_064, 299_999]) {
      const bytes = noise(size);
      version = await written(driver, patch(id, version, [part('p1', bytes, peak)]));
      peak = chunksOf(300_000, driver.limits);
      sameBytes(await readOne(driver, id), 'p1', bytes);
      sameBytes(await readOne(driver, id, ['p1']), 'p1', bytes);
    }
    await written(driver, patch(id, version, [part('p1', '', peak)]));
    same(textOf(await readOne(driver, id)), { h: 'head' });
  }),

  check('an entity of exactly the largest size is written and read, whole and by its part', async (driver, id) => {
    const bytes = noise(largestPart(driver.limits));
    const version = await written(driver, insert(id, [part('p0', bytes)]));
    sameBytes(await readOne(driver, id), 'p0', bytes);
    sameBytes(await readOne(driver, id, ['p0']), 'p0', bytes);
    await written(driver, replace(id, version, [part('p1', bytes)]));
  }),

  check('an entity of the most chunks is written, patched and read', async (driver, id) => {
    const count = Math.min(driver.limits.chunksMax, 250);
    const parts = Array.from({ length: count }, (_, n) => part(`p${n}`, noise(200)));
    const version = await written(driver, insert(id, parts));
    await written(driver, patch(id, version, [part('p7', 'seven', 1)]));
    const entity = await readOne(driver, id);
    same(entity?.parts.size, count);
    same(Buffer.from(entity!.parts.get(partName('p7'))!).toString(), 'seven');
  }),

  check('an insert or replace that is too large is refused for its limit and changes nothing', async (driver, id) => {
    const parts = [part('p0', noise(largestPart(driver.limits) + 1))];
    matches(await writeOne(driver, insert(id, parts)), TOO_LARGE);
    same(await readOne(driver, id), undefined);
    const version = await written(driver, insert(id, [part('h', 'kept')]));
    matches(await writeOne(driver, replace(id, version, parts)), TOO_LARGE);
    same(textOf(await readOne(driver, id)), { h: 'kept' });
  }),

  check('a patch that makes an entity far too large is refused for its limit', async (driver, id) => {
    const most = Math.floor(driver.limits.entityBytesMax * 0.9);
    const version = await written(driver, insert(id, [part('p0', noise(most))]));
    matches(await writeOne(driver, patch(id, version, [part('p1', noise(most))])), TOO_LARGE);
    same((await readOne(driver, id, []))?.version, version);
  }),
];

const TOO_LARGE = { kind: 'refused', reason: 'limit' };

/** Bytes of the largest part that an entity of a single part can hold. */
function largestPart(limits: DriverLimits): number {
  const room = limits.entityBytesMax - limits.entityOverheadBytes;
  let size = room - limits.chunkOverheadBytes;
  while (size + chunksOf(size, limits) * limits.chunkOverheadBytes > room) size -= 1;
  return size;
}

/** Compared as buffers: a matcher would walk and print hundreds of thousands of numbers. */
function sameBytes(entity: Entity | undefined, name: string, bytes: Uint8Array): void {
  const found = entity?.parts.get(partName(name));
  same(found?.byteLength, bytes.byteLength);
  same(Buffer.compare(found!, bytes), 0);
}
