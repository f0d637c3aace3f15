// The new pages of a commit are sealed. Merges reuse scratch memory, so none of them may lie in it.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { sealPages, type UnsealedEvaluation } from '../../../shared/store/container/evaluate.ts';
import { mergeLayers, SCRATCH } from '../../../shared/store/container/merge-pages.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { type Page, pageFrom, recordAt } from '../../../shared/store/format/page-body.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { positionsOf } from '../../../shared/store/format/position.ts';
import { after, change, evaluated, expectModel, KEYS, type Model, randomChanges } from './changes.ts';
import { EMPTY_LEAF, recordOf, RULES, snapshotWith } from './nodes.ts';

function pageOf(...keys: readonly string[]): Page {
  return pageFrom(keys.map((key) => recordOf(key)));
}

function bytesOf({ content }: PageRef): Buffer {
  return Buffer.concat([content.sealed!, content.page!.body]);
}

test('no later commit changes a page of an earlier one', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const random = seededRandom(seed);
    const model: Model = new Map();
    let snapshot: Snapshot = snapshotWith({});
    const seen = new Map<PageRef, Buffer>();
    for (let commit = 1; commit <= 40; commit += 1) {
      const count = [1, 1, 1, 5, 40][randomInt(random, 5)]!;
      const changes = randomChanges(random, KEYS, model, { count, fill: commit, nowMs: 1_000 });
      snapshot = after(snapshot, evaluated(snapshot, changes, { nowMs: 1_000 }));
      for (const [ref, bytes] of seen) expect(bytesOf(ref).equals(bytes)).toBe(true);
      for (const ref of snapshot.header.pages) if (ref.content.sealed !== undefined) seen.set(ref, bytesOf(ref));
    }
    expect(seen.size).toBeGreaterThan(40);
    expectModel(snapshot, model, 1_000, KEYS);
  }
});

test('no later commit changes a large record of an earlier one', () => {
  const values = [1, 2, 3].map((fill) => Buffer.alloc(300_000, fill));
  let snapshot: Snapshot = snapshotWith({});
  const stored = values.map((value) => {
    const changes = [change('k', { kind: 'write', codec: 0, value, expiresAtMs: undefined })];
    snapshot = after(snapshot, evaluated(snapshot, changes, { mergesAll: true }));
    expect(snapshot.header.pages).toHaveLength(1);
    return snapshot.header.pages[0]!;
  });
  for (const [at, { content }] of stored.entries())
    expect(Buffer.compare(recordAt(content.page!, 0).value, values[at]!)).toBe(0);
});

test('layers, some of them empty, merge to the same page with scratch memory and without', () => {
  const layers = [[pageOf('a', 'e')], [], [pageOf('z')], [pageOf('c', 'd')], [], [pageOf('b')]];
  const merge = (memories?: typeof SCRATCH.layers): Buffer =>
    Buffer.from(mergeLayers(layers, positionsOf('key', 0), memories).body);
  expect(merge(SCRATCH.layers)).toEqual(merge());
});

const ZSTD = { ...RULES, compression: 'zstd', pageBytes: 8_192 } as const;
const NOTHING = { layers: [], rowsKept: 0, dropped: [], deadSlots: [], nextNumber: 9, verdicts: [], appliedCount: 0 };

/** New pages of these sizes, of a base or of layers above it. */
function draftOf(pageBytes: readonly number[], layers: readonly number[] = []): UnsealedEvaluation {
  const pages = pageBytes.map((bytes, slot) => {
    const page = pageFrom([recordOf('k', Buffer.alloc(bytes, 7))]);
    return { low: Buffer.of(slot), slot, number: slot + 1, page, chunksBefore: slot };
  });
  return { ...NOTHING, pages, layers };
}

test('each new page is sealed in its row, and small ones are not compressed', () => {
  const { pages, written } = sealPages(draftOf([40, 8_000, 9_000]), EMPTY_LEAF, ZSTD);
  expect(written.map(({ ref }) => ref)).toEqual(pages);
  expect(written).toMatchObject([
    { ref: { slot: 0, compression: 0 }, chunksBefore: 0 },
    { ref: { slot: 1, compression: 2 }, chunksBefore: 1 },
    { ref: { slot: 2, compression: 2, chunksMost: 2 }, chunksBefore: 2 },
  ]);
});

/** The fingerprints of the first of so many pages, each of one record. */
function fingerprintsOf(pages: number, layers: readonly number[]): Uint8Array | undefined {
  const sizes = Array.from({ length: pages }, () => 9);
  return sealPages(draftOf(sizes, layers), EMPTY_LEAF, ZSTD).pages[0]!.fingerprints;
}

test('a layer above the base of up to 128 records has fingerprints in its rows', () => {
  expect(fingerprintsOf(1, [])).toBeUndefined();
  expect(fingerprintsOf(128, [128])).toEqual(Uint8Array.of(crc32('k') & 0xff));
  expect(fingerprintsOf(129, [129])).toBeUndefined();
});

test.each([
  [8_000, 0],
  [9_000, 2],
])('three pages of %i bytes in an upper layer are stored with compression %i', (pageBytes, compression) => {
  const { pages } = sealPages(draftOf([pageBytes, pageBytes, pageBytes], [3]), EMPTY_LEAF, ZSTD);
  expect(pages.map((ref) => ref.compression)).toEqual([compression, compression, compression]);
});
