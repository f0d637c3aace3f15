// A version's sums come from the version before: summing all rows took longer than a write.
import type { PageRef } from '../format/page-table.ts';

export interface PageSums {
  readonly sealedBytes: number;
  readonly records: number;
  /** The most chunks that their slots took since the entity's last insert or replace. */
  readonly chunksMost: number;
}

/** By the array of rows, which never changes. */
const known = new WeakMap<readonly PageRef[], PageSums>();

/** `before`: rows of which most are the same and stand at the same end, if there are such. */
export function sumsOf(pages: readonly PageRef[], before?: readonly PageRef[]): PageSums {
  let sums = known.get(pages);
  if (sums === undefined) {
    sums = before === undefined ? sumsFrom(pages) : sumsAfter(pages, before, sumsOf(before));
    known.set(pages, sums);
  }
  return sums;
}

function sumsFrom(pages: readonly PageRef[]): PageSums {
  const sums = { sealedBytes: 0, records: 0, chunksMost: 0 };
  addRows(sums, pages, 1);
  return sums;
}

function sumsAfter(pages: readonly PageRef[], before: readonly PageRef[], old: PageSums): PageSums {
  const shorter = Math.min(pages.length, before.length);
  let head = 0;
  while (head < shorter && pages[head] === before[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && pages[pages.length - 1 - tail] === before[before.length - 1 - tail]) tail += 1;
  const sums = { ...old };
  addRows(sums, before.slice(head, before.length - tail), -1);
  addRows(sums, pages.slice(head, pages.length - tail), 1);
  return sums;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

function addRows(sums: Mutable<PageSums>, rows: readonly PageRef[], sign: 1 | -1): void {
  for (const { sealedBytes, records, chunksMost } of rows) {
    sums.sealedBytes += sign * sealedBytes;
    sums.records += sign * records;
    sums.chunksMost += sign * chunksMost;
  }
}
