// When the bytes of deleted, hidden and expired records are dropped.
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { indexOfKey, type Page, recordAt, recordCount } from '../format/page-body.ts';
import { type Position, positionsOf } from '../format/position.ts';
import { isTombstone, type StoredRecord } from '../format/stored-record.ts';
import { layersOf, recordsIn, rowBefore } from './layers.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

/** How long expired records stay. The clocks of processes may differ by less than this. */
export const PURGE_AFTER_MS = 5 * 60_000;

/** A leaf with a larger share of dead records is purged, that is, written anew without them. */
const DEAD_SHARE_MAX = 0.25;

/** How many pages of a layer an estimate opens at most. Expanding one takes 30 µs. */
const SAMPLED_MAX = 32;

/** Whether a purge drops the record: a tombstone, or one that expired `PURGE_AFTER_MS` ago. */
export function isPurgeable(record: StoredRecord, nowMs: number): boolean {
  return isTombstone(record) || (record.expiresAtMs !== undefined && record.expiresAtMs < nowMs - PURGE_AFTER_MS);
}

/** Whether the leaf should be purged. All pages must be known. */
export function isPurgeDue(snapshot: Snapshot, header: Header, nowMs: number, table: string): boolean {
  return deadShare(snapshot, header, nowMs, table) > DEAD_SHARE_MAX;
}

/** The share of records, 0 to 1, that a purge drops, estimated. All pages must be known. */
export function deadShare(
  snapshot: Snapshot,
  { pages, layers }: Pick<Header, 'pages' | 'layers'>,
  nowMs: number,
  table: string,
): number {
  const { order, level } = snapshot.header;
  const positionOf = positionsOf(order, level);
  const opened = new Map<PageRef, Page>();
  const open = (ref: PageRef): Page => {
    const page = opened.get(ref) ?? peekPage(snapshot, ref, table);
    opened.set(ref, page);
    return page;
  };
  const holds = (rows: readonly PageRef[], key: Uint8Array, position: Position): boolean => {
    const ref = rows[rowBefore(rows, 0, rows.length, position)];
    return ref !== undefined && indexOfKey(open(ref), key) >= 0;
  };
  const sorted = layersOf({ pages, layers });
  let dead = 0;
  for (const [layer, rows] of sorted.entries()) {
    const above = sorted.slice(layer + 1);
    const sampled = spreadEvenly(rows, SAMPLED_MAX);
    const deadOnes = sampled.filter((ref) => {
      const page = open(ref);
      const record = recordAt(page, recordCount(page) >>> 1);
      const position = positionOf(record.key);
      return isPurgeable(record, nowMs) || above.some((newer) => holds(newer, record.key, position));
    });
    if (sampled.length > 0) dead += (recordsIn(rows) * recordsIn(deadOnes)) / recordsIn(sampled);
  }
  return dead / recordsIn(pages);
}

/** At most `count` rows, at equal distances. */
function spreadEvenly(rows: readonly PageRef[], count: number): readonly PageRef[] {
  if (rows.length <= count) return rows;
  return Array.from({ length: count }, (_, index) => rows[Math.floor(((index + 0.5) * rows.length) / count)]!);
}
