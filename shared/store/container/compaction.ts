// Which layers a commit merges: page table and positions decide, before any page is read.
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound } from '../format/position.ts';
import { type Change, type Clearing, singles } from './change.ts';
import { rowsToCount } from './count.ts';
import { layerBounds, recordsIn, rowBefore, rowsFor } from './layers.ts';
import { firstNewSlot } from './slots.ts';
import { isKnown, type Snapshot } from './snapshot.ts';

/** With so many layers above a base a commit merges some: a lookup may open a page of each. */
const LAYERS_WANTED = 8;
/** Up to so many it adds one rather than first read a merge's pages, which others wrote. */
const LAYERS_MOST = 12;

/** New pages of others that a read before a commit asks for. */
const NEXT_SLOTS = 8;

/** Bytes of known pages that it asks for again, for others may have used their slots. */
const LAST_BYTES = 4_096;

/** Records above a base, at most, for each of its own; above a base of one page, 1. */
const BASE_GROWTH = 3;

/**
 * As BASE_GROWTH where all pages are at hand. What layers hide stays stored until then: this bounds
 * it. A smaller share writes more bytes for each change.
 */
const AT_HAND_GROWTH = 0.5;

/** Whether a page can be had without a read. */
type IsAtHand = (ref: PageRef) => boolean;

/** What a commit merges: the layer that it rewrites, and the rows that go into that. */
interface Merge {
  /** 0: the base; beyond the last: a new one. */
  readonly target: number;
  readonly rows: readonly PageRef[];
}

/** Planned from the page table, for one commit of changes in order of position. */
export interface Compaction extends Pick<Merge, 'target'> {
  /** Pages that must be read before. */
  readonly unread: readonly PageRef[];
}

/** The plan for these changes of a snapshot; a clearing merges nothing. */
export function planCompaction(snapshot: Snapshot, changes: readonly Change[]): Compaction {
  const { header } = snapshot;
  const single = singles(changes);
  const whole = changes[0]?.whole;
  const merge = whole?.kind === 'clear' ? NO_MERGE : mergeFor(header, single, isKnown);
  const used = whole?.kind === 'clear' ? rowsToClear(header, changes[0]!, whole) : pagesUsed(header, single, merge);
  return { target: merge.target, unread: used.filter((ref) => !isKnown(ref)) };
}

const NO_MERGE: Merge = { target: 0, rows: [] };

/** The merge for changes in order. `isAtHand`: whether a page can be had without a read. */
function mergeFor(header: Header, changes: readonly Change[], isAtHand: IsAtHand): Merge {
  const bounds = layerBounds(header);
  const isLarge = hasGrown(header, bounds[1]!, changes, AT_HAND_GROWTH);
  if (header.level === 0 && isLarge && header.pages.every(isAtHand)) return { target: 0, rows: header.pages };
  const wanted = wantedMerge(header, bounds, changes);
  const top = header.layers.length;
  if (wanted.target === 0 || top >= LAYERS_MOST || wanted.rows.every(isAtHand)) return wanted;
  return { target: top + 1, rows: [] };
}

/** The merge if all pages were at hand. */
function wantedMerge(header: Header, bounds: readonly number[], changes: readonly Change[]): Merge {
  const { pages, layers } = header;
  const top = layers.length;
  const into = (target: number): Merge => ({
    target,
    rows: target < top ? pages.slice(bounds[target]) : rowsTouched(pages, bounds[target]!, pages.length, changes),
  });
  if (header.level > 0 || hasGrown(header, bounds[1]!, changes, BASE_GROWTH)) return into(0);
  const touched = into(top);
  // A group no smaller than the one page it touches goes into that layer.
  if (touched.rows.length === 1 && touched.rows[0]!.records <= changes.length) return touched;
  if (top < LAYERS_WANTED) return { target: top + 1, rows: [] };
  // As a binary counter carries (Bentley and Saxe, 1980).
  let target = top;
  let merged = changes.length + recordsIn(pages, bounds[top], bounds[top + 1]);
  for (; target > 1; target -= 1) {
    const below = recordsIn(pages, bounds[target - 1], bounds[target]);
    if (below > merged) break;
    merged += below;
  }
  return target === top ? touched : into(target);
}

/** Whether the layers hold `growth` times as many records as the base; of one page, as many. */
function hasGrown({ pages }: Header, basePages: number, changes: readonly Change[], growth: number): boolean {
  const newer = recordsIn(pages, basePages) + changes.length;
  const least = basePages > 1 ? growth : 1;
  // Compares pages first, which hold a record at least: adding up a large base takes long.
  return newer >= least * basePages && newer >= least * recordsIn(pages, 0, basePages);
}

/** The rows from `first` to `end` (exclusive) that own a position of the changes. */
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

/** The slots that a read before these changes should ask for. */
export function slotsToCommit(snapshot: Snapshot, changes: readonly Change[]): number[] {
  const { header } = snapshot;
  const whole = changes[0]?.whole;
  const single = singles(changes);
  const used =
    whole?.kind === 'clear'
      ? rowsToClear(header, changes[0]!, whole)
      : pagesUsed(header, single, wantedMerge(header, layerBounds(header), single));
  const slots = used.map(({ slot }) => slot);
  return [...new Set([...slots, ...lastSlots(header), ...nextSlots(header, NEXT_SLOTS)])];
}

/** The slots of the last few pages: others may have merged these, and written there again. */
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

/** The slots that the next new pages take (`slots.ts`): others may have written them. */
function nextSlots(header: Header, count: number): number[] {
  const dead = header.deadSlots.slice(-count).map(({ slot }) => slot);
  const first = firstNewSlot(header);
  return [...dead, ...Array.from({ length: count - dead.length }, (_, at) => first + at)];
}

function rowsToClear(header: Header, { position }: Change, { end }: Clearing): readonly PageRef[] {
  return rowsToCount(header, { from: position, end });
}

/** The rows that the merge takes in, and those that changes look at before they decide. */
function pagesUsed(header: Header, changes: readonly Change[], { rows }: Merge): readonly PageRef[] {
  if (changes.every(({ isBlind }) => isBlind)) return rows;
  const used = new Set(rows);
  for (const change of changes) {
    if (!change.isBlind) for (const ref of rowsFor(header, change.position)) used.add(ref);
  }
  return [...used];
}
