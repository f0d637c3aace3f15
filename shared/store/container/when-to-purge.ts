// Expiry and deletion are told at once; a purge drops the bytes later, and this says when.
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { indexOfKey, type Page, recordAt, recordCount } from '../format/page-body.ts';
import { type Position, positionsOf } from '../format/position.ts';
import { isTombstone, type StoredRecord } from '../format/stored-record.ts';
import { layersOf, recordsIn, rowBefore } from './layers.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

/** Expired records stay this long: clocks a little apart must agree about a purge. */
export const PURGE_AFTER_MS = 5 * 60_000;

/** A leaf with a larger share of dead records is written anew without them. */
const DEAD_SHARE_MAX = 0.25;

/** Pages of a layer in an estimate, at most: expanding one takes 30 µs. */
const SAMPLED_MAX = 32;

/** Whether a purge drops it: a tombstone, or a record that expired `PURGE_AFTER_MS` ago. */
export function isPurgeable(record: StoredRecord, nowMs: number): boolean {
  return isTombstone(record) || (record.expiresAtMs !== undefined && record.expiresAtMs < nowMs - PURGE_AFTER_MS);
}

/** Whether a leaf is to be written anew without what is purgeable. All pages must be known. */
export function isPurgeDue(snapshot: Snapshot, header: Header, nowMs: number, table: string): boolean {
  return deadShare(snapshot, header, nowMs, table) > DEAD_SHARE_MAX;
}

/** The share of records, 0 to 1, that a purge drops, by samples. All pages must be known. */
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

/** Rows at equal distances, `count` at most. */
function spreadEvenly(rows: readonly PageRef[], count: number): readonly PageRef[] {
  if (rows.length <= count) return rows;
  return Array.from({ length: count }, (_, index) => rows[Math.floor(((index + 0.5) * rows.length) / count)]!);
}
