// The search for the node that owns a position, as plain data and the look that it needs next.
// Branches are hints, cached and unchecked: the node that is reached decides. By its fences the
// search ends, goes down, walks right, searches to the left, or begins again at a root read anew.
import {
  type Child,
  childBelow,
  childFor,
  locate,
  pageToChild,
  type RoutingEntry,
  separatorsAfter,
} from '../container/branch.ts';
import { partFor } from '../container/last-split.ts';
import { isKnown, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/ids.ts';
import { beforeBound, type Position, type UpperBound, within } from '../format/position.ts';
import { count, type Counted } from '../io/counters.ts';
import type { EntryRepair } from './leaf.ts';

/** After more restarts the tree is damaged, or changes faster than it can be read. */
const RESTARTS_MAX = 20;
/** If a node names the nodes of its split, its parent is read anew no more often. */
const PARENT_AGE_MS = 1_000;
/** Steps after which leaves merge, or branches change, faster than they can be followed. */
const STEPS_MAX = 100;

/** What a search sees at once, without a read. */
export interface Memory extends Counted {
  readonly get: (id: EntityId) => Snapshot | undefined;
  readonly ageMs: (seen: Moment) => number;
}

/** A node that was named by a branch, a link or a split. */
interface Node {
  readonly id: EntityId;
  readonly incarnation: Id64;
  readonly level: number;
  /** Where the positions end for which this is the way. */
  readonly end: UpperBound;
}

/** What the search is at. Those of the search to the left go together with `Search.left`. */
export type Phase =
  /** The root, from memory if it may; the branches of an incarnation are forgotten before. */
  | { readonly kind: 'root'; readonly isAnew: boolean; readonly forgets?: Id64 | undefined }
  | { readonly kind: 'node'; readonly at: Node }
  /** A branch lacks the page for the position. `overtaken`: it is asked for a hint alone. */
  | { readonly kind: 'page'; readonly branch: Snapshot; readonly isAll: boolean; readonly overtaken?: Snapshot }
  /** The position lies beyond the high of this node, which was split meanwhile. */
  | { readonly kind: 'right'; readonly overtaken: Snapshot }
  /** Rule 15: a node was missing. `isDamage`: unless the root has another incarnation by now. */
  | {
      readonly kind: 'missing';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly isDamage: boolean;
      readonly then: Phase;
    }
  /** Rule 28: the leaf sought is missing, or `gone`: no longer live. */
  | {
      readonly kind: 'left';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly gone: Snapshot | undefined;
    }
  /** A leaf's entry below the bound is sought in this branch; undefined: in the root. */
  | { readonly kind: 'entry'; readonly id: EntityId | undefined }
  | { readonly kind: 'start'; readonly entry: RoutingEntry }
  /** Along the links from `live`, past retired leaves, to `at`. */
  | { readonly kind: 'links'; readonly live: Snapshot; readonly at: Snapshot }
  /** A link led to nothing: has the live leaf another one by now? */
  | { readonly kind: 'again'; readonly live: Snapshot; readonly missing: Id64 }
  | { readonly kind: 'owner'; readonly found: FoundLeft };

/** The end of a search to the left. Both were read after it began. */
export interface FoundLeft {
  /** A live leaf: it owns the position, unless `retired` does, or stands before it. */
  readonly live: Snapshot;
  /** A retired leaf, to which links lead from `live`, directly or by retired leaves alone. */
  readonly retired: Snapshot | undefined;
}

interface LeftSearch {
  readonly incarnation: Id64;
  /** The content of the leaf that is gone lies in a leaf that begins below this. */
  bound: Position;
  /** The entry that led astray. */
  readonly astray: Child | undefined;
  /** Leaves to start from that were tried, and nodes that were passed since. */
  tries: number;
  steps: number;
  hasMissedBranch: boolean;
  hasMissedFirst: boolean;
}

/** The whole state of one search. */
export interface Search {
  readonly position: Position;
  /** The level of the node that is sought: 0 for a leaf. */
  readonly level: number;
  /**
   * When it ends: at the root; at the node's name; with a look at the node itself; or with the
   * search to the left, whose writer stops at the first retired leaf.
   */
  readonly until: 'root' | 'named' | 'seen' | 'left';
  phase: Phase;
  /** The answer to the last look, until it is taken. */
  reply: { readonly node: Snapshot | undefined } | undefined;
  restarts: number;
  hasMissed: boolean;
  /** Searches to the left that ended before the owner. */
  leftSearches: number;
  left: LeftSearch | undefined;
  /** By level: the low of the rightmost node that sent it on to the right. */
  readonly passed: (Position | undefined)[];
  /** What the parents are to be told; whoever carries the search out takes it from here. */
  readonly hints: EntryRepair[];
}

/** What to read of a node: what the search is for, all, all intact, or these slots. */
export type Look = 'sought' | 'whole' | 'intact' | readonly number[];

export type TreeStep =
  | {
      readonly kind: 'look';
      readonly id: EntityId;
      readonly what: Look;
      /** The branches of this incarnation are to be forgotten before. */
      readonly forgets?: Id64 | undefined;
      /** If it fails, the search goes on as if the node was missing. */
      readonly isHint?: boolean;
    }
  | { readonly kind: 'named'; readonly id: EntityId; readonly end: UpperBound }
  | { readonly kind: 'found'; readonly node: Snapshot }
  /** Undefined: the table was created again, or, for now, the way is not there. */
  | { readonly kind: 'left'; readonly found: FoundLeft | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

const ROOT: Phase = { kind: 'root', isAnew: false };
const ENTRY: Phase = { kind: 'entry', id: undefined };
const NO_SLOTS: readonly number[] = [];

/** `phase`: where it begins; by default at the root in memory. */
export function newSearch(
  { position, level, until }: Pick<Search, 'position' | 'level' | 'until'>,
  phase: Phase = ROOT,
): Search {
  return {
    position,
    level,
    until,
    phase,
    reply: undefined,
    restarts: 0,
    hasMissed: false,
    leftSearches: 0,
    left: undefined,
    passed: [],
    hints: [],
  };
}

/** From the left, past every cache (rule 28): a search for vacuum. */
export function newSearchFromTheLeft(incarnation: Id64, position: Position): Search {
  const search = newSearch({ position, level: 0, until: 'left' }, ENTRY);
  search.left = newLeftSearch(incarnation, position, undefined);
  return search;
}

/** Begins at the root anew, without the branches that led to `node`. If that has grown, it is right. */
export function afterAstray({ id, header }: Snapshot, level: number, table: string): Phase {
  const hasGrown = id === rootId(table) && header.state === 'live' && header.level > level;
  return hasGrown ? ROOT : { kind: 'root', isAnew: true, forgets: header.incarnation };
}

/** Begins at the root after a node was missing (rule 15). */
export function afterMiss(id: EntityId, incarnation: Id64, isDamage: boolean, then: Phase = ROOT): Phase {
  return { kind: 'missing', id, incarnation, isDamage, then };
}

/** The answer to the look that was asked for; undefined: the node is missing. */
export function shown(search: Search, node: Snapshot | undefined): void {
  search.reply = { node };
}

/** What is needed next, or the end. A look is answered by `shown` before this is asked again. */
export function nextTreeStep(search: Search, memory: Memory): TreeStep {
  try {
    for (;;) {
      const step = proceed(search, search.phase, memory);
      if (step !== undefined) return step;
    }
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** Undefined: it is in another phase by now. */
function proceed(search: Search, phase: Phase, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  search.reply = undefined;
  switch (phase.kind) {
    case 'root':
      return atRoot(search, phase, reply, memory);
    case 'node':
      return atNode(search, phase.at, reply, memory);
    case 'page':
      return atPage(search, phase, reply, memory);
    case 'right':
      return goRight(search, phase.overtaken, memory);
    case 'missing':
      return lookAfterMiss(search, phase, reply, memory);
    case 'left':
      return goLeft(search, phase, memory);
    case 'entry':
      return atEntry(search, leftOf(search), phase.id, reply, memory);
    case 'start':
      return atStart(search, leftOf(search), phase.entry, reply, memory);
    case 'links':
      return alongLinks(search, leftOf(search), phase, reply, memory);
    case 'again':
      return lookAgain(search, leftOf(search), phase, reply, memory);
    case 'owner':
      return atOwner(search, phase.found, reply, memory);
    default:
      return phase satisfies never;
  }
}

type Reply = Search['reply'];

function look(id: EntityId, what: Look): TreeStep {
  return { kind: 'look', id, what };
}

function atRoot(
  search: Search,
  { isAnew, forgets }: Extract<Phase, { kind: 'root' }>,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  const id = rootId(memory.table);
  const known = reply === undefined && !isAnew ? memory.get(id) : reply?.node;
  if (reply === undefined && known?.header.state !== 'live') return { kind: 'look', id, what: 'whole', forgets };
  return fromRoot(search, liveRoot(known, memory), reply !== undefined, memory);
}

function liveRoot(root: Snapshot | undefined, { table }: Memory): Snapshot {
  if (root?.header.state !== 'live') throw tableNotFound(table);
  return root;
}

/** The root owns every position; its own level tells whether it is what is sought. */
function fromRoot(search: Search, root: Snapshot, isWhole: boolean, memory: Memory): TreeStep | undefined {
  const { level: sought, until } = search;
  const { id, header } = root;
  if (until === 'root') return { kind: 'found', node: root };
  if (header.level < sought) throw new RangeError(`the tree has no level ${sought}`);
  if (header.level > sought) return down(search, root, isWhole, memory);
  search.phase = { kind: 'node', at: { id, incarnation: header.incarnation, level: sought, end: undefined } };
  return undefined;
}

/** To the child of a branch that owns the position. */
function down(search: Search, branch: Snapshot, isWhole: boolean, { table }: Memory): undefined {
  if (!isWhole && pageToChild(branch, search.position)?.content.isKnown !== true) {
    search.phase = { kind: 'page', branch, isAll: false };
    return;
  }
  const { child, end } = childFor(branch, search.position, table);
  const { incarnation, level } = branch.header;
  goTo(search, { id: nodeId(table, incarnation, child), incarnation, level: level - 1, end });
}

function goTo(search: Search, at: Node): undefined {
  search.phase = { kind: 'node', at };
}

function atNode(search: Search, at: Node, reply: Reply, memory: Memory): TreeStep | undefined {
  const isSought = at.level === search.level;
  if (isSought && search.until === 'named') return { kind: 'named', id: at.id, end: at.end };
  const known = reply === undefined && !isSought ? memory.get(at.id) : reply?.node;
  if (reply === undefined && known === undefined) return look(at.id, isSought ? 'sought' : 'whole');
  return met(search, at, known, reply !== undefined, memory);
}

/** Of a branch, those pages are read too that changed: other positions need them soon. */
function atPage(
  search: Search,
  { branch, isAll, overtaken }: Extract<Phase, { kind: 'page' }>,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  const { id, header } = branch;
  const { position } = search;
  const ref = pageToChild(branch, position);
  if (reply === undefined) {
    const slots = header.pages.filter((page) => page === ref || !isKnown(page)).map(({ slot }) => slot);
    const what = isAll || ref === undefined ? 'whole' : slots;
    return { kind: 'look', id, what, isHint: overtaken !== undefined };
  }
  const { node } = reply;
  // The page has another slot by now.
  if (node !== undefined && !isAll && !hasPage(node, position)) {
    search.phase = { kind: 'page', branch, isAll: true, overtaken };
    return undefined;
  }
  if (overtaken !== undefined) return byHints(search, overtaken, node, node !== undefined, memory);
  if (id === rootId(memory.table)) return fromRoot(search, liveRoot(node, memory), true, memory);
  const { incarnation, level } = header;
  return met(search, { id, incarnation, level, end: header.high }, node, true, memory);
}

/** Whether the branch has the page for `position`, or does not own it and needs none. */
function hasPage(branch: Snapshot, position: Position): boolean {
  return !owns(branch, position) || pageToChild(branch, position)?.content.isKnown === true;
}

function owns({ header: { low, high } }: Snapshot, position: Position): boolean {
  return within(position, low, high);
}

/** A node was looked at. `isRead`: by a read, which brought what a branch needs. */
function met(
  search: Search,
  at: Node,
  node: Snapshot | undefined,
  isRead: boolean,
  memory: Memory,
): TreeStep | undefined {
  const { id, incarnation, level } = at;
  const isRoot = id === rootId(memory.table);
  const found = node === undefined ? 'gone' : locate(node.header, search.position, level);
  if (node !== undefined && found === 'here') {
    if (level === search.level) return { kind: 'found', node };
    return down(search, node, isRead, memory);
  }
  if (node !== undefined && found === 'right') search.phase = { kind: 'right', overtaken: node };
  else if (found === 'gone' && level === 0 && !isRoot) search.phase = { kind: 'left', id, incarnation, gone: node };
  else {
    restart(search, id, memory);
    search.phase =
      node === undefined ? afterMiss(id, incarnation, search.hasMissed) : afterAstray(node, level, memory.table);
    search.hasMissed ||= node === undefined;
  }
  return undefined;
}

function restart(search: Search, container: EntityId, { table }: Memory): void {
  search.restarts += 1;
  if (search.restarts > RESTARTS_MAX)
    throw new StoreError('corrupt', 'no container owns the position of the key', { table, container });
}

function lookAfterMiss(
  search: Search,
  { id, incarnation, isDamage, then }: Extract<Phase, { kind: 'missing' }>,
  reply: Reply,
  { table }: Memory,
): TreeStep | undefined {
  if (reply === undefined) return { kind: 'look', id: rootId(table), what: 'whole', forgets: incarnation };
  const header = reply.node?.header;
  const where = { table, container: id };
  if (header === undefined)
    throw new StoreError('corrupt', 'the root of a table that has containers is missing', where);
  if (header.state !== 'live') throw tableNotFound(table);
  if (isDamage && header.incarnation === incarnation)
    throw new StoreError('corrupt', 'a container that the table links to does not exist', where);
  search.phase = then;
  return undefined;
}

/**
 * To the node that its last split names, else its parent's child, else the right neighbour; one
 * read at most. From a node that was passed before, links alone lead on (rule 12).
 */
function goRight(search: Search, overtaken: Snapshot, memory: Memory): TreeStep | undefined {
  const { position, passed } = search;
  const { header, seen } = overtaken;
  const { incarnation, level, low } = header;
  count(memory, 'rightWalks');
  const before = passed[level];
  if (before !== undefined && compareBytes(low, before) <= 0) return toNeighbour(search, overtaken, memory);
  passed[level] = low;
  const parent = branchInMemory(memory, position, level + 1);
  if (parent?.header.incarnation !== incarnation) return byHints(search, overtaken, undefined, false, memory);
  const isNamed = partFor(header, position) !== undefined;
  const isOld = isNamed ? memory.ageMs(parent.seen) > PARENT_AGE_MS : parent.seen.tick < seen.tick;
  if (!isOld) return byHints(search, overtaken, parent, false, memory);
  search.phase = { kind: 'page', branch: parent, isAll: false, overtaken };
  return undefined;
}

/** `isFresh`: the parent was read for this. */
function byHints(
  search: Search,
  overtaken: Snapshot,
  parent: Snapshot | undefined,
  isFresh: boolean,
  memory: Memory,
): undefined {
  const { position, hints } = search;
  const { header } = overtaken;
  const { container, incarnation, level, low, high, right } = header;
  const entry = parent && childInMemory(parent, position, memory);
  if (entry !== undefined && compareBytes(entry.low, low) > 0) {
    const known = memory.get(nodeId(memory.table, incarnation, entry.child));
    const isAstray = entry.child === container || (known !== undefined && compareBytes(known.header.low, low) <= 0);
    if (!isAstray) return toSibling(search, overtaken, entry.child, memory);
    const owner = compareBytes(high!, entry.low) <= 0 ? right! : container;
    if (owner !== entry.child)
      hints.push({ level: level + 1, incarnation, separator: entry.low, child: owner, instead: entry.child });
  }
  const part = partFor(header, position);
  if (part === undefined) return toNeighbour(search, overtaken, memory);
  if (isFresh)
    hints.push({ level: level + 1, incarnation, separator: part.low, child: part.container, instead: undefined });
  return toSibling(search, overtaken, part.container, memory);
}

/** The right neighbour. The parent is told of it. */
function toNeighbour(search: Search, overtaken: Snapshot, memory: Memory): undefined {
  const { incarnation, level, high, right } = overtaken.header;
  search.hints.push({ level: level + 1, incarnation, separator: high!, child: right!, instead: undefined });
  return toSibling(search, overtaken, right!, memory);
}

/** Which other positions belong there is not known. */
function toSibling(search: Search, { header }: Snapshot, container: Id64, { table }: Memory): undefined {
  const { incarnation, level } = header;
  return goTo(search, { id: nodeId(table, incarnation, container), incarnation, level, end: search.position });
}

function newLeftSearch(incarnation: Id64, bound: Position, astray: Child | undefined): LeftSearch {
  return { incarnation, bound, astray, tries: 0, steps: 0, hasMissedBranch: false, hasMissedFirst: false };
}

function leftOf({ left }: Search): LeftSearch {
  if (left === undefined) throw new Error('no search to the left has begun');
  return left;
}

/** An entry that led to the leaf is set to the live leaf that owns its separator (rule 29). */
function goLeft(
  search: Search,
  { id, incarnation, gone }: Extract<Phase, { kind: 'left' }>,
  memory: Memory,
): undefined {
  const { position } = search;
  const parent = branchInMemory(memory, position, 1);
  const entry = parent && childInMemory(parent, position, memory);
  const astray = entry !== undefined && nodeId(memory.table, incarnation, entry.child) === id ? entry : undefined;
  count(memory, 'leftSearches');
  search.left = newLeftSearch(incarnation, gone?.header.low ?? astray?.low ?? position, astray);
  search.phase = gone === undefined ? afterMiss(id, incarnation, false, ENTRY) : ENTRY;
}

/**
 * The last leaf but those skipped named below the bound by fresh branches, or the first. After
 * merges an entry may begin to the right of its leaf.
 */
function atEntry(
  search: Search,
  left: LeftSearch,
  id: EntityId | undefined,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  const { table } = memory;
  const { bound, incarnation, tries } = left;
  if (reply === undefined) return id === undefined ? look(rootId(table), 'whole') : look(id, 'intact');
  const branch = id === undefined ? liveRoot(reply.node, memory) : reply.node;
  left.steps += 1;
  if (left.steps > STEPS_MAX)
    throw new StoreError('unavailable', 'the branches change faster than they can be read: try again', { table });
  if (branch === undefined) {
    search.phase = afterMiss(id!, incarnation, left.hasMissedBranch, ENTRY);
    left.hasMissedBranch = true;
    return undefined;
  }
  const { header } = branch;
  if (header.incarnation !== incarnation) return endLeft(search, left, undefined, memory);
  if (header.level === 0) return startFrom(search, { low: header.low, child: header.container });
  const isLeftOfBound = header.high !== undefined && compareBytes(header.high, bound) < 0;
  const isLast = !isLeftOfBound && header.level === 1;
  // As many entries may lead astray as leaves were merged at once.
  const skipped = isLast && tries > 0 ? 2 ** (tries - 1) : 0;
  const entry = childBelow(branch, bound, table, skipped) ?? childFor(branch, header.low, table);
  if (isLast) return startFrom(search, entry);
  search.phase = { kind: 'entry', id: nodeId(table, incarnation, isLeftOfBound ? header.right! : entry.child) };
  return undefined;
}

function startFrom(search: Search, entry: RoutingEntry): undefined {
  search.phase = { kind: 'start', entry };
}

function atStart(
  search: Search,
  left: LeftSearch,
  entry: RoutingEntry,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  const { incarnation } = left;
  const id = nodeId(memory.table, incarnation, entry.child);
  if (reply === undefined) return look(id, NO_SLOTS);
  const leaf = reply.node;
  left.steps = 0;
  if (leaf?.header.state === 'live') {
    search.phase = { kind: 'links', live: leaf, at: leaf };
    return undefined;
  }
  const isFirst = entry.low.length === 0;
  if (!isFirst) left.bound = leaf?.header.low ?? entry.low;
  startAgain(search, left, memory);
  if (isFirst) {
    search.phase = afterMiss(id, incarnation, left.hasMissedFirst, ENTRY);
    left.hasMissedFirst = true;
  }
  return undefined;
}

/** From a leaf further left. The leftmost leaf always lives, so the search ends. */
function startAgain(search: Search, left: LeftSearch, { table }: Memory): undefined {
  left.tries += 1;
  left.steps = 0;
  if (left.tries >= STEPS_MAX)
    throw new StoreError('unavailable', 'containers merge faster than the key can be found: try again', { table });
  search.phase = ENTRY;
}

function alongLinks(
  search: Search,
  left: LeftSearch,
  { live, at }: Extract<Phase, { kind: 'links' }>,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  const { high, right } = at.header;
  if (beforeBound(search.position, high) || right === undefined)
    return endLeft(search, left, { live, retired: at === live ? undefined : at }, memory);
  if (reply === undefined) return look(nodeId(memory.table, left.incarnation, right), NO_SLOTS);
  const next = reply.node;
  if (next?.header.state === 'live') search.phase = { kind: 'links', live: next, at: next };
  else if (next?.header.state === 'retired') {
    if (search.until === 'left') return endLeft(search, left, { live, retired: next }, memory);
    search.phase = { kind: 'links', live, at: next };
  } else search.phase = { kind: 'again', live, missing: right };
  return undefined;
}

/** The live leaf must have another link by now; a retired leaf's is absorbed after it. */
function lookAgain(
  search: Search,
  left: LeftSearch,
  { live, missing }: Extract<Phase, { kind: 'again' }>,
  reply: Reply,
  memory: Memory,
): TreeStep | undefined {
  if (reply === undefined) return look(live.id, NO_SLOTS);
  const again = reply.node;
  left.steps += 1;
  if (again?.header.state !== 'live' || left.steps >= STEPS_MAX) return startAgain(search, left, memory);
  if (again.header.right !== live.header.right) {
    search.phase = { kind: 'links', live: again, at: again };
    return undefined;
  }
  startAgain(search, left, memory);
  // Damage, unless the table is being dropped: the root tells (rule 15).
  const { incarnation } = left;
  search.phase = afterMiss(nodeId(memory.table, incarnation, missing), incarnation, true, ENTRY);
  return undefined;
}

function endLeft(
  search: Search,
  { astray }: LeftSearch,
  found: FoundLeft | undefined,
  memory: Memory,
): TreeStep | undefined {
  search.left = undefined;
  if (astray !== undefined && found !== undefined && found.retired === undefined) {
    const { container, incarnation, low } = found.live.header;
    const ownsSeparator = compareBytes(low, astray.low) <= 0;
    const [separator, instead] = ownsSeparator ? [astray.low, astray.child] : [low, undefined];
    search.hints.push({ level: 1, incarnation, separator, child: container, instead });
  }
  if (search.until === 'left') return { kind: 'left', found };
  if (found === undefined) restart(search, rootId(memory.table), memory);
  search.phase = found === undefined ? ROOT : { kind: 'owner', found };
  return undefined;
}

/** A retired leaf's content counts until it is absorbed. */
function atOwner(search: Search, { live, retired }: FoundLeft, reply: Reply, { table }: Memory): TreeStep | undefined {
  if (reply === undefined) return look((retired ?? live).id, 'sought');
  const { node } = reply;
  const isThere = node?.header.state === 'live' || node?.header.state === 'retired';
  if (node !== undefined && isThere && owns(node, search.position)) return { kind: 'found', node };
  search.leftSearches += 1;
  if (search.leftSearches >= STEPS_MAX)
    throw new StoreError('unavailable', 'containers merge faster than the key can be read: try again', { table });
  const { incarnation } = live.header;
  return goTo(search, { id: live.id, incarnation, level: 0, end: search.position });
}

/** The branch of `level` in memory, by those above it; its own fences are not looked at. */
function branchInMemory(memory: Memory, position: Position, level: number): Snapshot | undefined {
  let branch = memory.get(rootId(memory.table));
  if (branch?.header.state !== 'live') return undefined;
  for (let at = branch.header.level; branch?.header.level === at && at >= level; at -= 1) {
    if (at === level) return branch;
    const child = childInMemory(branch, position, memory);
    branch = child && memory.get(nodeId(memory.table, branch.header.incarnation, child.child));
  }
  return undefined;
}

/** The entry for a position; undefined if the branch does not own it, or lacks the page. */
function childInMemory(branch: Snapshot, position: Position, { table }: Memory): Child | undefined {
  if (!owns(branch, position) || pageToChild(branch, position)?.content.isKnown !== true) return undefined;
  return childFor(branch, position, table);
}

/** Where the leaf that owns `position` ends, as the branches in memory have it. */
export function endInMemory(memory: Memory, position: Position): UpperBound {
  const branch = branchInMemory(memory, position, 1);
  return branch && childInMemory(branch, position, memory)?.end;
}

/** The lows of up to `countMax` leaves after `low`, by one branch in memory: for reading ahead. */
export function lowsInMemory(memory: Memory, low: Position, countMax: number): Position[] {
  const branch = branchInMemory(memory, low, 1);
  return branch === undefined ? [] : separatorsAfter(branch, low, countMax, memory.table);
}
