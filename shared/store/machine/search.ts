// The state of a search for the node that owns a position, as plain data; `nextTreeStep` says which
// node it must look at next. Branches are hints, cached and unchecked, so the node that is reached
// decides by its fences: the search ends there, goes down, right or to the left, or starts over.
import { type Child, childFor, pageToChild, type RoutingEntry, separatorsAfter } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import { type Position, type UpperBound, within } from '../format/position.ts';
import type { Counted } from '../system/tracing.ts';
import type { EntryRepair } from './leaf.ts';

/**
 * A search that restarts more often has met damage, or a tree that changes faster than it reads.
 */
const RESTARTS_MAX = 20;

/** What a search can see without a read. */
export interface Memory extends Counted {
  readonly get: (id: EntityId) => Snapshot | undefined;
  readonly ageMs: (seen: Moment) => number;
}

/** A node as a branch, a link or a split names it. */
export interface Node {
  readonly id: EntityId;
  readonly incarnation: Id64;
  readonly level: number;
  /** The bound below which positions lead to this node. */
  readonly end: UpperBound;
}

/** Where a search stands. */
export type Phase =
  /**
   * At the root, from memory unless `isAnew`; `forgets`: an incarnation whose branches go first.
   */
  | { readonly kind: 'root'; readonly isAnew: boolean; readonly forgets?: Id64 | undefined }
  | { readonly kind: 'node'; readonly at: Node }
  /** The page of a branch must be read. `overtaken`: only for a hint, past this split node. */
  | {
      readonly kind: 'page';
      readonly branch: Snapshot;
      readonly isAll: boolean;
      readonly overtaken: Snapshot | undefined;
    }
  /** The position lies beyond the high of this node, which has been split. */
  | { readonly kind: 'right'; readonly overtaken: Snapshot }
  /** Rule 15: a node was missing. `isDamage`: it is damage if the root has the same incarnation. */
  | {
      readonly kind: 'missing';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly isDamage: boolean;
      readonly next: Phase;
    }
  /** Rule 28: the leaf is missing, or no longer live as `gone` shows. */
  | {
      readonly kind: 'left';
      readonly id: EntityId;
      readonly incarnation: Id64;
      readonly gone: Snapshot | undefined;
    }
  /** Seeks the entry of a leaf below the bound, in this branch; `id` undefined: in the root. */
  | { readonly kind: 'entry'; readonly left: LeftSearch; readonly id: EntityId | undefined }
  | { readonly kind: 'start'; readonly left: LeftSearch; readonly entry: RoutingEntry }
  /** Followed the links from `live`, past retired leaves, to `at`. */
  | { readonly kind: 'links'; readonly left: LeftSearch; readonly live: Snapshot; readonly at: Snapshot }
  /** A link led to a missing leaf, so the live leaf is read again for another link. */
  | { readonly kind: 'again'; readonly left: LeftSearch; readonly live: Snapshot; readonly missing: Id64 }
  | { readonly kind: 'owner'; readonly found: FoundLeft };

export type PhaseOf<Kind extends Phase['kind']> = Extract<Phase, { readonly kind: Kind }>;

/** What a search to the left found. Both leaves were read after it began. */
export interface FoundLeft {
  /** The live leaf that owns the position, or that leads to `retired`. */
  readonly live: Snapshot;
  /** A retired leaf to which links lead from `live`, directly or through retired leaves alone. */
  readonly retired: Snapshot | undefined;
}

export interface LeftSearch {
  readonly incarnation: Id64;
  /** The lost leaf's content lies in a leaf that begins below this. */
  readonly bound: Position;
  /** The routing entry that led to the lost leaf. */
  readonly astray: Child | undefined;
  /** How many leaves the search has started from. */
  readonly tries: number;
}

/** The whole state of one search. */
export class Search {
  readonly position: Position;
  /** The level of the node that is sought: 0 for a leaf. */
  readonly level: number;
  /**
   * When the search ends: at the root; once the node's name is known; once the node was looked at;
   * or after a search to the left, at the first retired leaf.
   */
  readonly until: 'root' | 'named' | 'seen' | 'left';
  phase: Phase;
  /** The answer to the last look, until the search has used it. */
  reply: { readonly node: Snapshot | undefined } | undefined;
  restarts = 0;
  /** A branch, or the leftmost leaf, was missing; a second time this is damage. */
  hasMissed = false;
  /** How many looks the searches to the left have taken. */
  leftLooks = 0;
  /** By level: the low of the rightmost node from which the search went on to the right. */
  readonly passedLows: (Position | undefined)[] = [];
  /** What parents should be told; the runner takes it from here. */
  readonly entryRepairs: EntryRepair[] = [];

  /** `phase`: where the search begins; by default at the root in memory. */
  constructor({ position, level, until }: Pick<Search, 'position' | 'level' | 'until'>, phase: Phase = ROOT) {
    this.position = position;
    this.level = level;
    this.until = until;
    this.phase = phase;
  }
}

/**
 * What to read of a node: what the search is for, the whole, the whole undamaged, or these slots.
 */
export type Look = 'sought' | 'whole' | 'intact' | readonly number[];

export type TreeStep =
  | {
      readonly kind: 'look';
      readonly id: EntityId;
      readonly what: Look;
      /** An incarnation whose branches must be forgotten first. */
      readonly forgets?: Id64 | undefined;
      /** If the read fails, the search goes on as if the node were missing. */
      readonly mayFail?: boolean;
    }
  | { readonly kind: 'named'; readonly id: EntityId; readonly end: UpperBound }
  | { readonly kind: 'found'; readonly node: Snapshot }
  /** Undefined if the table was created anew. */
  | { readonly kind: 'left'; readonly found: FoundLeft | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

export const ROOT: Phase = { kind: 'root', isAnew: false };

/** A search from the left that reads past every cache (rule 28), as vacuum needs it. */
export function newSearchFromTheLeft(incarnation: Id64, position: Position): Search {
  const left = { incarnation, bound: position, astray: undefined, tries: 0 };
  return new Search({ position, level: 0, until: 'left' }, entryPhase(left));
}

/** Begins at the root without the branches that led astray; at the known root if that has grown. */
export function afterAstray({ id, header }: Snapshot, level: number, table: string): Phase {
  const hasGrown = id === rootId(table) && header.state === 'live' && header.level > level;
  return hasGrown ? ROOT : { kind: 'root', isAnew: true, forgets: header.incarnation };
}

/** Reads the root because a node was missing (rule 15), then goes on with `next`. */
export function afterMiss(id: EntityId, incarnation: Id64, isDamage: boolean, next: Phase = ROOT): Phase {
  return { kind: 'missing', id, incarnation, isDamage, next };
}

/** Takes the answer to the last look; undefined: the node is missing. */
export function shown(search: Search, node: Snapshot | undefined): void {
  search.reply = { node };
}

export function entryPhase(left: LeftSearch): Phase {
  return { kind: 'entry', left, id: undefined };
}

/** As `afterMiss`; the second node that is missing counts as damage. */
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

/** The branch of `level` that the branches above it name, if all are in memory. */
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

/** The entry for a position; undefined if the branch does not own it, or its page is not known. */
export function childInMemory(branch: Snapshot, position: Position, { table }: Memory): Child | undefined {
  if (!owns(branch, position) || pageToChild(branch, position)?.content.isKnown !== true) return undefined;
  return childFor(branch, position, table);
}

/** Where the leaf that owns `position` ends, according to the branches in memory. */
export function endInMemory(memory: Memory, position: Position): UpperBound {
  const branch = branchInMemory(memory, position, 1);
  return branch && childInMemory(branch, position, memory)?.end;
}

/** The lows of up to `countMax` leaves after `low`, by one branch in memory; for reading ahead. */
export function lowsInMemory(memory: Memory, low: Position, countMax: number): Position[] {
  const branch = branchInMemory(memory, low, 1);
  return branch === undefined ? [] : separatorsAfter(branch, low, countMax, memory.table);
}
