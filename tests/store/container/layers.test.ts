// Layers: which of them a commit writes, merges and purges; lookups find the newest record.
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import type { Change } from '../../../shared/store/container/change.ts';
import { planCompaction, deadShare } from '../../../shared/store/container/compaction.ts';
import { mergeLayers, PURGE_AFTER_MS, withoutDead } from '../../../shared/store/container/merge-pages.ts';
import { findRecord, layersOf, recordsIn } from '../../../shared/store/container/layers.ts';
import { pageOf, peekPage, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import { recordCount } from '../../../shared/store/format/page-body.ts';
import { PageContent, type PageRef } from '../../../shared/store/format/page-table.ts';
import { positionsOf } from '../../../shared/store/format/position.ts';
import { after, evaluated, expectModel, KEYS, leafOf, type Model, put, randomChanges, remove } from './changes.ts';
import { snapshotWith, TABLE, unread, withRows } from './nodes.ts';

function key(index: number): string {
  return `k${String(index).padStart(4, '0')}`;
}

/** A container whose base holds `count` records. */
function filled(count: number): Snapshot {
  return leafOf(between(0, count, 1));
}

function between(first: number, end: number, fill = 2): Change[] {
  return Array.from({ length: end - first }, (_, index) => put(key(first + index), fill));
}

/** Puts to every twentieth of a thousand records. */
const SCATTERED = between(0, 1_000).filter((_, index) => index % 20 === 0);

test('changes scattered over a large leaf become a new layer of their own records', () => {
  const snapshot = filled(1_000);
  const evaluation = evaluated(snapshot, SCATTERED);
  expect(snapshot.header.pages.length).toBeGreaterThan(50);
  expect(evaluation.layers.length).toBe(1);
  expect(evaluation.written.reduce((sum, { ref }) => sum + ref.records, 0)).toBe(50);
});

test('neighbouring changes are merged into their page if they are at least as many as its records', () => {
  const snapshot = filled(1_000);
  const rows = snapshot.header.pages;
  const inFirst = rows[0]!.records;
  const evaluation = evaluated(snapshot, between(0, inFirst));
  expect([evaluation.layers, evaluation.written.length]).toEqual([[], 1]);
  expect(evaluated(snapshot, between(0, inFirst - 1)).layers).toEqual([1]);
});

test('lone changes make at most eight layers, and each record is written less than seven times', () => {
  let snapshot = filled(1_000);
  let records = 0;
  const count = 1_000;
  for (let index = 0; index < count; index += 1) {
    const evaluation = evaluated(snapshot, [put(key((index * 389) % 1_000), 2)]);
    for (const { ref } of evaluation.written) records += ref.records;
    expect(evaluation.layers.length).toBeLessThanOrEqual(8);
    snapshot = after(snapshot, evaluation);
  }
  expect(records / count).toBeLessThan(7);
  expect(records / count).toBeGreaterThan(1);
});

test('a commit that would have to read pages for a merge adds a layer instead, up to twelve', () => {
  let snapshot = filled(1_000);
  const asked: number[] = [];
  const layers: (readonly number[])[] = [];
  for (let index = 0; index < 16; index += 1) {
    const changes = [put(key(index * 50), 2)];
    const lacking = withRows(snapshot, unread);
    const slots = planCompaction(lacking, changes).unread.map(({ slot }) => slot);
    asked.push(slots.length);
    const read = withRows(snapshot, (ref) => (slots.includes(ref.slot) ? ref : unread(ref)));
    const evaluation = evaluated(read, changes);
    layers.push([evaluation.layers.length, evaluated(snapshot, changes).layers.length]);
    const known = new Map(snapshot.header.pages.map((ref) => [ref.number, ref]));
    const pages = evaluation.pages.map((ref) => known.get(ref.number) ?? ref);
    snapshot = after(snapshot, { ...evaluation, pages });
  }
  expect(asked.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 0));
  expect(asked[12]).toBeGreaterThan(0);
  // With all pages known, a ninth layer is not added.
  expect(layers.slice(7, 9)).toEqual([
    [8, 7],
    [9, 8],
  ]);
  expect(snapshot.header.layers.length).toBeLessThanOrEqual(12);
});

test('unconditional puts need no page read, and changes that depend on a record need only its page', () => {
  const snapshot = filled(1_000);
  expect(planCompaction(withRows(snapshot, unread), SCATTERED).unread).toEqual([]);
  const conditional = SCATTERED.map(({ key: bytes }) => remove(Buffer.from(bytes).toString()));
  expect(planCompaction(withRows(snapshot, unread), conditional).unread.length).toBe(50);
});

test('a lookup ignores the fingerprints of a base', () => {
  const plain = filled(10);
  const strange = withRows(plain, (ref) => ({ ...ref, fingerprints: new Uint8Array(ref.records) }));
  const layered = after(strange, evaluated(strange, [put(key(3), 2)]));
  expect([strange, layered].map(({ header }) => header.layers.length)).toEqual([0, 1]);
  for (const snapshot of [strange, layered]) {
    const found = Array.from({ length: 10 }, (_, index) => {
      const { position, key: bytes } = put(key(index), 1);
      return findRecord(snapshot.header, position, bytes, (ref) => pageOf(snapshot, ref, 't')) !== undefined;
    });
    expect(found).toEqual(found.map(() => true));
  }
});

test('deadShare does not drop the stored form of pages, which a split needs', () => {
  const below = filled(1_000);
  const both = after(below, evaluated(below, between(0, 400)));
  const stored = withRows(both, (ref) => ({ ...ref, content: new PageContent(ref.content.sealed) }));
  expect(both.header.layers).toHaveLength(1);
  expect(deadShare(stored, stored.header, 0, 't')).toBeCloseTo(400 / 1_400, 1);
  expect(stored.header.pages.every(({ content }) => content.sealed !== undefined)).toBe(true);
});

test('deadShare opens a bounded number of pages', () => {
  const below = filled(4_000);
  const random = seededRandom(1);
  const overwritten = between(0, 4_000).filter(() => random() < 0.4);
  const both = after(below, evaluated(below, overwritten));
  const opened = new Set<PageRef>();
  const stored = withRows(both, (ref) => {
    const content = new PageContent(ref.content.sealed, ref.content.page);
    const watched = { ...ref, content };
    Object.defineProperty(content, 'page', { get: () => void opened.add(watched) });
    return watched;
  });
  expect(stored.header.pages.length).toBeGreaterThan(200);
  // Of 4,000 records 1,600 are written again: 1,600 of 5,600 are hidden.
  const share = deadShare(stored, stored.header, 0, 't');
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.5);
  expect(opened.size).toBeLessThanOrEqual(3 * 32);
});

test('records that lie behind all others become new pages at the end, and no page is rewritten', () => {
  const snapshot = filled(20);
  const evaluation = evaluated(snapshot, between(20, 120));
  expect(evaluation.layers).toEqual([]);
  expect(evaluation.pages.slice(0, snapshot.header.pages.length)).toEqual(snapshot.header.pages);
  expect(evaluation.written.map(({ ref }) => ref)).toEqual(evaluation.pages.slice(snapshot.header.pages.length));
  const model: Model = new Map(
    Array.from({ length: 120 }, (_, index) => [key(index), { fill: index < 20 ? 1 : 2, expiresAtMs: undefined }]),
  );
  expectModel(after(snapshot, evaluation), model, 0, [...model.keys()]);
});

test('expired records are dropped when records are appended to a base', () => {
  const snapshot = filled(20);
  const nowMs = 2 * PURGE_AFTER_MS;
  const many = Array.from({ length: 100 }, (_, index) => put(key(20 + index), 2, index % 2 === 0 ? 1 : undefined));
  const { pages, layers } = evaluated(snapshot, many, { nowMs });
  expect(layers).toEqual([]);
  expect(pages.reduce((sum, { records }) => sum + records, 0)).toBe(70);
});

test('if all pages are known, layers never hide more than a third of the stored records', () => {
  const random = seededRandom(1);
  let leaf = filled(1_000);
  let most = 0;
  for (let commits = 0; commits < 400; commits += 1) {
    const first = Math.floor(random() * 990);
    leaf = after(leaf, evaluated(leaf, between(first, first + 10)));
    most = Math.max(most, recordsIn(leaf.header.pages));
  }
  expect(most).toBeGreaterThan(1_400);
  expect(most).toBeLessThanOrEqual(1_500);
});

const LATER_MS = 1_000 + 3 * PURGE_AFTER_MS;

/** How many records of all layers a purge at `nowMs` drops: hidden, deleted or long expired. */
function deadRecords(snapshot: Snapshot, nowMs: number): number {
  const { header } = snapshot;
  const layers = layersOf(header).map((rows) => rows.map((ref) => peekPage(snapshot, ref, TABLE)));
  const newest = mergeLayers(layers, positionsOf(header.order, header.level));
  return recordsIn(header.pages) - recordCount(withoutDead(newest, nowMs));
}

test('a purge drops exactly the dead records, and lookups find the same as before', () => {
  let most = 0;
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    const model: Model = new Map();
    let snapshot = snapshotWith({});
    for (let groups = randomInt(random, 15); groups > 0; groups -= 1) {
      const count = [1, 5, 20, 100][randomInt(random, 4)]!;
      const changes = randomChanges(random, KEYS, model, { count, fill: groups, nowMs: 1_000 });
      snapshot = after(snapshot, evaluated(snapshot, changes, { nowMs: 1_000 }));
    }
    const dead = deadRecords(snapshot, LATER_MS);
    const purged = after(snapshot, evaluated(snapshot, [], { nowMs: LATER_MS, purges: true }));
    expect(recordsIn(snapshot.header.pages) - recordsIn(purged.header.pages)).toBe(dead);
    expect([deadRecords(purged, LATER_MS), purged.header.layers]).toEqual([0, []]);
    expectModel(purged, model, LATER_MS, KEYS);
    most = Math.max(most, dead);
  }
  expect(most).toBeGreaterThan(50);
});
