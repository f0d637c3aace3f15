// Splitting a container, pure: how the pages are shared out, and what each node's header becomes. The left node keeps its id, its low
// and its commit ids; new right nodes take fresh ids and know their origin. A root grows instead: all its content moves below it.
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from './bytes.ts';
import { pageOf, placeOf, type Snapshot } from './container.ts';
import { chunksOf } from './driver.ts';
import { appendCommitId, type Header, type PageRef } from './header.ts';
import { cutPage, keyAt, lowBetween, moveSealed, pageFrom } from './page.ts';
import { PageContent } from './page-content.ts';
import { type PageRules, sealRef } from './page-ref.ts';
import { placerOf, type Position } from './position.ts';

/** A run of pages that becomes one node; it owns the positions from `low` to the next run's low. */
export interface Run {
  readonly low: Position;
  readonly pages: readonly PageRef[];
}

/** What a split writes: first the new nodes, then, as the commit, the node itself. */
export interface SplitDraft {
  readonly inserts: readonly Header[];
  readonly replacement: Header;
}

/** Page bytes that a new node should take, and may take at most. */
export interface RunBudget {
  readonly bytes: number;
  readonly bytesMax: number;
}

/** Shares pages out into at least two runs of about equal bytes (given two pages), each of about `bytes`, none of several pages above `bytesMax`. */
export function shareOut(pages: readonly PageRef[], low: Position, { bytes, bytesMax }: RunBudget): Run[] {
  const total = pages.reduce((sum, ref) => sum + ref.sealedBytes, 0);
  const count = Math.min(pages.length, Math.max(2, Math.ceil(total / bytes)));
  const share = total / count;
  const runs: { low: Position; pages: PageRef[] }[] = [];
  let bytesBefore = 0;
  let runBytes = 0;
  for (const [index, ref] of pages.entries()) {
    const isDue = bytesBefore + ref.sealedBytes / 2 >= share * runs.length;
    const mustBegin = pages.length - index <= count - runs.length;
    const isFull = runBytes + ref.sealedBytes > bytesMax;
    if (runs.length === 0 || isFull || (runs.length < count && (isDue || mustBegin))) {
      runs.push({ low: runs.length === 0 ? low : ref.low, pages: [] });
      runBytes = 0;
    }
    runs.at(-1)!.pages.push(ref);
    runBytes += ref.sealedBytes;
    bytesBefore += ref.sealedBytes;
  }
  return runs;
}

/** Cuts a lone page of several records in two, so that its container can be split. */
export function halvePage(
  snapshot: Snapshot,
  ref: PageRef,
  nextNumber: number,
  rules: PageRules,
): { pages: PageRef[]; nextNumber: number } {
  const page = pageOf({ ...snapshot, header: { ...snapshot.header, pages: [ref] } }, ref, rules.table);
  const place = placerOf(snapshot.header.order, snapshot.header.level);
  let number = nextNumber;
  const halves = cutPage(page, page.body.length / 2);
  const pages = halves.map((half, index) => {
    const before = halves[index - 1];
    const low = before === undefined ? ref.low : lowBetween(before, half, snapshot.header.level, place);
    return sealRef(half, snapshot.header, { low, slot: ref.slot + index, number: number++ }, rules);
  });
  return { pages, nextNumber: number };
}

/** Drafts the split of `snapshot`, whose content is now `runs` (two at least). `ids` are fresh container ids, one a run. */
export function draftSplit(
  snapshot: Snapshot,
  runs: readonly Run[],
  nextNumber: number,
  attempt: Id64,
  ids: readonly Id64[],
  nowMs: number,
  rules: PageRules,
): SplitDraft {
  const { header } = snapshot;
  const isRoot = header.container === ROOT_CONTAINER;
  const next: Header = {
    ...header,
    commitCount: header.commitCount + 1,
    commitIds: appendCommitId(header.commitIds, attempt),
    deadSlots: [],
    layers: [],
  };
  const moved = isRoot ? runs : runs.slice(1);
  const numbers = new Numbers(nextNumber);
  const lasting = { ...next, pages: isRoot ? [] : stayingPages(snapshot, runs[0]!.pages, numbers, rules) };
  const inserts = moved.map((run, index): Header => {
    const node: Header = {
      ...header,
      container: ids[index]!,
      low: run.low,
      high: moved[index + 1] === undefined ? header.high : moved[index + 1]!.low,
      right: moved[index + 1] === undefined ? header.right : ids[index + 1]!,
      commitCount: next.commitCount,
      commitIds: EMPTY_BYTES,
      createdAtMs: nowMs,
      origin: { id: snapshot.id, version: snapshot.version },
      deadSlots: [],
      layers: [],
    };
    return { ...node, pages: run.pages.map((ref, slot) => movedPage(ref, snapshot, node, slot, numbers, rules)) };
  });
  const rootPages = isRoot ? branchPages(inserts, next, numbers, rules) : [];
  const handedOn = { nextNumber: numbers.next };
  return {
    inserts: inserts.map((node) => ({ ...node, ...handedOn })),
    replacement: isRoot
      ? { ...next, ...handedOn, level: header.level + 1, pages: rootPages }
      : { ...lasting, ...handedOn, high: moved[0]!.low, right: ids[0]! },
  };
}

class Numbers {
  next: number;

  constructor(next: number) {
    this.next = next;
  }

  take(): number {
    return this.next++;
  }
}

/** Pages that stay keep their bytes where memory has them as stored; else they are written anew, under a fresh number. */
function stayingPages(snapshot: Snapshot, pages: readonly PageRef[], numbers: Numbers, rules: PageRules): PageRef[] {
  return pages.map((ref) => {
    if (ref.content.sealed === undefined) return movedPage(ref, snapshot, snapshot.header, ref.slot, numbers, rules);
    // A content of its own: a reader may expand the shared one, and let go of its stored bytes, before the replace is sent.
    return {
      ...ref,
      chunksMost: chunksOf(ref.sealedBytes, rules.limits),
      content: new PageContent(ref.content.sealed, ref.content.page),
    };
  });
}

/** A header's pages as a replace needs them: all stored bytes at hand, no dead chunks. */
export function wholePages(
  snapshot: Snapshot,
  pages: readonly PageRef[],
  nextNumber: number,
  rules: PageRules,
): { pages: PageRef[]; nextNumber: number } {
  const numbers = new Numbers(nextNumber);
  return { pages: stayingPages(snapshot, pages, numbers, rules), nextNumber: numbers.next };
}

function movedPage(
  ref: PageRef,
  from: Snapshot,
  to: Header,
  slot: number,
  numbers: Numbers,
  rules: PageRules,
): PageRef {
  const number = numbers.take();
  const { sealed, page } = ref.content;
  if (sealed === undefined) return sealRef(pageOf(from, ref, rules.table), to, { low: ref.low, slot, number }, rules);
  const moved = moveSealed(sealed, placeOf(to, slot, number));
  return {
    ...ref,
    slot,
    number,
    crc: moved.crc,
    sealedBytes: moved.bytes.length,
    chunksMost: chunksOf(moved.bytes.length, rules.limits),
    content: new PageContent(moved.bytes, page),
  };
}

/** The routing entries of a grown root. */
function branchPages(children: readonly Header[], root: Header, numbers: Numbers, rules: PageRules): PageRef[] {
  const entries = children.map((child) => ({
    key: child.low,
    version: numbers.take(),
    expiresAtMs: undefined,
    codec: 0,
    value: Buffer.from(child.container, 'hex'),
  }));
  return cutPage(pageFrom(entries), rules.pageBytes).map((page, slot) =>
    sealRef(page, root, { low: slot === 0 ? root.low : keyAt(page, 0), slot, number: numbers.take() }, rules),
  );
}

/** Empty runs at evenly spaced hash positions: how a pre-split table begins. */
export function emptyRuns(count: number): Run[] {
  return Array.from({ length: count }, (_, index) => ({
    low: index === 0 ? EMPTY_BYTES : evenPosition(index, count),
    pages: [],
  }));
}

function evenPosition(index: number, count: number): Position {
  const position = Buffer.alloc(2);
  position.writeUInt16BE(Math.floor((index * 0x10000) / count));
  return position;
}
