// Counts and clears of a range: what they return, and which pages they need.
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import type { Change } from '../../../shared/store/container/change.ts';
import { planCompaction } from '../../../shared/store/container/compaction.ts';
import { countRecords, rowsToCount } from '../../../shared/store/container/count.ts';
import type { Range } from '../../../shared/store/container/layers.ts';
import { fromStoredHeader, type Snapshot, storedHeaderOf } from '../../../shared/store/container/snapshot.ts';
import { compareBytes } from '../../../shared/store/format/bytes.ts';
import { after, change, evaluated, expectModel, leafOf, type Model, put, randomChanges, remove } from './changes.ts';
import { snapshotWith, TABLE, unread, withRows } from './nodes.ts';

const KEYS = Array.from({ length: 400 }, (_, number) => `key-${String(number).padStart(3, '0')}`);
const ALL = { from: Buffer.alloc(0), end: undefined };

function rangeOf(from: number, end: number): Range {
  return { from: Buffer.from(KEYS[from]!), end: end < KEYS.length ? Buffer.from(KEYS[end]!) : undefined };
}

function counted(leaf: Snapshot, range: Range, nowMs = 0): number {
  const { stored, expired } = countRecords(leaf, range, nowMs, TABLE);
  return stored - expired;
}

/** The leaf with only those pages in memory that counting asks for. */
function withPagesToCount(leaf: Snapshot, range: Range): Snapshot {
  const asked = new Set(rowsToCount(leaf.header, range));
  return withRows(leaf, (ref) => (asked.has(ref) ? ref : unread(ref)));
}

test('after random changes, a count of a range equals the number of records that the model has there', () => {
  const random = seededRandom(5);
  const model: Model = new Map();
  let leaf = snapshotWith({});
  for (let round = 0; round < 60; round += 1) {
    const nowMs = round * 20_000;
    const count = [3, 40, 200][round % 3]!;
    leaf = after(leaf, evaluated(leaf, randomChanges(random, KEYS, model, { count, fill: round, nowMs }), { nowMs }));
    if (round % 7 === 6) leaf = after(leaf, evaluated(leaf, [], { nowMs, mergesAll: true }));
    const lives = KEYS.map((key) => (model.get(key)?.expiresAtMs ?? (model.has(key) ? Infinity : 0)) > nowMs);
    for (const [from, end] of [
      [0, 400],
      [17, 230],
      [round, round + 1],
    ] as const) {
      const range = rangeOf(from, end);
      const found = counted(withPagesToCount(leaf, range), range, nowMs);
      expect(found, `round ${round}, ${from} to ${end}`).toBe(lives.slice(from, end).filter(Boolean).length);
    }
  }
});

test('a leaf of one layer whose records do not expire is counted from its page table', () => {
  const puts = KEYS.map((key) => put(key, 1));
  const leaf = leafOf(puts);
  expect(leaf.header.pages.length).toBeGreaterThan(20);
  expect(rowsToCount(leaf.header, ALL)).toEqual([]);
  expect(counted(withPagesToCount(leaf, ALL), ALL)).toBe(400);
  expect(rowsToCount(leaf.header, rangeOf(17, 230)).length).toBe(2);
});

test('counting opens the page of a record that expires, until that is purged', () => {
  const puts = KEYS.map((key, number) => put(key, 1, number === 200 ? 10 : undefined));
  const leaf = leafOf(puts);
  expect(counted(leaf, ALL, 5)).toBe(400);
  expect(rowsToCount(leaf.header, ALL).length).toBe(1);
  expect(counted(leaf, ALL, 20)).toBe(399);
  const later = { nowMs: 400_000 };
  const purged = after(leaf, evaluated(leaf, [], { ...later, purges: true }));
  expect(rowsToCount(purged.header, ALL)).toEqual([]);
  const layered = after(leaf, evaluated(leaf, [remove(KEYS[3]!)], later));
  expect(counted(layered, ALL, later.nowMs)).toBe(398);
  const merged = after(layered, evaluated(layered, [], { ...later, mergesAll: true }));
  expect(counted(merged, ALL, later.nowMs)).toBe(398);
});

test('counting a version for the second time needs no page, counting its successor does', () => {
  const leaf = leafOf(KEYS.map((key) => put(key, 1)));
  const layered = after(leaf, evaluated(leaf, [put(KEYS[3]!, 2), remove(KEYS[9]!)]));
  expect(rowsToCount(layered.header, ALL).length).toBeGreaterThan(0);
  expect(counted(layered, ALL)).toBe(399);
  expect(rowsToCount(layered.header, ALL)).toEqual([]);
  expect(rowsToCount(layered.header, rangeOf(17, 230)).length).toBeGreaterThan(0);
  const recalled = fromStoredHeader(storedHeaderOf(layered));
  expect(rowsToCount(recalled.header, ALL)).toEqual([]);
  expect(counted(recalled, ALL)).toBe(399);
  const next = after(layered, evaluated(layered, [remove(KEYS[5]!)]));
  expect(rowsToCount(next.header, ALL).length).toBeGreaterThan(0);
  expect(counted(next, ALL)).toBe(398);
});

function clear(from: string, end: string | undefined, incarnation = snapshotWith({}).header.incarnation): Change {
  const whole = { kind: 'clear', end: end === undefined ? undefined : Buffer.from(end), incarnation } as const;
  return change(from, { kind: 'none' }, { whole });
}

/** The leaf with only those pages in memory that the change asks for. */
function withPagesFor(change: Change, leaf: Snapshot): Snapshot {
  const asked = new Set(planCompaction(withRows(leaf, unread), [change]).unread.map(({ slot }) => slot));
  return withRows(leaf, (ref) => (asked.has(ref.slot) ? ref : unread(ref)));
}

test('among random changes, a clear removes and counts the live records of its range, and no others', () => {
  const random = seededRandom(9);
  const model: Model = new Map();
  let leaf = snapshotWith({});
  for (let round = 0; round < 80; round += 1) {
    const nowMs = round * 20_000;
    const count = [3, 40, 200][round % 3]!;
    leaf = after(leaf, evaluated(leaf, randomChanges(random, KEYS, model, { count, fill: round, nowMs }), { nowMs }));
    const from = randomInt(random, KEYS.length);
    const end = from + randomInt(random, round % 2 === 0 ? 10 : 300);
    const change = clear(KEYS[from]!, KEYS[end]);
    const mergesAll = round % 5 === 4;
    const evaluation = evaluated(mergesAll ? leaf : withPagesFor(change, leaf), [change], { nowMs, mergesAll });
    const inRange = KEYS.slice(from, end < KEYS.length ? end : undefined);
    const lived = inRange.filter((key) => (model.get(key)?.expiresAtMs ?? (model.has(key) ? Infinity : 0)) > nowMs);
    expect(evaluation.verdicts).toMatchObject([{ kind: 'applied', cleared: { count: lived.length } }]);
    for (const key of inRange) model.delete(key);
    if (evaluation.appliedCount === 0) continue;
    const freed = new Set(evaluation.dropped.map(({ slot }) => slot));
    expect(evaluation.pages.filter(({ slot }) => freed.has(slot))).toEqual([]);
    // Pages that the clear did not ask for are still in place.
    const known = new Map(leaf.header.pages.map(({ number, content }) => [number, content]));
    const read = evaluation.pages.map((ref) => ({ ...ref, content: known.get(ref.number) ?? ref.content }));
    leaf = after(leaf, { ...evaluation, pages: read });
    let first = 0;
    const { layers, pages } = leaf.header;
    for (const rows of [pages.length - layers.reduce((sum, each) => sum + each, 0), ...layers]) {
      const lows = pages.slice(first, (first += rows)).map(({ low }) => low);
      expect(lows).toEqual(lows.toSorted(compareBytes));
      expect(lows.slice(0, 1)).toEqual(rows > 0 ? [leaf.header.low] : []);
    }
    expectModel(leaf, model, nowMs, KEYS);
  }
});

test('a clear of a whole leaf of one layer opens no page, and takes one number per record', () => {
  const leaf = leafOf(KEYS.map((key) => put(key, 1)));
  const change = clear('', undefined);
  expect(planCompaction(withRows(leaf, unread), [change]).unread).toEqual([]);
  const cleared = evaluated(withPagesFor(change, leaf), [change]);
  expect(cleared).toMatchObject({ pages: [], layers: [], written: [], appliedCount: 400 });
  expect(cleared.dropped.length).toBe(leaf.header.pages.length);
  expect(cleared.nextNumber).toBe(leaf.header.nextNumber + 400);
  expect(rowsToCount(leaf.header, ALL)).toEqual([]);
});
