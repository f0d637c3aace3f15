// Merges a leaf into its left neighbour (rules 26, 27 and 30): makes the headers of the retired and
// the stripped leaf, and the left neighbour to be committed. Pure.
import { EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { encodeHeader, type Header, NO_PAGES, successor } from '../format/header.ts';
import type { PageRef } from '../format/page-table.ts';
import { fits, sizesOf } from './container-size.ts';
import { layersOf, startingAt, tableOfLayers } from './layers.ts';
import { movePage, type PageRules } from './new-pages.ts';
import type { CommitRules } from './plan-commit.ts';
import type { Snapshot } from './snapshot.ts';

/** Rule 26: the leaf, waiting to be absorbed. Throws unless it is live and not the leftmost. */
export function retiredHeader(header: Header, attempt: Id64): Header {
  if (header.state !== 'live' || header.level > 0 || header.low.length === 0)
    throw new Error('only a live leaf that has a left neighbour is retired');
  return { ...successor(header, attempt), state: 'retired' };
}

/**
 * Rule 30: the leaf after it was absorbed. It keeps bounds, link, numbers and commit ids, so that
 * attempts on it can still be settled. `createdAtMs` becomes the time at which it is stripped.
 */
export function strippedHeader(header: Header, attempt: Id64, nowMs: number): Header {
  if (header.state !== 'retired') throw new Error('only a retired leaf is stripped');
  return { ...successor(header, attempt), ...NO_PAGES, state: 'merged', createdAtMs: nowMs };
}

/**
 * Rule 27: `left` with everything that the retired leaf `right`, to which it links, holds. It has
 * the version of `left`, and the next commit on it, with or without changes, is the merge. That
 * commit must be a replace (`PlanInput.mustReplace`), as the provider lacks the pages that moved;
 * therefore no dead slots are counted. Layers of the same rank are joined, so that what `right`
 * hides stays hidden. All pages of both must be known.
 */
export function joinedSnapshot(left: Snapshot, right: Snapshot, rules: PageRules): Snapshot {
  const { header: node } = left;
  // Any version of `left` may absorb `right`, as long as it is live and links to it.
  if (node.state !== 'live' || right.header.state !== 'retired' || node.right !== right.header.container)
    throw new Error('only a live leaf absorbs, and only the retired leaf that it links');
  const free = slotsFreeOf([...node.pages, ...node.deadSlots]);
  let nextNumber = Math.max(node.nextNumber, right.header.nextNumber);
  const header = joinedHeader(node, right.header, (ref) =>
    movePage(right, ref, { node, slot: free.next().value, number: nextNumber++ }, rules),
  );
  return { ...left, header: { ...header, nextNumber } };
}

/** The header of both as one node, without the new slots and numbers of the pages that move. */
export function headerTogether(left: Header, right: Header): Header {
  return joinedHeader(left, right, (ref) => ref);
}

/** Rule 27: `left` with a link to `copy` in place of the retired leaf. Its commit is the merge. */
export function relinkedSnapshot(left: Snapshot, copy: Id64): Snapshot {
  // The last split may name the retired leaf, and would send others there.
  return { ...left, header: { ...left.header, right: copy, lastSplit: undefined } };
}

/**
 * Rule 27: a new live leaf with everything that the retired leaf `right` holds, used if both leaves
 * together are too large. Its origin is `right` at its retired version, from which numbers and
 * commit count go on. All pages must be known.
 */
export function copyOf(
  right: Snapshot,
  { attempt, nowMs, container }: { readonly attempt: Id64; readonly nowMs: number; readonly container: Id64 },
  rules: PageRules,
): Header {
  if (right.header.state !== 'retired') throw new Error('only a retired leaf is copied');
  const node: Header = {
    ...successor(right.header, attempt),
    state: 'live',
    container,
    commitIds: EMPTY_BYTES,
    createdAtMs: nowMs,
    origin: { id: right.id, version: right.version },
    deadSlots: [],
    lastSplit: undefined,
  };
  let { nextNumber } = node;
  const pages = node.pages.map((ref, slot) => movePage(right, ref, { node, slot, number: nextNumber++ }, rules));
  return { ...node, pages, nextNumber };
}

/** The rows of both, layer by layer. `move` returns the new row of each page of `right`. */
function joinedHeader(left: Header, right: Header, move: (ref: PageRef) => PageRef): Header {
  const [lower, upper] = [layersOf(left), layersOf(right)];
  const ranks = Array.from({ length: Math.max(lower.length, upper.length) }, (_, rank) =>
    startingAt([...(lower[rank] ?? []), ...(upper[rank] ?? []).map(move)], left.low),
  );
  const { high, right: link } = right;
  return { ...left, ...tableOfLayers(ranks), high, right: link, deadSlots: [], lastSplit: undefined };
}

/** Free slots, lowest first: a leaf that absorbs neighbours for ever must not run out of slots. */
function* slotsFreeOf(taken: readonly { readonly slot: number }[]): Generator<number, never> {
  const slots = new Set(taken.map(({ slot }) => slot));
  for (let slot = 0; ; slot += 1) if (!slots.has(slot)) yield slot;
}

/** Two leaves are merged below this share. A split leaves more, so the two do not alternate. */
const MERGE_SHARE = 0.6;

/** Rule 32: whether both together take at most `share` of every budget. Needs no pages. */
export function fitsTogether(left: Header, right: Header, rules: CommitRules, share = MERGE_SHARE): boolean {
  const header = headerTogether(left, right);
  return fits(sizesOf(header, encodeHeader(header).length, rules.limits).live, rules.splitLimits, share);
}
