// Which part of a leaf a scan reads at a time: all of its range there, or only the pages that
// should hold as many records as the scan may still return.
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { isNotAbove, isWithin, layersOf, type OwnedRow, type Range, rowsIn } from './layers.ts';

/** The positions that a scan has not passed yet. */
export interface ScanRange extends Range {
  /** Whether it goes from the end down. */
  readonly isReverse: boolean;
  /** How many records it may still return; Infinity without a limit. */
  readonly recordsMax: number;
}

/** Positions of one leaf that are taken from one reply. */
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
