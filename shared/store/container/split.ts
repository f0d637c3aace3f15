// Splits a node. The left part keeps id, low and commit ids. A root becomes a branch instead, and
// all its pages move to new nodes below it. Pure.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import { compareBytes, EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { type Header, HEADER_BYTES_MAX, HEADER_FIXED_BYTES } from '../format/header.ts';
import { PageContent } from '../format/page-content.ts';
import type { PageRef } from '../format/page-table.ts';
import { cutPage, keyAt, lowBetween, type Page, pageFrom, recordCount, slicePage } from '../format/page-body.ts';
import { beforeBound, endOfPrefix, groupOf, type Position, positionsOf } from '../format/position.ts';
import { entryRecord } from './branch.ts';
import { indexesIn, isNotAbove, type LayeredPages, layersOf, startingAt, tableOfLayers } from './layers.ts';
import { movePage, type PageRules, sealPage } from './seal-page.ts';
import { PATCH_SHARE } from './container-size.ts';
import { firstNewSlot } from './slots.ts';
import { peekPage, type Snapshot } from './snapshot.ts';
import type { NodeBudget, SplitPoints } from './split-points.ts';
import { lastSplitOf } from './last-split.ts';
import { successor } from './successor.ts';

/** The node to split, the id and time of the commit, and fresh ids for new nodes. */
export interface SplitInput {
  readonly snapshot: Snapshot;
  readonly attempt: Id64;
  readonly nowMs: number;
  drawId(): Id64;
}

/** The nodes to write in a split: first the new ones, then the split node, which links them. */
export interface SplitPlan {
  readonly inserts: readonly Header[];
  /** The split node: the leftmost of the parts, or a root as a branch of the new nodes. */
  readonly left: Header;
}

/** About how full new nodes are, so that they are not soon split again. */
const FILL_SHARE = 0.5;

/** About what a row of the page table takes beside its low. */
const ROW_ESTIMATE_BYTES = 24;

/** Cuts the large pages of a base without layers, so that `parts` nodes can be equal in bytes. */
export function cutPages(
  snapshot: Snapshot,
  pages: readonly PageRef[],
  { nextNumber, parts }: { readonly nextNumber: number; readonly parts: number },
  rules: PageRules,
): { pages: PageRef[]; nextNumber: number } {
  const { header } = snapshot;
  const positionOf = positionsOf(header.order, header.level);
  const bytes = pages.reduce((sum, ref) => sum + ref.sealedBytes, 0);
  let nextSlot = firstNewSlot({ pages: [...pages, ...header.pages], deadSlots: header.deadSlots });
  let number = nextNumber;
  const cut = pages.flatMap((ref) => {
    const pieces = Math.min(ref.records, Math.round((ref.sealedBytes * parts) / bytes));
    if (pieces < 2) return [ref];
    const page = peekPage({ ...snapshot, header: { ...header, pages: [ref] } }, ref, rules.table);
    const cuts = cutPage(page, page.body.length / pieces);
    return cuts.map((piece, index) => {
      const before = cuts[index - 1];
      const low = before === undefined ? ref.low : lowBetween(before, piece, header, positionOf);
      const slot = index === 0 ? ref.slot : nextSlot++;
      return sealPage(piece, header, { low, slot, number: number++ }, rules);
    });
  });
  return { pages: cut, nextNumber: number };
}

/** The lows of two nodes if all pages begin in one group and records follow it; else one low. */
export function pointsAroundGroup(snapshot: Snapshot, layers: SplitPoints['layers'], table: string): Position[] {
  const { low, level, groupBy } = snapshot.header;
  const last = layers.flat().reduce((most, ref) => (compareBytes(ref.low, most) > 0 ? ref.low : most), low);
  const end = level > 0 || groupBy === undefined ? undefined : endOfPrefix(groupOf(last, groupBy));
  if (end === undefined || compareBytes(last, low) === 0) return [low];
  const lasts = layers.map((rows) => rows.at(-1)).filter((ref) => ref !== undefined);
  const pages = lasts.map((ref) => peekPage(snapshot, ref, table));
  return pages.some((page) => !beforeBound(keyAt(page, recordCount(page) - 1), end)) ? [low, end] : [low];
}

/** Whether a node can be split between groups, as far as its rows and known pages show. */
export function isDivisible(snapshot: Snapshot, table: string): boolean {
  const { groupBy, level } = snapshot.header;
  if (groupBy === undefined || level > 0) return true;
  const keys = layersOf(snapshot.header).flatMap((rows) => [
    ...rows.slice(1).map(({ low }) => low),
    ...[rows[0], rows.at(-1)].flatMap((ref) => endsOf(snapshot, ref, table)),
  ]);
  const groups = keys.map((key) => groupOf(key, groupBy));
  return groups.some((group) => compareBytes(group, groups[0]!) !== 0);
}

/** The first and the last key of a page; none if it is unknown or damaged. */
function endsOf(snapshot: Snapshot, ref: PageRef | undefined, table: string): Position[] {
  if (ref === undefined || !ref.content.isKnown) return [];
  try {
    const page = peekPage(snapshot, ref, table);
    return [keyAt(page, 0), keyAt(page, recordCount(page) - 1)];
  } catch {
    return [];
  }
}

/** Plans a split into at least two nodes. `nextNumber` is the first free number. */
export function planSplit(input: SplitInput, points: SplitPoints, nextNumber: number, rules: PageRules): SplitPlan {
  const { snapshot } = input;
  const { header } = snapshot;
  const isRoot = header.container === ROOT_CONTAINER;
  const ids = points.lows.map(() => input.drawId());
  const next: Header = { ...successor(header, input.attempt), deadSlots: [], layers: [] };
  const mover = new Mover(snapshot, points.layers, nextNumber, rules);
  const lows = isRoot ? points.lows : points.lows.slice(1);
  const left = { ...next, high: lows[0], right: ids[0] };
  const staying = isRoot ? undefined : mover.pagesOf(left, false);
  const origin = { id: snapshot.id, version: snapshot.version };
  const inserts = lows.map((low, index): Header => {
    const isLast = index === lows.length - 1;
    const [high, right] = isLast ? [header.high, header.right] : [lows[index + 1], ids[index + 1]];
    const own = { container: ids[index]!, low, high, right, createdAtMs: input.nowMs, origin };
    const fresh = { commitIds: EMPTY_BYTES, lastSplit: undefined };
    const node = { ...next, ...own, ...fresh };
    return { ...node, ...mover.pagesOf(node, true) };
  });
  const lasting =
    staying === undefined
      ? { ...next, level: header.level + 1, pages: branchPages(inserts, next, mover, rules), lastSplit: undefined }
      : { ...left, ...staying, lastSplit: lastSplitOf(inserts, header, rules.limits) };
  const handedOn = { nextNumber: mover.nextNumber };
  return { inserts: inserts.map((node) => ({ ...node, ...handedOn })), left: { ...lasting, ...handedOn } };
}

/** Moves pages to nodes. Page bytes that are written take a fresh number (rule 13). */
class Mover {
  readonly #from: Snapshot;
  readonly #layers: SplitPoints['layers'];
  readonly #rules: PageRules;
  nextNumber: number;

  constructor(from: Snapshot, layers: SplitPoints['layers'], nextNumber: number, rules: PageRules) {
    this.#from = from;
    this.#layers = layers;
    this.#rules = rules;
    this.nextNumber = nextNumber;
  }

  takeNumber(): number {
    return this.nextNumber++;
  }

  /** The pages between a node's bounds, in the slots that they have or, if it is new, from 0 on. */
  pagesOf(node: Header, isNew: boolean): LayeredPages {
    let nextSlot = 0;
    const place = (ref: PageRef, piece: Page | undefined): PageRef => {
      const slot = isNew ? nextSlot++ : ref.slot;
      if (piece === undefined) return isNew ? this.#moved(ref, node, slot) : ref;
      return sealPage(piece, node, { low: ref.low, slot, number: this.takeNumber() }, this.#rules);
    };
    return tableOfLayers(this.#layers.map((rows) => this.#layerOf(rows, node, place)));
  }

  /** The page with its stored bytes, from memory or sealed anew, and without dead chunks. */
  whole(ref: PageRef, node: Header): PageRef {
    if (ref.content.sealed === undefined) return this.#moved(ref, node, ref.slot);
    return {
      ...ref,
      chunksMost: chunksOf(ref.sealedBytes, this.#rules.limits),
      // Not shared: a reader that expands it would drop the stored bytes before they are sent.
      content: new PageContent(ref.content.sealed, ref.content.page),
    };
  }

  /** A layer's pages between the node's bounds. `place` makes the row of a page or of its piece. */
  #layerOf(
    rows: readonly PageRef[],
    node: Header,
    place: (ref: PageRef, piece: Page | undefined) => PageRef,
  ): PageRef[] {
    const placed: PageRef[] = [];
    for (const [row, ref] of rows.entries()) {
      const end = rows[row + 1]?.low ?? this.#from.header.high;
      if (!beforeBound(ref.low, node.high) || isNotAbove(end, node.low)) continue;
      const isInside = compareBytes(ref.low, node.low) >= 0 && isNotAbove(end, node.high);
      const piece = isInside ? undefined : this.#pieceOf(ref, node);
      if (piece !== undefined && recordCount(piece) === 0) continue;
      const isWhole = piece === undefined || recordCount(piece) === ref.records;
      placed.push(place(ref, isWhole ? undefined : piece));
    }
    return startingAt(placed, node.low);
  }

  #pieceOf(ref: PageRef, { low, high, order, level }: Header): Page {
    const page = peekPage(this.#from, ref, this.#rules.table);
    const { first, end } = indexesIn(page, { from: low, end: high }, positionsOf(order, level));
    return slicePage(page, first, end);
  }

  #moved(ref: PageRef, to: Header, slot: number): PageRef {
    return movePage(this.#from, ref, { node: to, slot, number: this.takeNumber() }, this.#rules);
  }
}

/** The node as a replace writes it: with the stored bytes of all pages, and without dead chunks. */
export function wholeNode(snapshot: Snapshot, node: Header, rules: PageRules): Header {
  const mover = new Mover(snapshot, [], node.nextNumber, rules);
  const pages = node.pages.map((ref) => mover.whole(ref, node));
  return { ...node, pages, deadSlots: [], nextNumber: mover.nextNumber };
}

/** The pages of a root that becomes a branch of these children. */
function branchPages(children: readonly Header[], root: Header, mover: Mover, rules: PageRules): PageRef[] {
  const entries = children.map((child) => entryRecord(child, mover.takeNumber()));
  return cutPage(pageFrom(entries), rules.pageBytes).map((page, slot) =>
    sealPage(page, root, { low: slot === 0 ? root.low : keyAt(page, 0), slot, number: mover.takeNumber() }, rules),
  );
}

/** How many bytes of such pages a new node should have, by the budget that they fill first. */
export function nodeBudget(pages: readonly PageRef[], limits: DriverLimits): NodeBudget {
  let pageBytes = 0;
  let chunks = 0;
  let rowBytes = 0;
  for (const ref of pages) {
    pageBytes += ref.sealedBytes;
    chunks += chunksOf(ref.sealedBytes, limits);
    rowBytes += ROW_ESTIMATE_BYTES + ref.low.length;
  }
  const entityBytes = limits.entityBytesMax - limits.entityOverheadBytes - HEADER_FIXED_BYTES;
  const byEntity = entityBytes / (pageBytes + chunks * limits.chunkOverheadBytes + rowBytes);
  const byHeader = (HEADER_BYTES_MAX - HEADER_FIXED_BYTES) / rowBytes;
  const full = pageBytes * Math.min(byEntity, byHeader, limits.chunksMax / chunks);
  return { bytes: Math.max(1, FILL_SHARE * full), bytesMax: PATCH_SHARE * full };
}
