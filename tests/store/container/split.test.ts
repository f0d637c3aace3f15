// How a split shares out pages and layers.
import { expect, test } from 'vitest';
import { layersOf } from '../../../shared/store/container/layers.ts';
import { sealPage } from '../../../shared/store/container/new-pages.ts';
import { pageOf, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import { cutPages, planSplit } from '../../../shared/store/container/split.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { pageFrom, recordsOf, tombstoneOf } from '../../../shared/store/format/page-body.ts';
import { hexId } from '../../support/ids.ts';
import { EMPTY_LEAF, recordOf, RULES, snapshotWith } from './nodes.ts';

const IDS = ['1111111111111111', '2222222222222222'].map(hexId);
const EMPTY = Buffer.alloc(0);

/** A page with records of these keys, and tombstones of those behind a minus. */
function page(low: string, slot: number, ...keys: readonly string[]): PageRef {
  const records = keys.map((key) => (key.startsWith('-') ? tombstoneOf(Buffer.from(key.slice(1)), 1) : recordOf(key)));
  return sealPage(pageFrom(records), EMPTY_LEAF, { low: Buffer.from(low), slot, number: slot + 1 }, RULES);
}

function splitAt(low: string, ...layers: readonly (readonly PageRef[])[]) {
  const snapshot = snapshotWith({ pages: layers.flat(), layers: layers.slice(1).map((rows) => rows.length) });
  const cut = { layers, lows: [EMPTY, Buffer.from(low)] };
  const ids = IDS.values();
  const input = { snapshot, attempt: hexId('ffffffffffffffff'), nowMs: 0, drawId: () => ids.next().value! };
  const { left, inserts } = planSplit(input, cut, snapshot.header.nextNumber, RULES);
  const keysOf = (node: Header) =>
    layersOf(node).map((rows) =>
      rows.map((ref) => [ref.low.toString(), ...keysIn({ ...snapshot, header: node }, ref)].join(' ')),
    );
  return { left, right: inserts[0]!, leftKeys: keysOf(left), rightKeys: keysOf(inserts[0]!) };
}

function keysIn(snapshot: Snapshot, ref: PageRef): string[] {
  return recordsOf(pageOf(snapshot, ref, 't')).map(({ key }) => Buffer.from(key).toString());
}

test('a split divides pages that extend over the split point, and keeps or moves the others whole', () => {
  const [base, above] = [[page('', 0, 'a', 'c'), page('d', 1, 'd', 'z')], [page('', 2, 'b', 'y')]];
  const { left, right, leftKeys, rightKeys } = splitAt('d', base, above);
  expect(leftKeys).toEqual([[' a c'], [' b']]);
  expect(rightKeys).toEqual([['d d z'], ['d y']]);
  expect(left.pages[0]).toBe(base[0]);
  expect(left.pages[1]!.slot).toBe(2);
  const fresh = [left.pages[1]!, ...right.pages].map(({ number }) => number);
  expect(fresh.every((number) => number >= EMPTY_LEAF.nextNumber && number < left.nextNumber)).toBe(true);
  expect(new Set(fresh).size).toBe(3);
});

test('a node gets no empty layers above its base', () => {
  const { left, right, leftKeys, rightKeys } = splitAt(
    'm',
    [page('', 0, 'a', 'n')],
    [page('', 1, 'b')],
    [page('', 2, 'o')],
  );
  expect([leftKeys, left.layers]).toEqual([[[' a'], [' b']], [1]]);
  expect([rightKeys, right.layers]).toEqual([[['m n'], ['m o']], [1]]);
});

test('a tombstone stays in a layer, even above a base that becomes empty', () => {
  const { right, rightKeys } = splitAt('m', [page('', 0, 'a')], [page('', 1, 'b', '-n')]);
  expect([rightKeys, right.layers]).toEqual([[[], ['m n']], [1]]);
});

/** A base without layers, with its pages cut for a split into so many parts. */
function cutInto(parts: number, pages: readonly PageRef[], deadSlots: readonly number[] = []) {
  const snapshot = snapshotWith({ pages, deadSlots: deadSlots.map((slot) => ({ slot, chunksMost: 1 })) });
  const cut = cutPages(snapshot, pages, { nextNumber: snapshot.header.nextNumber, parts }, RULES);
  const keysOf = (ref: PageRef): string => [ref.low.toString(), ...keysIn(snapshot, ref)].join(' ');
  return { ...cut, keys: cut.pages.map(keysOf) };
}

test('rule 13: the pieces of a cut page take fresh numbers and free slots', () => {
  const pages = [page('', 0, 'a', 'b', 'c', 'd'), page('m', 1, 'm', 'n', 'o', 'p')];
  const { keys, nextNumber, ...cut } = cutInto(8, pages, [2, 5]);
  expect(keys.flatMap((each) => each.split(' ').slice(1))).toEqual(['a', 'b', 'c', 'd', 'm', 'n', 'o', 'p']);
  expect(keys.length).toBeGreaterThan(4);
  const numbers = cut.pages.map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every((number) => number >= EMPTY_LEAF.nextNumber && number < nextNumber)).toBe(true);
  const slots = cut.pages.map(({ slot }) => slot);
  expect(new Set(slots).size).toBe(slots.length);
  expect(slots).toEqual(expect.not.arrayContaining([2, 5]));
});

test('small pages and lone records are not cut', () => {
  const pages = [page('', 0, 'a'), page('b', 1, 'b'), page('c', 2, 'c'), page('d', 3, 'd')];
  expect(cutInto(2, pages)).toMatchObject({ pages, nextNumber: EMPTY_LEAF.nextNumber });
  expect(cutInto(16, [pages[0]!])).toMatchObject({ pages: [pages[0]], nextNumber: EMPTY_LEAF.nextNumber });
});
