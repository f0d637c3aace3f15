// The layers of a container. Its base holds one sorted run of pages; a commit lays its records down as a run of their own, a layer
// above, instead of writing the pages they belong to anew. For each key the highest layer that has it counts. Layers are merged before they
// are many; a split hands them on. A log-structured merge tree in small (O'Neil et al. 1996).
import { compareBytes } from '../format/bytes.ts';
import type { Header, PageRef } from '../format/header.ts';
import { indexOfKey, isTombstone, type Page, recordAt, recordCount, type StoredRecord } from '../format/page.ts';
import { beforeBound, placerOf, type Position } from '../format/position.ts';
import type { Change } from './change.ts';
import { isDead } from './merge.ts';
import { glanceAt, pageOf, type Snapshot } from './snapshot.ts';

/** Layers above a base at most: a lookup may open a page of each. */
const LAYERS_MAX = 8;
/** How many times its own records may lie above a base of several pages; above one of a single page, once. */
const BASE_GROWTH = 3;

/** The rows of each layer, the base first. */
export function layersOf({ pages, layers }: Pick<Header, 'pages' | 'layers'>): (readonly PageRef[])[] {
  if (layers.length === 0) return [pages];
  const split: (readonly PageRef[])[] = [];
  let end = pages.length;
  for (const rows of layers.toReversed()) {
    split.unshift(pages.slice(end - rows, end));
    end -= rows;
  }
  return [pages.slice(0, end), ...split];
}

/** The rows of a layer, of which the first owns everything from `low`, also where the page before it is gone. Changes the array. */
export function startingAt<Row extends Pick<PageRef, 'low'>>(rows: Row[], low: Position): Row[] {
  const [first] = rows;
  if (first !== undefined && compareBytes(first.low, low) !== 0) rows[0] = { ...first, low };
  return rows;
}

/** The rows that may hold the record of `position`, the newest layer first. */
export function rowsFor({ pages, layers }: Header, position: Position): PageRef[] {
  const rows: PageRef[] = [];
  let end = pages.length;
  for (let layer = layers.length; layer >= 0; layer -= 1) {
    const first = layer === 0 ? 0 : end - layers[layer - 1]!;
    const row = rowBefore(pages, first, end, position);
    if (row >= first) rows.push(pages[row]!);
    end = first;
  }
  return rows;
}

/** Index of the row of a branch that owns `position`; -1 if there is none. Branches have no layers. */
export function rowOfBranch({ pages }: Header, position: Position): number {
  return rowBefore(pages, 0, pages.length, position);
}

/** The last of the rows from `first` to `end` that does not begin above `position`; first - 1 if all do. */
export function rowBefore(rows: readonly PageRef[], first: number, end: number, position: Position): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(rows[middle]!.low, position) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The record as it is stored, expired or not; undefined if there is none. The pages of `rowsFor` must be known. */
export function findRecord(
  snapshot: Snapshot,
  position: Position,
  key: Uint8Array,
  table: string,
): StoredRecord | undefined {
  for (const ref of rowsFor(snapshot.header, position)) {
    const page = pageOf(snapshot, ref, table);
    const index = indexOfKey(page, key);
    if (index < 0) continue;
    const record = recordAt(page, index);
    return isTombstone(record) ? undefined : record;
  }
  return undefined;
}

/**
 * The share of a leaf's records that merging its layers would shed: hidden by newer ones, removed, or expired before `expiredMs`. Judged by
 * one record of each page; all pages must be known.
 */
export function shedShare(
  snapshot: Snapshot,
  { pages, layers }: Pick<Header, 'pages' | 'layers'>,
  expiredMs: number,
  table: string,
): number {
  const { order, level } = snapshot.header;
  const place = placerOf(order, level);
  const opened = new Map<PageRef, Page>();
  const open = (ref: PageRef): Page => {
    const page = opened.get(ref) ?? glanceAt(snapshot, ref, table);
    opened.set(ref, page);
    return page;
  };
  const holds = (rows: readonly PageRef[], key: Uint8Array): boolean => {
    const ref = rows[rowBefore(rows, 0, rows.length, place(key))];
    return ref !== undefined && indexOfKey(open(ref), key) >= 0;
  };
  const sorted = layersOf({ pages, layers });
  let shed = 0;
  for (const [layer, rows] of sorted.entries()) {
    const above = sorted.slice(layer + 1);
    for (const ref of rows) {
      const page = open(ref);
      const record = recordAt(page, recordCount(page) >>> 1);
      if (isDead(record, expiredMs) || above.some((newer) => holds(newer, record.key))) shed += ref.records;
    }
  }
  return shed / recordsIn(pages);
}

/**
 * The layer that these changes, in order of position, are written into: an existing one (0 is the base), with which those above it are
 * merged, or one above all. Judged by the page table and the positions alone, so that the pages it takes can be read beforehand.
 * A commit is as small as its changes until the layers are many, save that it goes into the one page of the topmost layer that it touches
 * where that holds no more records than it. Then the topmost layers become one, as far down as each is no larger than those above it
 * together, as a binary counter carries. The base is written anew when `BASE_GROWTH` times as many records lie above it. (See Bentley and
 * Saxe, "Decomposable searching problems", 1980.)
 */
export function targetLayer(header: Header, changes: readonly Change[]): number {
  const layers = layersOf(header);
  const [base = []] = layers;
  const top = layers.length - 1;
  const above = layers.slice(1).map(recordsIn);
  const newer = above.reduce((sum, records) => sum + records, changes.length);
  const growth = base.length > 1 ? BASE_GROWTH : 1;
  // No row is empty, so the many of a base need not be counted each time.
  if (header.level > 0 || (newer >= growth * base.length && newer >= growth * recordsIn(base))) return 0;
  const touched = rowsTouched(layers[top]!, changes);
  if (touched.length === 1 && recordsIn(touched) <= changes.length) return top;
  if (top < LAYERS_MAX) return top + 1;
  let target = top;
  let merged = changes.length + above[target - 1]!;
  for (; target > 1 && above[target - 2]! <= merged; target -= 1) merged += above[target - 2]!;
  return target;
}

function recordsIn(rows: readonly PageRef[]): number {
  return rows.reduce((sum, row) => sum + row.records, 0);
}

/** The rows of a layer that own a position of the changes, which are in order of position. */
function rowsTouched(rows: readonly PageRef[], changes: readonly Change[]): PageRef[] {
  const touched: PageRef[] = [];
  if (rows.length === 0) return touched;
  for (let row = 0, next = 0; next < changes.length; row += 1) {
    row = Math.max(row, rowBefore(rows, row, rows.length, changes[next]!.position));
    touched.push(rows[row]!);
    const end = rows[row + 1]?.low;
    do next += 1;
    while (next < changes.length && beforeBound(changes[next]!.position, end));
  }
  return touched;
}

/** The pages that writing these changes takes and that are not known: what is written into, what is merged, what a decision depends on. */
export function unreadPages(snapshot: Snapshot, changes: readonly Change[]): PageRef[] {
  const { header } = snapshot;
  const target = targetLayer(header, changes);
  const layers = layersOf(header);
  const rows = layers[target] ?? [];
  const isMerge = target < layers.length - 1;
  const needed = new Set(isMerge ? layers.slice(target).flat() : rowsTouched(rows, changes));
  for (const change of changes) {
    if (!change.isBlind) for (const ref of rowsFor(header, change.position)) needed.add(ref);
  }
  return [...needed].filter(({ content }) => !content.isKnown);
}
