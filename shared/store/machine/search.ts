// The search for the node that owns a position, as plain data; `nextTreeStep` asks for its looks.
// Branches are hints, cached and unchecked: the node that is reached decides. By its fences the
// search ends, goes down, walks right, searches to the left, or begins again at a root read anew.
import { type Child, childFor, pageToChild, type RoutingEntry, separatorsAfter } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import { type Position, type UpperBound, within } from '../format/position.ts';
import type { Counted } from '../io/counters.ts';
import type { EntryRepair } from './leaf.ts';

/** After more restarts the tree is damaged, or changes faster than it can be read. */
const RESTARTS_MAX = 20;

/** What a search sees at once, without a read. */
export interface Memory extends Counted {
  readonly get: (id: EntityId) => Snapshot | undefined;
  readonly ageMs: (seen: Moment) => number;
}

/** A node that was named by a branch, a link or a split. */
export interface Node {
  readonly id: EntityId;
  readonly incarnation: Id64;
  readonly level: number;
  /** Where the positions end for which this is the way. */
  readonly end: UpperBound;
}

/** What the search is at. */
export type Phase =
  /** The root, from memory if it may; the branches of an incarnation are forgotten before. */
  | { readonly kind: 'root'; readonly isAnew: boolean; readonly forgets?: Id64 | undefined }
  | { readonly kind: 'node'; readonly at: Node }
  /** A branch lacks the page for the position. `overtaken`: it is asked for a hint alone. */
  | {
      readonly kind: 'page';
      readonly branch: Snapshot;
      readonly isAll: boolean;
      readonly overtaken: Snapshot | undefined;
    }
  /** The position lies beyond the high of this node, which was split meanwhile. */
  | { readonly kind: 'right'; readonly overtaken: Snapshot }
  /** Rule 15: a node was missing. `isDamage`: unless the root has another incarnation by now. */
  | {
      readonly kind: 'missing';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly isDamage: boolean;
      readonly next: Phase;
    }
  /** Rule 28: the leaf sought is missing, or `gone`: no longer live. */
  | {
      readonly kind: 'left';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly gone: Snapshot | undefined;
    }
  /** A leaf's entry below the bound is sought in this branch; undefined: in the root. */
  | { readonly kind: 'entry'; readonly left: LeftSearch; readonly id: EntityId | undefined }
  | { readonly kind: 'start'; readonly left: LeftSearch; readonly entry: RoutingEntry }
  /** Along the links from `live`, past retired leaves, to `at`. */
  | { readonly kind: 'links'; readonly left: LeftSearch; readonly live: Snapshot; readonly at: Snapshot }
  /** A link led to nothing: has the live leaf another one by now? */
  | { readonly kind: 'again'; readonly left: LeftSearch; readonly live: Snapshot; readonly missing: Id64 }
  | { readonly kind: 'owner'; readonly found: FoundLeft };

export type PhaseOf<Kind extends Phase['kind']> = Extract<Phase, { readonly kind: Kind }>;

/** The end of a search to the left. Both were read after it began. */
export interface FoundLeft {
  /** A live leaf: it owns the position, unless `retired` does, or stands before it. */
  readonly live: Snapshot;
  /** A retired leaf, to which links lead from `live`, directly or by retired leaves alone. */
  readonly retired: Snapshot | undefined;
}

export interface LeftSearch {
  readonly incarnation: Id64;
  /** The content of the leaf that is gone lies in a leaf that begins below this. */
  readonly bound: Position;
  /** The entry that led astray. */
  readonly astray: Child | undefined;
  /** Leaves to start from that were tried. */
  readonly tries: number;
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
  /** A branch, or the leftmost leaf, was missing: a second time is damage. */
  hasMissed: boolean;
  /** Looks of searches to the left. */
  leftLooks: number;
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
      readonly mayFail?: boolean;
    }
  | { readonly kind: 'named'; readonly id: EntityId; readonly end: UpperBound }
  | { readonly kind: 'found'; readonly node: Snapshot }
  /** Undefined: the table was created again, or, for now, the way is not there. */
  | { readonly kind: 'left'; readonly found: FoundLeft | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

export const ROOT: Phase = { kind: 'root', isAnew: false };

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
    leftLooks: 0,
    passed: [],
    hints: [],
  };
}

/** From the left, past every cache (rule 28): a search for vacuum. */
export function newSearchFromTheLeft(incarnation: Id64, position: Position): Search {
  const left = { incarnation, bound: position, astray: undefined, tries: 0 };
  return newSearch({ position, level: 0, until: 'left' }, entryPhase(left));
}

/** Begins at the root anew, without the branches that led astray. If it has grown, it is right. */
export function afterAstray({ id, header }: Snapshot, level: number, table: string): Phase {
  const hasGrown = id === rootId(table) && header.state === 'live' && header.level > level;
  return hasGrown ? ROOT : { kind: 'root', isAnew: true, forgets: header.incarnation };
}

/** Begins at the root after a node was missing (rule 15). */
export function afterMiss(id: EntityId, incarnation: Id64, isDamage: boolean, next: Phase = ROOT): Phase {
  return { kind: 'missing', id, incarnation, isDamage, next };
}

/** The answer to the look that was asked for; undefined: the node is missing. */
export function shown(search: Search, node: Snapshot | undefined): void {
  search.reply = { node };
}

export function entryPhase(left: LeftSearch): Phase {
  return { kind: 'entry', left, id: undefined };
}

/** Goes on with `next` once the root was looked at. */
export function miss(search: Search, id: EntityId, incarnation: Id64, next: Phase): undefined {
  search.phase = afterMiss(id, incarnation, search.hasMissed, next);
  search.hasMissed = true;
}

export function look(id: EntityId, what: Look): TreeStep {
  return { kind: 'look', id, what };
}

export function goTo(search: Search, at: Node): undefined {
  search.phase = { kind: 'node', at };
}

export function liveRoot(root: Snapshot | undefined, { table }: Memory): Snapshot {
  if (root?.header.state !== 'live') throw tableNotFound(table);
  return root;
}

export function restart(search: Search, container: EntityId, { table }: Memory): void {
  search.restarts += 1;
  if (search.restarts > RESTARTS_MAX)
    throw new StoreError('corrupt', 'no container owns the position of the key', { table, container });
}

export function owns({ header: { low, high } }: Snapshot, position: Position): boolean {
  return within(position, low, high);
}

/** The branch of `level` in memory, by those above it; its own fences are not looked at. */
export function branchInMemory(memory: Memory, position: Position, level: number): Snapshot | undefined {
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
export function childInMemory(branch: Snapshot, position: Position, { table }: Memory): Child | undefined {
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
