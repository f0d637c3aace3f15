// Decides which layers a commit merges, from page table and positions, before any page is read, and
// when a leaf is purged of the bytes of deleted, hidden and expired records.
import type { Header } from '../format/header.ts';
import { indexOfKey, type Page, recordAt, recordCount } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, type Position, positionsOf } from '../format/position.ts';
import { type Change, singles } from './change.ts';
import { rowsToCount } from './count.ts';
import { layerBounds, layersOf, recordsIn, rowBefore, rowsFor } from './layers.ts';
import { isPurgeable } from './merge-pages.ts';
import { firstNewSlot } from './new-pages.ts';
import { isKnown, peekPage, type Snapshot } from './snapshot.ts';

/** From so many layers above the base on a commit merges some: a lookup may open a page of each. */
const LAYERS_WANTED = 8;
/** Up to so many layers it adds one instead, if it would have to read pages for the merge. */
const LAYERS_MAX = 12;

/** A read before a commit asks for so many slots in which others may have written new pages. */
const NEXT_SLOTS = 8;

/** It also asks again for so many bytes of known pages, as others may have reused their slots. */
const LAST_BYTES = 4_096;

/** The base is rewritten once the layers above it have so many records for each of its own. */
const BASE_GROWTH = 3;

/**
 * The same if all pages are known. It bounds the stored records that layers hide. A smaller share
 * would write more bytes per change.
 */
const AT_HAND_GROWTH = 0.5;

/** What a commit merges: the layer that it rewrites, and the rows that it merges into that. */
interface Merge {
  /** 0 for the base, one beyond the last for a new layer. */
  readonly target: number;
  readonly rows: readonly PageRef[];
}

/**
 * For one commit of these changes, sorted by position: the layer that it writes (0 is the base) and
 * the pages that have to be read before.
 */
export function planCompaction(
  { header }: Snapshot,
  changes: readonly Change[],
): { readonly target: number; readonly unread: readonly PageRef[] } {
  const { target, rows } = pagesFor(header, changes, affordableMerge);
  return { target, unread: rows.filter((ref) => !isKnown(ref)) };
}

/** The slots that a read before a commit of these changes should ask for. */
export function slotsToCommit({ header }: Snapshot, changes: readonly Change[]): number[] {
  const slots = pagesFor(header, changes, wantedMerge).rows.map(({ slot }) => slot);
  return [...new Set([...slots, ...lastSlots(header), ...nextSlots(header, NEXT_SLOTS)])];
}

/** The merge for these changes, and all pages that they need. A clearing merges nothing. */
function pagesFor(
  header: Header,
  changes: readonly Change[],
  mergeFor: (header: Header, changes: readonly Change[]) => Merge,
): Merge {
  const [first] = changes;
  if (first?.whole?.kind === 'clear')
    return { target: 0, rows: rowsToCount(header, { from: first.position, end: first.whole.end }) };
  const single = singles(changes);
  const { target, rows } = mergeFor(header, single);
  if (single.every(({ isBlind }) => isBlind)) return { target, rows };
  const used = new Set(rows);
  for (const change of single) {
    if (!change.isBlind) for (const ref of rowsFor(header, change.position)) used.add(ref);
  }
  return { target, rows: [...used] };
}

/** The wanted merge, or a new layer if the merge would have to read pages. */
function affordableMerge(header: Header, changes: readonly Change[]): Merge {
  const isLarge = hasGrown(header, changes, AT_HAND_GROWTH);
  if (header.level === 0 && isLarge && header.pages.every(isKnown)) return { target: 0, rows: header.pages };
  const wanted = wantedMerge(header, changes);
  const top = header.layers.length;
  if (wanted.target === 0 || top >= LAYERS_MAX || wanted.rows.every(isKnown)) return wanted;
  return { target: top + 1, rows: [] };
}

/** The merge if all pages were known. */
function wantedMerge(header: Header, changes: readonly Change[]): Merge {
  const { pages, layers } = header;
  const bounds = layerBounds(header);
  const top = layers.length;
  const into = (target: number): Merge => ({
    target,
    rows: target < top ? pages.slice(bounds[target]) : rowsTouched(pages, bounds[target]!, pages.length, changes),
  });
  if (header.level > 0 || hasGrown(header, changes, BASE_GROWTH)) return into(0);
  const touched = into(top);
  // Changes that touch one page, and are no fewer than its records, are merged into that page.
  if (touched.rows.length === 1 && touched.rows[0]!.records <= changes.length) return touched;
  if (top < LAYERS_WANTED) return { target: top + 1, rows: [] };
  // Merges as a binary counter carries (Bentley and Saxe, 1980).
  let target = top;
  let merged = changes.length + recordsIn(pages, bounds[top], bounds[top + 1]);
  for (; target > 1; target -= 1) {
    const below = recordsIn(pages, bounds[target - 1], bounds[target]);
    if (below > merged) break;
    merged += below;
  }
  return target === top ? touched : into(target);
}

/** Whether the layers have `growth` times the base's records, or as many if it is one page. */
function hasGrown(header: Header, changes: readonly Change[], growth: number): boolean {
  const { pages } = header;
  const basePages = layerBounds(header)[1]!;
  const newer = recordsIn(pages, basePages) + changes.length;
  const least = basePages > 1 ? growth : 1;
  // Each page has at least one record. Comparing pages first mostly saves adding up a large base.
  return newer >= least * basePages && newer >= least * recordsIn(pages, 0, basePages);
}

/** The rows from `first` to `end` (exclusive) that own a position of these changes. */
function rowsTouched(rows: readonly PageRef[], first: number, end: number, changes: readonly Change[]): PageRef[] {
  const touched: PageRef[] = [];
  if (first === end) return touched;
  for (let row = first, next = 0; next < changes.length; row += 1) {
    row = Math.max(row, rowBefore(rows, row, end, changes[next]!.position));
    touched.push(rows[row]!);
    const nextLow = row + 1 < end ? rows[row + 1]!.low : undefined;
    do next += 1;
    while (next < changes.length && beforeBound(changes[next]!.position, nextLow));
  }
  return touched;
}

/** The slots of the last few pages, which others may have merged and then written to again. */
function lastSlots({ pages }: Header): number[] {
  const slots: number[] = [];
  let bytes = 0;
  for (let row = pages.length - 1; row >= 0; row -= 1) {
    const { slot, sealedBytes } = pages[row]!;
    bytes += sealedBytes;
    if (bytes > LAST_BYTES) break;
    slots.push(slot);
  }
  return slots;
}

/** The slots that the next new pages take (`Slots`), and that others may have written by now. */
function nextSlots(header: Header, count: number): number[] {
  const dead = header.deadSlots.slice(-count).map(({ slot }) => slot);
  const first = firstNewSlot(header);
  return [...dead, ...Array.from({ length: count - dead.length }, (_, at) => first + at)];
}

/** A leaf with a larger share of dead records is purged, that is, written anew without them. */
const DEAD_SHARE_MAX = 0.25;

/** How many pages of a layer an estimate opens at most. Expanding one takes 30 µs. */
const SAMPLED_MAX = 32;

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
