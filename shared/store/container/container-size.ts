// The size of a container, measured by the provider's limits, and when it is split for its size or
// failing commits. For contention see machine/contention.ts.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { ID64_BYTES } from '../format/bytes.ts';
import { encodeHeader, type Header, HEADER_BYTES_MAX } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';

/** In a smaller container the header would outweigh the records. */
const CONTAINER_BYTES_MIN = 16 * 1024;

/** What counts against the provider's limits. */
export interface Size {
  readonly entityBytes: number;
  readonly chunks: number;
  readonly headerBytes: number;
}

/** Beyond this share of a budget a replace drops dead chunks, which a patch would keep. */
export const PATCH_SHARE = 0.9;

/** The largest container of a table with this option. Throws `invalid` if it is out of range. */
export function containerBytesMaxOf(given: number | undefined, { provider, entityBytesMax }: DriverLimits): number {
  if (given === undefined || given === entityBytesMax) return entityBytesMax;
  if (Number.isInteger(given) && given >= CONTAINER_BYTES_MIN && given <= entityBytesMax) return given;
  const range = `a whole number from ${CONTAINER_BYTES_MIN} to ${entityBytesMax}, the largest container of ${provider}`;
  throw new StoreError('invalid', `containerBytesMax must be ${range}`);
}

interface PageSums {
  readonly sealedBytes: number;
  readonly records: number;
  /** The most chunks that their slots took since the entity was inserted or replaced. */
  readonly chunksMost: number;
}

/** Sums by their array of rows, which never changes, so that each version computes them once. */
const known = new WeakMap<readonly PageRef[], PageSums>();

/** The sums of a page table. */
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

/** The live records of counted leaves by array of rows, if none of them expires. */
export const liveCounts = new WeakMap<readonly PageRef[], number>();

/** The size by the provider's formula: `live` after a replace, and `taken` until then. */
export function sizesOf(
  header: Header,
  headerBytes: number,
  limits: DriverLimits,
): { readonly live: Size; readonly taken: Size } {
  const ownChunks = 1 + chunksOf(headerBytes, limits);
  const { pages } = header;
  const { sealedBytes, chunksMost } = sumsOf(pages);
  const partBytes = headerBytes + ID64_BYTES + sealedBytes;
  // Each page takes at least one chunk. If none ever took more, their number is known.
  const live = ownChunks + (chunksMost === pages.length ? chunksMost : liveChunks(pages, limits));
  let taken = ownChunks + chunksMost;
  for (const dead of header.deadSlots) taken += dead.chunksMost;
  const bytes = limits.entityOverheadBytes + partBytes;
  return {
    live: { headerBytes, chunks: live, entityBytes: bytes + live * limits.chunkOverheadBytes },
    taken: { headerBytes, chunks: taken, entityBytes: bytes + taken * limits.chunkOverheadBytes },
  };
}

function liveChunks(pages: readonly PageRef[], limits: DriverLimits): number {
  return pages.reduce((sum, { sealedBytes }) => sum + chunksOf(sealedBytes, limits), 0);
}

/** Whether a container of this size takes at most this share of every budget. */
export function fits(size: Size, limits: DriverLimits, share: number): boolean {
  return (
    size.entityBytes <= limits.entityBytesMax * share &&
    size.chunks <= limits.chunksMax * share &&
    size.headerBytes <= HEADER_BYTES_MAX * share
  );
}

/** Whether the node fits into one entity if it is written whole. */
export function fitsWhole(node: Header, limits: DriverLimits): boolean {
  return fits(sizesOf(node, encodeHeader(node).length, limits).live, limits, 1);
}

/** A container is split beyond this share of a budget, which leaves room for the next commit. */
const SPLIT_SHARE = 0.7;
/** After so many failed commits in a row, one entity may not be enough for the traffic. */
const FAILURES_BEFORE_SPLIT = 8;

/** Whether a container of this size must be split. */
export function isFull(size: Size, limits: DriverLimits): boolean {
  return !fits(size, limits, SPLIT_SHARE);
}

/** Whether a container must be split however small it is. */
export function failsTooOften(failuresInARow: number): boolean {
  return failuresInARow >= FAILURES_BEFORE_SPLIT;
}
