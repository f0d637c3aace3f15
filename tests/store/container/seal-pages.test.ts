// The new pages of a commit are compressed and sealed.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type UnsealedEvaluation, sealPages } from '../../../shared/store/container/evaluate.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { pageFrom } from '../../../shared/store/format/page-body.ts';
import { recordOf } from './nodes.ts';

const RULES = { table: 't', limits: memoryDriver().limits, compression: 'zstd', pageBytes: 8_192 } as const;
const NODE = { incarnation: 'aaaaaaaaaaaaaaaa', container: 'bbbbbbbbbbbbbbbb' } as Header;
const EMPTY = { layers: [], rowsKept: 0, dropped: [], deadSlots: [], nextNumber: 9, verdicts: [], appliedCount: 0 };

const DRAFT = draftOf([40, 8_000, 9_000]);

/** New pages of these sizes, of a base or of layers above it. */
function draftOf(pageBytes: readonly number[], layers: readonly number[] = []): UnsealedEvaluation {
  const pages = pageBytes.map((bytes, slot) => {
    return {
      low: Buffer.of(slot),
      slot,
      number: slot + 1,
      page: pageFrom([recordOf('k', Buffer.alloc(bytes, 7))]),
      chunksBefore: slot,
    };
  });
  return { ...EMPTY, pages, layers };
}

test('each new page is sealed in its row, and small ones are not compressed', () => {
  const { pages, written } = sealPages(DRAFT, NODE, RULES);
  expect(written.map(({ ref }) => ref)).toEqual(pages);
  expect(written).toMatchObject([
    { ref: { slot: 0, compression: 0 }, chunksBefore: 0 },
    { ref: { slot: 1, compression: 2 }, chunksBefore: 1 },
    { ref: { slot: 2, compression: 2, chunksMost: 2 }, chunksBefore: 2 },
  ]);
});

/** The fingerprints of the first of so many pages, each of one record. */
function fingerprintsOf(pages: number, layers: readonly number[]): Uint8Array | undefined {
  const draft = draftOf(
    Array.from({ length: pages }, () => 9),
    layers,
  );
  return sealPages(draft, NODE, RULES).pages[0]!.fingerprints;
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
  const { pages } = sealPages(draftOf([pageBytes, pageBytes, pageBytes], [3]), NODE, RULES);
  expect(pages.map((ref) => ref.compression)).toEqual([compression, compression, compression]);
});
