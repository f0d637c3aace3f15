// A purge drops deleted, hidden and long expired records, and changes what no lookup finds.
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { PURGE_AFTER_MS, mergeLayers, withoutDead } from '../../../shared/store/container/merge-pages.ts';
import { layersOf } from '../../../shared/store/container/layers.ts';
import { peekPage, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { recordCount } from '../../../shared/store/format/page-body.ts';
import { positionsOf } from '../../../shared/store/format/position.ts';
import { after, evaluated, expectModel, KEYS, leafOf, type Model, put, randomChanges } from './changes.ts';
import { snapshotWith, TABLE } from './nodes.ts';

const LATER_MS = 1_000 + 3 * PURGE_AFTER_MS;

function recordsIn({ pages }: Header): number {
  return pages.reduce((sum, { records }) => sum + records, 0);
}

/** How many records of all layers a purge at `nowMs` drops: hidden, deleted or long expired. */
function deadRecords(snapshot: Snapshot, nowMs: number): number {
  const { header } = snapshot;
  const layers = layersOf(header).map((rows) => rows.map((ref) => peekPage(snapshot, ref, TABLE)));
  const newest = mergeLayers(layers, positionsOf(header.order, header.level));
  return recordsIn(header) - recordCount(withoutDead(newest, nowMs));
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
    expect(recordsIn(snapshot.header) - recordsIn(purged.header)).toBe(dead);
    expect([deadRecords(purged, LATER_MS), purged.header.layers]).toEqual([0, []]);
    expectModel(purged, model, LATER_MS, KEYS);
    most = Math.max(most, dead);
  }
  expect(most).toBeGreaterThan(50);
});

const nth = (index: number): string => KEYS[index]!;

test('a purge writes all live records into new pages', () => {
  const living = Array.from({ length: 200 }, (_, index) =>
    put(nth(index), 1, index < 20 || index === 100 ? 5 : undefined),
  );
  const snapshot = leafOf(living);
  const { pages } = snapshot.header;
  expect(snapshot.header.layers).toEqual([]);
  expect(deadRecords(snapshot, 5 + PURGE_AFTER_MS)).toBe(0);
  const nowMs = 6 + PURGE_AFTER_MS;
  expect(deadRecords(snapshot, nowMs)).toBe(21);

  // Merging all layers, on the other hand, leaves pages without changes as they are.
  expect(evaluated(snapshot, [], { nowMs, mergesAll: true }).pages).toEqual(pages);
  const evaluation = evaluated(snapshot, [], { nowMs, purges: true });
  expect(evaluation.written.map(({ ref }) => ref)).toEqual(evaluation.pages);
  expect(evaluation.pages.length).toBeLessThan(pages.length);
  expect(evaluation.pages.every(({ number }) => number >= snapshot.header.nextNumber)).toBe(true);
  expect(evaluation.pages[0]!.low.length).toBe(0);
  const model: Model = new Map(
    KEYS.slice(20, 200).flatMap((key) => (key === nth(100) ? [] : [[key, { fill: 1, expiresAtMs: undefined }]])),
  );
  expectModel(after(snapshot, evaluation), model, nowMs, KEYS);
});

test('a change in the same commit as a purge takes effect', () => {
  const snapshot = leafOf(KEYS.map((key) => put(key, 1, 5)));
  const nowMs = 6 + PURGE_AFTER_MS;
  const purged = after(snapshot, evaluated(snapshot, [put(nth(7), 2)], { nowMs, purges: true }));
  expect(recordsIn(purged.header)).toBe(1);
  expectModel(purged, new Map([[nth(7), { fill: 2, expiresAtMs: undefined }]]), nowMs, KEYS);
});
