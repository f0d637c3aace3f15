// Splits a node. The left part keeps id, low and commit ids. A root becomes a branch instead, and
// all its pages move to new nodes below it. Pure.
import { chunksOf, type DriverLimits } from '../contract/driver.ts';
import { compareBytes, EMPTY_BYTES, type Id64, ID64_BYTES, ROOT_CONTAINER } from '../format/bytes.ts';
import {
  type Header,
  HEADER_BYTES_MAX,
  HEADER_FIXED_BYTES,
  type LastSplit,
  lastSplitAfter,
  type SplitPart,
  successor,
} from '../format/header.ts';
import { cutPage, keyAt, lowBetween, pageFrom, recordCount } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { beforeBound, endOfPrefix, groupOf, type Position, positionsOf } from '../format/position.ts';
import { entryRecord } from './branch.ts';
import { PATCH_SHARE, sumsOf } from './container-size.ts';
import { isWithin, type LayeredPages, layersOf, rowsIn, startingAt, tableOfLayers } from './layers.ts';
import { inRange } from './merge-pages.ts';
import { firstNewSlot, movePage, type PageRules, sealPage } from './new-pages.ts';
import { peekPage, type Snapshot } from './snapshot.ts';

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
  const bytes = sumsOf(pages).sealedBytes;
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
  let number = nextNumber;
  const takeNumber = (): number => number++;
  const source: Source = { from: snapshot, layers: points.layers, takeNumber, rules };
  const next: Header = { ...successor(header, input.attempt), deadSlots: [], layers: [] };
  const lows = isRoot ? points.lows : points.lows.slice(1);
  const left = { ...next, high: lows[0], right: ids[0] };
  const staying = isRoot ? undefined : pagesOf(left, false, source);
  const origin = { id: snapshot.id, version: snapshot.version };
  const inserts = lows.map((low, index): Header => {
    const isLast = index === lows.length - 1;
    const [high, right] = isLast ? [header.high, header.right] : [lows[index + 1], ids[index + 1]];
    const own = { container: ids[index]!, low, high, right, createdAtMs: input.nowMs, origin };
    const fresh = { commitIds: EMPTY_BYTES, lastSplit: undefined };
    const node = { ...next, ...own, ...fresh };
    return { ...node, ...pagesOf(node, true, source) };
  });
  const lasting =
    staying === undefined
      ? { ...next, level: header.level + 1, pages: branchPages(inserts, next, source), lastSplit: undefined }
      : { ...left, ...staying, lastSplit: lastSplitOf(inserts, header, rules.limits) };
  const handedOn = { nextNumber: number };
  return { inserts: inserts.map((node) => ({ ...node, ...handedOn })), left: { ...lasting, ...handedOn } };
}

/** The pages that are shared out, and fresh numbers for those whose bytes are written (rule 13). */
interface Source extends Pick<SplitPoints, 'layers'> {
  readonly from: Snapshot;
  readonly rules: PageRules;
  readonly takeNumber: () => number;
}

/** The pages between a node's bounds, in the slots that they have or, if it is new, from 0 on. */
function pagesOf(node: Header, isNew: boolean, { from, layers, takeNumber, rules }: Source): LayeredPages {
  const range = { from: node.low, end: node.high };
  const positionOf = positionsOf(node.order, node.level);
  let nextSlot = 0;
  const shared = layers.map((rows) => {
    const placed = rowsIn(rows, from.header.high, range).flatMap((row): PageRef[] => {
      const { ref } = row;
      const cut = isWithin(row, range) ? undefined : inRange(peekPage(from, ref, rules.table), range, positionOf);
      const records = cut === undefined ? ref.records : recordCount(cut);
      if (records === 0) return [];
      const slot = isNew ? nextSlot++ : ref.slot;
      if (cut !== undefined && records < ref.records)
        return [sealPage(cut, node, { low: ref.low, slot, number: takeNumber() }, rules)];
      return [isNew ? movePage(from, ref, { node, slot, number: takeNumber() }, rules) : ref];
    });
    return startingAt(placed, node.low);
  });
  return tableOfLayers(shared);
}

/** The pages of a root that becomes a branch of these children. */
function branchPages(children: readonly Header[], root: Header, { takeNumber, rules }: Source): PageRef[] {
  const entries = children.map((child) => entryRecord(child, takeNumber()));
  return cutPage(pageFrom(entries), rules.pageBytes).map((page, slot) =>
    sealPage(page, root, { low: slot === 0 ? root.low : keyAt(page, 0), slot, number: takeNumber() }, rules),
  );
}

/** For new nodes: by the budget that such pages fill first; of `parts` nodes an equal share. */
export function nodeBudget(pages: readonly PageRef[], parts: number, limits: DriverLimits): NodeBudget {
  const { sealedBytes } = sumsOf(pages);
  let chunks = 0;
  let rowBytes = 0;
  for (const ref of pages) {
    chunks += chunksOf(ref.sealedBytes, limits);
    rowBytes += ROW_ESTIMATE_BYTES + ref.low.length;
  }
  const entityBytes = limits.entityBytesMax - limits.entityOverheadBytes - HEADER_FIXED_BYTES;
  const byEntity = entityBytes / (sealedBytes + chunks * limits.chunkOverheadBytes + rowBytes);
  const byHeader = (HEADER_BYTES_MAX - HEADER_FIXED_BYTES) / rowBytes;
  const full = sealedBytes * Math.min(byEntity, byHeader, limits.chunksMax / chunks);
  const bytes = Math.max(1, FILL_SHARE * full);
  return { bytes: parts === 0 ? bytes : Math.min(bytes, sealedBytes / parts), bytesMax: PATCH_SHARE * full };
}

/** The pages to share out among nodes, and the lows of these nodes. */
export interface SplitPoints {
  /** The rows of each layer, the base first. */
  readonly layers: readonly (readonly PageRef[])[];
  /** The lows of the nodes, sorted. The first is that of the node that is split. */
  readonly lows: readonly Position[];
}

/** How many bytes of pages a new node should have, and may have at most. */
export interface NodeBudget {
  readonly bytes: number;
  readonly bytesMax: number;
}

/** A position at which pages begin, and at which a node may. */
interface Candidate {
  readonly low: Position;
  /** Bytes of the pages that begin here. */
  readonly bytes: number;
  /** Bytes of the pages that begin before this position and may extend beyond it. */
  readonly bytesAcross: number;
}

/**
 * The lows of the nodes, equal in bytes: at least two if pages begin in two groups, else one. A
 * page that extends over a split point counts on both sides.
 */
export function chooseSplitPoints(
  layers: SplitPoints['layers'],
  { low, level, groupBy }: Pick<Header, 'low' | 'level' | 'groupBy'>,
  { bytes, bytesMax }: NodeBudget,
): Position[] {
  const candidates = candidatesOf(layers, (at) => (level > 0 || groupBy === undefined ? at : groupOf(at, groupBy)));
  // A page too large for any node counts as one filled node, so that its neighbours stay together.
  const weightOf = (candidate: Candidate): number => (candidate.bytes > bytesMax ? bytes : candidate.bytes);
  const total = candidates.reduce((sum, candidate) => sum + weightOf(candidate), 0);
  const count = Math.min(candidates.length, Math.max(2, Math.ceil(total / bytes)));
  const share = total / count;
  const lows: Position[] = [];
  let bytesBefore = 0;
  let nodeBytes = 0;
  for (const [index, candidate] of candidates.entries()) {
    const weight = weightOf(candidate);
    const isDue = bytesBefore + weight / 2 >= share * lows.length;
    const mustBegin = candidates.length - index <= count - lows.length;
    const isFull = nodeBytes + candidate.bytes > bytesMax;
    if (lows.length === 0 || isFull || (lows.length < count && (isDue || mustBegin))) {
      lows.push(lows.length === 0 ? low : candidate.low);
      nodeBytes = candidate.bytesAcross;
    }
    nodeBytes += candidate.bytes;
    bytesBefore += weight;
  }
  return lows;
}

/** `boundary` returns where a node may begin for a page with this low. */
function candidatesOf(layers: SplitPoints['layers'], boundary: (low: Position) => Position): Candidate[] {
  const begins = layers.flatMap((rows, layer) => rows.map((ref) => ({ layer, low: boundary(ref.low), ref })));
  begins.sort((a, b) => compareBytes(a.low, b.low));
  /** For each layer the bytes of its page that began last. */
  const open = layers.map(() => 0);
  const candidates: Candidate[] = [];
  for (let first = 0; first < begins.length;) {
    const { low } = begins[first]!;
    const across = open.slice();
    let bytes = 0;
    for (; first < begins.length && compareBytes(begins[first]!.low, low) === 0; first += 1) {
      const { layer, ref } = begins[first]!;
      bytes += ref.sealedBytes;
      open[layer] = ref.sealedBytes;
      across[layer] = 0;
    }
    candidates.push({ low, bytes, bytesAcross: across.reduce((sum, each) => sum + each, 0) });
  }
  return candidates;
}

/** Evenly spaced positions of hashes, for the leaves of a new table. */
export function evenSplitPoints(count: number): SplitPoints {
  const lows = Array.from({ length: count }, (_, index) => (index === 0 ? EMPTY_BYTES : evenPosition(index, count)));
  return { layers: [[]], lows };
}

function evenPosition(index: number, count: number): Position {
  const position = Buffer.alloc(2);
  position.writeUInt16BE(Math.floor((index * 0x10000) / count));
  return position;
}

/** What the names may take of a header, and as a share of an entity. */
const BYTES_MAX = 1_024;
const SHARE_MAX = 1 / 64;
/** What their lengths and the number of the commit take. */
const FRAME_BYTES = 16;

/**
 * What a header names after a split: these nodes, then those of earlier splits that fit. It names
 * them until the branches do, so that processes with older branches find them without links.
 */
export function lastSplitOf(
  nodes: readonly Header[],
  { lastSplit, commitCount }: Header,
  limits: DriverLimits,
): LastSplit | undefined {
  const earlier = lastSplitAfter(lastSplit, commitCount + 1)?.parts ?? [];
  const bytesMax = Math.min(BYTES_MAX, SHARE_MAX * limits.entityBytesMax);
  const parts: SplitPart[] = [];
  let bytes = FRAME_BYTES;
  for (const { low, container } of [...nodes, ...earlier]) {
    bytes += low.length + 2 + ID64_BYTES;
    if (bytes > bytesMax) break;
    parts.push({ low, container });
  }
  return parts.length === 0 ? undefined : { parts, commit: commitCount + 1 };
}
