// Counts the records of a leaf, from its page table where that suffices, else from its pages. Pure.
import type { Header } from '../format/header.ts';
import { isExpired, isTombstone, lowerBound, type Page, recordAt, recordCount } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { positionsOf } from '../format/position.ts';
import { liveCounts } from './container-size.ts';
import { indexesIn, isWithin, layersOf, type OwnedRow, type Range, rowsIn } from './layers.ts';
import { mergeLayers, mergePages } from './merge-pages.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

/** The rows whose pages must be known to count the range; none if it was counted before. */
export function rowsToCount(header: Header, range: Range): PageRef[] {
  if (countedBefore(header, range) !== undefined) return [];
  const rows = layersOf(header).flatMap((layer) => rowsIn(layer, header.high, range));
  // A layer may hide records of those below it.
  const asked = header.layers.length > 0 ? rows : rows.filter((row) => !isCounted(row, range));
  return asked.map(({ ref }) => ref);
}

interface Count {
  /** Records that are not deleted. */
  stored: number;
  /** How many of them have expired, and whether any of them expires some time. */
  expired: number;
  mayExpire: boolean;
}

/** Counts the records of the range. Throws `corrupt` for damage. */
export function countRecords(snapshot: Snapshot, range: Range, nowMs: number, table: string): Count {
  const { header } = snapshot;
  const before = countedBefore(header, range);
  if (before !== undefined) return { stored: before, expired: 0, mayExpire: false };
  const positionOf = positionsOf(header.order, header.level);
  const [base = [], ...above] = layersOf(header).map((layer) => rowsIn(layer, header.high, range));
  const open = ({ ref }: OwnedRow): Page => peekPage(snapshot, ref, table);
  const opened = above.map((rows) => rows.map(open));
  const newer = mergeLayers(opened, positionOf);
  const count: Count = { stored: 0, expired: 0, mayExpire: false };
  const add = (page: Page): void => addRecords(count, page, indexesIn(page, range, positionOf), nowMs);
  if (base.length === 0) add(newer);
  let first = 0;
  for (const row of base) {
    const end = row.high === undefined ? recordCount(newer) : lowerBound(newer, row.high, positionOf, first);
    if (first === end && isCounted(row, range)) count.stored += row.ref.records;
    else add(mergePages(open(row), newer, positionOf, { first, end }));
    first = end;
  }
  if (!count.mayExpire && isWithin(header, range)) liveCounts.set(header.pages, count.stored);
  return count;
}

function countedBefore(header: Header, range: Range): number | undefined {
  return isWithin(header, range) ? liveCounts.get(header.pages) : undefined;
}

/** Whether the row's number of records is the count: all of them live and lie in the range. */
function isCounted(row: OwnedRow, range: Range): boolean {
  return !row.ref.mayHoldDead && isWithin(row, range);
}

function addRecords(count: Count, page: Page, { first, end }: ReturnType<typeof indexesIn>, nowMs: number): void {
  count.stored += end - first;
  if (!page.mayHoldDead) return;
  for (let index = first; index < end; index += 1) {
    const record = recordAt(page, index);
    count.mayExpire ||= record.expiresAtMs !== undefined;
    if (isTombstone(record)) count.stored -= 1;
    else if (isExpired(record, nowMs)) count.expired += 1;
  }
}
