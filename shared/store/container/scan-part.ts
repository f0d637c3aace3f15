// Which part of a leaf a scan takes at a time: all that its range has there, or the pages that hold
// as many records as it may still give.
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Position, UpperBound } from '../format/position.ts';
import { isNotAbove, layersOf, type OwnedRow, type Range, rowsIn } from './layers.ts';

/** The positions that a scan has still to give. */
export interface ScanRange extends Range {
  /** From the end down. */
  readonly isReverse: boolean;
  /** Records that it may give; Infinity without a limit. */
  readonly recordsMax: number;
}

/** Positions of one leaf that are given by one reply. */
export interface Part {
  readonly low: Position;
  readonly high: UpperBound;
}

/**
 * The part of the leaf that probably holds the records wanted, by the numbers in its base's rows.
 * It may hold fewer, as they may be deleted: then the scan takes another part.
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
    if (index > 0 || isInside(row, range)) records += row.ref.records;
  }
  return { low, high };
}

/** Whether the range has all of the row. */
function isInside({ low, high }: OwnedRow, { from, end }: Range): boolean {
  return compareBytes(low, from) >= 0 && isNotAbove(high, end);
}

/** The positions that both have. */
export function rangeWithin({ from, end }: Range, { low, high }: Part): Range {
  return { from: compareBytes(low, from) > 0 ? low : from, end: isNotAbove(end, high) ? end : high };
}

/** The pages that may hold records of the range. */
export function rowsOfRange(header: Header, range: Range): PageRef[] {
  return layersOf(header).flatMap((rows) => rowsIn(rows, header.high, range).map(({ ref }) => ref));
}
