// Which layers a commit merges: page table and positions decide, before any page is read.
import type { Header } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound } from '../format/position.ts';
import { type Change, singles } from './change.ts';
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

/** Whether a page can be had without a read. */
type IsAtHand = (ref: PageRef) => boolean;

/** The lowest layer that is rewritten: 0 the base, their number a new one. `changes`: in order. */
export function compactionTarget(header: Header, changes: readonly Change[], isAtHand: IsAtHand = isKnown): number {
  const target = wantedTarget(header, changes);
  const top = header.layers.length;
  if (target === 0 || target > top || top >= LAYERS_MOST) return target;
  return rowsRewritten(header, changes, target).every(isAtHand) ? target : top + 1;
}

/** The target if all pages were at hand. */
function wantedTarget(header: Header, changes: readonly Change[]): number {
  const { pages, layers } = header;
  const bounds = layerBounds(header);
  const top = layers.length;
  const above = layers.map((_, layer) => recordsIn(pages, bounds[layer + 1], bounds[layer + 2]));
  const newer = above.reduce((sum, records) => sum + records, changes.length);
  const basePages = bounds[1]!;
  const growth = basePages > 1 ? BASE_GROWTH : 1;
  // Compares pages first, which hold a record at least: adding up a large base takes long.
  if (header.level > 0 || (newer >= growth * basePages && newer >= growth * recordsIn(pages, 0, basePages))) return 0;
  const touched = rowsTouched(pages, bounds[top]!, pages.length, changes);
  // A group no smaller than the one page it touches goes into that layer.
  if (touched.length === 1 && recordsIn(touched) <= changes.length) return top;
  if (top < LAYERS_WANTED) return top + 1;
  // As a binary counter carries (Bentley and Saxe, 1980).
  let target = top;
  let merged = changes.length + above[target - 1]!;
  for (; target > 1 && above[target - 2]! <= merged; target -= 1) merged += above[target - 2]!;
  return target;
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

/** The unknown pages that must be read before these changes can be committed. */
export function pagesToCommit(snapshot: Snapshot, changes: readonly Change[]): PageRef[] {
  return pagesUsed(snapshot, changes, isKnown).filter((ref) => !isKnown(ref));
}

/** The slots that a read before these changes should ask for. */
export function slotsToCommit(snapshot: Snapshot, changes: readonly Change[]): number[] {
  const { header } = snapshot;
  const used = pagesUsed(snapshot, changes, () => true).map(({ slot }) => slot);
  return [...new Set([...used, ...lastSlots(header), ...nextSlots(header, NEXT_SLOTS)])];
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

function pagesUsed(snapshot: Snapshot, changes: readonly Change[], isAtHand: IsAtHand): PageRef[] {
  const { header } = snapshot;
  const whole = changes[0]?.whole;
  if (whole?.kind === 'clear') return rowsToCount(header, { from: changes[0]!.position, end: whole.end });
  return pagesTouched(header, singles(changes), isAtHand);
}

function pagesTouched(header: Header, changes: readonly Change[], isAtHand: IsAtHand): PageRef[] {
  const target = compactionTarget(header, changes, isAtHand);
  const needed = new Set(rowsRewritten(header, changes, target));
  for (const change of changes) {
    if (!change.isBlind) for (const ref of rowsFor(header, change.position)) needed.add(ref);
  }
  return [...needed];
}

/** The rows that a commit into the layer `target` takes in. */
function rowsRewritten(header: Header, changes: readonly Change[], target: number): PageRef[] {
  const { pages, layers } = header;
  const bounds = layerBounds(header);
  const first = bounds[target]!;
  if (target < layers.length) return pages.slice(first);
  return rowsTouched(pages, first, bounds[target + 1] ?? first, changes);
}
