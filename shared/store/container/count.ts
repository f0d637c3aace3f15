// Counting the records of a leaf, pure: by its page table where that tells, else in its pages.
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { lowerBound, type Page, recordAt, recordCount } from '../format/page.ts';
import { type PositionOf, positionsOf } from '../format/position.ts';
import { isExpired, isTombstone } from '../format/record.ts';
import { isNotAbove, layersOf, type OwnedRow, type Range, rowsIn } from './layers.ts';
import { mergeLayers, mergePages } from './merge.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

/** The rows whose pages must be known to count the records of the range. */
export function rowsToCount(header: Header, range: Range): PageRef[] {
  const rows = layersOf(header).flatMap((layer) => rowsIn(layer, header.high, range));
  // A layer may hide records of those below it.
  const asked = header.layers.length > 0 ? rows : rows.filter((row) => !isCounted(row, range));
  return asked.map(({ ref }) => ref);
}

/** The records of the range that are neither deleted nor expired. Throws `corrupt` for damage. */
export function countRecords(snapshot: Snapshot, range: Range, nowMs: number, table: string): number {
  const { header } = snapshot;
  const positionOf = positionsOf(header.order, header.level);
  const [base = [], ...above] = layersOf(header).map((layer) => rowsIn(layer, header.high, range));
  const open = ({ ref }: OwnedRow): Page => peekPage(snapshot, ref, table);
  const newer = mergeLayers(
    above.map((rows) => rows.map(open)),
    positionOf,
  );
  if (base.length === 0) return countIn(newer, positionOf, range, nowMs);
  let count = 0;
  let first = 0;
  for (const row of base) {
    const end = row.high === undefined ? recordCount(newer) : lowerBound(newer, row.high, positionOf, first);
    count +=
      first === end && isCounted(row, range)
        ? row.ref.records
        : countIn(mergePages(open(row), newer, positionOf, { first, end }), positionOf, range, nowMs);
    first = end;
  }
  return count;
}

/** Whether the row's number of records is what it has in the range. */
function isCounted({ ref, low, high }: OwnedRow, { from, end }: Range): boolean {
  return !ref.mayHoldDead && compareBytes(low, from) >= 0 && isNotAbove(high, end);
}

function countIn(page: Page, positionOf: PositionOf, { from, end }: Range, nowMs: number): number {
  const first = lowerBound(page, from, positionOf);
  const last = end === undefined ? recordCount(page) : lowerBound(page, end, positionOf, first);
  if (!page.mayHoldDead) return last - first;
  let count = 0;
  for (let index = first; index < last; index += 1) {
    const record = recordAt(page, index);
    if (!isTombstone(record) && !isExpired(record, nowMs)) count += 1;
  }
  return count;
}
