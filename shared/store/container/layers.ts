// A commit adds a layer, a sorted run of pages. For each key the highest layer counts (O'Neil et
// al., "The Log-Structured Merge-Tree", 1996).
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import {
  fingerprintOf,
  indexOfKey,
  isTombstone,
  lowerBound,
  type Page,
  recordAt,
  recordCount,
  type StoredRecord,
} from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, type Position, type PositionOf, type UpperBound } from '../format/position.ts';

/** The rows of all layers in sequence, and how many rows each layer above the base has. */
export interface LayeredPages<Row = PageRef> {
  readonly pages: readonly Row[];
  readonly layers: readonly number[];
}

/** The rows of each layer, the base first. */
export function layersOf(table: LayeredPages): readonly (readonly PageRef[])[] {
  const { pages, layers } = table;
  if (layers.length === 0) return [pages];
  const bounds = layerBounds(table);
  return bounds.slice(1).map((end, layer) => pages.slice(bounds[layer], end));
}

/** The index of each layer's first row, the base first, and finally the number of rows. */
export function layerBounds({ pages, layers }: LayeredPages): readonly number[] {
  const bounds = [0];
  let first = pages.length;
  for (const rows of layers) first -= rows;
  bounds.push(first);
  for (const rows of layers) bounds.push((first += rows));
  return bounds;
}

/** The rows of these layers as a header holds them, without empty layers above the base. */
export function tableOfLayers<Row = PageRef>([base = [], ...above]: readonly (readonly Row[])[]): LayeredPages<Row> {
  const filled = above.filter((rows) => rows.length > 0);
  return { pages: [base, ...filled].flat(), layers: filled.map((rows) => rows.length) };
}

/** Positions from `from` to `end` (exclusive). */
export interface Range {
  readonly from: Position;
  readonly end: UpperBound;
}

/** A row, and the bounds of the positions that it owns. */
export interface OwnedRow {
  readonly ref: PageRef;
  readonly low: Position;
  readonly high: UpperBound;
}

/** The rows of a layer with their bounds. `high` is that of the node. */
export function ownedRows(refs: readonly PageRef[], high: UpperBound): OwnedRow[] {
  return refs.map((ref, row) => ({ ref, low: ref.low, high: refs[row + 1]?.low ?? high }));
}

/** As `ownedRows`, but only the rows that may hold records of the range. */
export function rowsIn(refs: readonly PageRef[], high: UpperBound, { from, end }: Range): OwnedRow[] {
  return ownedRows(refs, high).filter(
    (row, index) => !isNotAbove(row.high, from) && (index === 0 || beforeBound(row.low, end)),
  );
}

/** The indexes of a page's first record within the range, and of the first behind it. */
export function indexesIn(page: Page, { from, end }: Range, positionOf: PositionOf): { first: number; end: number } {
  const first = lowerBound(page, from, positionOf);
  return { first, end: end === undefined ? recordCount(page) : lowerBound(page, end, positionOf, first) };
}

/** Whether the upper bound `end` is not above `bound`. */
export function isNotAbove(end: UpperBound, bound: UpperBound): boolean {
  if (bound === undefined) return true;
  return end !== undefined && compareBytes(end, bound) <= 0;
}

/** Whether all positions from `low` to `high` lie in the range. */
export function isWithin({ low, high }: Pick<OwnedRow, 'low' | 'high'>, { from, end }: Range): boolean {
  return compareBytes(low, from) >= 0 && isNotAbove(high, end);
}

/** Sets the low of the first row, in place, so that it owns everything from `low` on. */
export function startingAt<Row extends Pick<PageRef, 'low'>>(rows: Row[], low: Position): Row[] {
  const [first] = rows;
  if (first !== undefined && compareBytes(first.low, low) !== 0) rows[0] = { ...first, low };
  return rows;
}

/** The rows that may hold the record of `position`, the newest layer first. */
export function rowsFor(header: Header, position: Position): PageRef[] {
  const rows: PageRef[] = [];
  everyRowFor(header, position, (ref) => {
    rows.push(ref);
    return true;
  });
  return rows;
}

/** Calls `holds` for the rows of `rowsFor` until it returns false. Returns whether it never did. */
export function everyRowFor(header: Header, position: Position, holds: (ref: PageRef) => boolean): boolean {
  const { pages, layers, order } = header;
  const fingerprint = layers.length === 0 ? 0 : fingerprintOf(position, order);
  let end = pages.length;
  for (let layer = layers.length; layer >= 0; layer -= 1) {
    const first = layer === 0 ? 0 : end - layers[layer - 1]!;
    const row = rowBefore(pages, first, end, position);
    const isCandidate = row >= first && (layer === 0 || pages[row]!.fingerprints?.includes(fingerprint) !== false);
    if (isCandidate && !holds(pages[row]!)) return false;
    end = first;
  }
  return true;
}

/** The last row from `first` to `end` whose low is not above `position`; first - 1 if none. */
export function rowBefore(
  rows: readonly Pick<PageRef, 'low'>[],
  first: number,
  end: number,
  position: Position,
): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(rows[middle]!.low, position) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The record as stored, even if expired; undefined if absent. `open` returns the page of a row. */
export function findRecord(
  header: Header,
  position: Position,
  key: Uint8Array,
  open: (ref: PageRef) => Page,
): StoredRecord | undefined {
  let found: StoredRecord | undefined;
  everyRowFor(header, position, (ref) => {
    const page = open(ref);
    const index = indexOfKey(page, key);
    if (index >= 0) found = recordAt(page, index);
    return found === undefined;
  });
  return found === undefined || isTombstone(found) ? undefined : found;
}

/** The number of records in the rows from `first` to `end` (exclusive). */
export function recordsIn(rows: readonly PageRef[], first = 0, end = rows.length): number {
  let records = 0;
  for (let row = first; row < end; row += 1) records += rows[row]!.records;
  return records;
}

/** The positions that a scan has not passed yet. */
export interface ScanRange extends Range {
  /** Whether it goes from the end down. */
  readonly isReverse: boolean;
  /** How many records it may still return; Infinity without a limit. */
  readonly recordsMax: number;
}

/**
 * Positions of one leaf that a scan takes from one reply: all of its range there, or only the pages
 * that should hold as many records as it may still return.
 */
export type Part = Pick<OwnedRow, 'low' | 'high'>;

/**
 * The part of the leaf that should hold the records wanted, judged by the rows of its base. It may
 * hold fewer, as some may be deleted. Then the scan goes on with another part.
 */
export function partOf({ pages, layers, low, high }: Header, range: ScanRange): Part {
  const { isReverse, recordsMax } = range;
  const [base = []] = layersOf({ pages, layers });
  const rows = recordsMax === Infinity ? [] : rowsIn(base, high, range);
  if (isReverse) rows.reverse();
  let records = 0;
  for (const [index, row] of rows.entries()) {
    if (records >= recordsMax) {
      const last = rows[index - 1]!;
      return isReverse ? { low: last.low, high } : { low, high: last.high };
    }
    if (index > 0 || isWithin(row, range)) records += row.ref.records;
  }
  return { low, high };
}

/** The positions that lie in both. */
export function rangeWithin({ from, end }: Range, { low, high }: Part): Range {
  return { from: compareBytes(low, from) > 0 ? low : from, end: isNotAbove(end, high) ? end : high };
}

/** The rows of all layers that may hold records of the range. */
export function rowsOfRange(header: Header, range: Range): PageRef[] {
  return layersOf(header).flatMap((rows) => rowsIn(rows, header.high, range).map(({ ref }) => ref));
}
