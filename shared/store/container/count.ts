// Counting the records of a leaf, pure: by its page table where that tells, else in its pages.
import { compareBytes } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { lowerBound, type Page, recordAt, recordCount } from '../format/page-body.ts';
import { positionsOf } from '../format/position.ts';
import { isExpired, isTombstone } from '../format/stored-record.ts';
import { indexesIn, isNotAbove, layersOf, type OwnedRow, type Range, rowsIn } from './layers.ts';
import { mergeLayers, mergePages } from './merge-pages.ts';
import { countedRecords, rememberCount } from './container-size.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

/** The rows whose pages must be known to count the records of the range; none if counted before. */
export function rowsToCount(header: Header, range: Range): PageRef[] {
  if (countedBefore(header, range) !== undefined) return [];
  const rows = layersOf(header).flatMap((layer) => rowsIn(layer, header.high, range));
  // A layer may hide records of those below it.
  const asked = header.layers.length > 0 ? rows : rows.filter((row) => !isCounted(row, range));
  return asked.map(({ ref }) => ref);
}

/** Records that are not deleted, and how many of them have expired. */
interface Count {
  stored: number;
  expired: number;
}

/** Counts the records of the range. Throws `corrupt` for damage. */
export function countRecords(snapshot: Snapshot, range: Range, nowMs: number, table: string): Count {
  const { header } = snapshot;
  const before = countedBefore(header, range);
  if (before !== undefined) return { stored: before, expired: 0 };
  const positionOf = positionsOf(header.order, header.level);
  const [base = [], ...above] = layersOf(header).map((layer) => rowsIn(layer, header.high, range));
  const open = ({ ref }: OwnedRow): Page => peekPage(snapshot, ref, table);
  const opened = above.map((rows) => rows.map(open));
  const newer = mergeLayers(opened, positionOf);
  const count: Sums = { stored: 0, expired: 0, mayExpire: false };
  const add = (page: Page): void => addRecords(count, page, indexesIn(page, range, positionOf), nowMs);
  if (base.length === 0) add(newer);
  let first = 0;
  for (const row of base) {
    const end = row.high === undefined ? recordCount(newer) : lowerBound(newer, row.high, positionOf, first);
    if (first === end && isCounted(row, range)) count.stored += row.ref.records;
    else add(mergePages(open(row), newer, positionOf, { first, end }));
    first = end;
  }
  const { stored, expired, mayExpire } = count;
  if (!mayExpire && isWithin(header, range)) rememberCount(header.pages, stored);
  return { stored, expired };
}

function countedBefore(header: Header, range: Range): number | undefined {
  return isWithin(header, range) ? countedRecords(header.pages) : undefined;
}

/** Whether the range has all positions from the low to the high. */
function isWithin({ low, high }: Pick<OwnedRow, 'low' | 'high'>, { from, end }: Range): boolean {
  return compareBytes(low, from) >= 0 && isNotAbove(high, end);
}

/** Whether the row's number of records is what it has in the range. */
function isCounted(row: OwnedRow, range: Range): boolean {
  return !row.ref.mayHoldDead && isWithin(row, range);
}

/** Records so far, and whether one of them will expire. */
interface Sums extends Count {
  mayExpire: boolean;
}

function addRecords(count: Sums, page: Page, { first, end }: ReturnType<typeof indexesIn>, nowMs: number): void {
  count.stored += end - first;
  if (!page.mayHoldDead) return;
  for (let index = first; index < end; index += 1) {
    const record = recordAt(page, index);
    count.mayExpire ||= record.expiresAtMs !== undefined;
    if (isTombstone(record)) count.stored -= 1;
    else if (isExpired(record, nowMs)) count.expired += 1;
  }
}
