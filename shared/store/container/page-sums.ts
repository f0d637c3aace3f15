// The sums of a page table, computed once for each version of it.
import type { PageRef } from '../format/page-table.ts';

export interface PageSums {
  readonly sealedBytes: number;
  readonly records: number;
  /** The most chunks that their slots took since the entity's last insert or replace. */
  readonly chunksMost: number;
}

/** By the array of rows, which never changes. */
const known = new WeakMap<readonly PageRef[], PageSums>();

export function sumsOf(pages: readonly PageRef[]): PageSums {
  const before = known.get(pages);
  if (before !== undefined) return before;
  const sums = { sealedBytes: 0, records: 0, chunksMost: 0 };
  for (const { sealedBytes, records, chunksMost } of pages) {
    sums.sealedBytes += sealedBytes;
    sums.records += records;
    sums.chunksMost += chunksMost;
  }
  known.set(pages, sums);
  return sums;
}
