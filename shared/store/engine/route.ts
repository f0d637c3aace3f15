// Ways to a node, and what is told to the branches about them.
import type { Change } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import type { Repair } from '../machine/leaf.ts';
import type { Clock } from '../io/clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counters } from '../io/counters.ts';
import type { Reader } from '../io/reads.ts';
import type { Turns } from '../io/turns.ts';

/** A node, and the incarnation of the root under which it was reached. */
export interface Route {
  readonly id: EntityId;
  readonly incarnation: Id64;
}

/** A thing that goes from node to node until one owns its position. */
export interface Traveller {
  readonly position: Position;
  /** The low of the rightmost node that sent it on to the right; undefined: none did. */
  passed: Position | undefined;
}

/** The means to find ways in one table. */
export interface TreeContext {
  readonly table: string;
  readonly reader: Reader;
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly turns: Turns;
  readonly repair: Repair;
}

/** A queue's ways for changes of others, and its word that it ran empty. No waiting. */
export interface Routes {
  /** Puts changes into another container's queue. */
  enqueue(id: EntityId, changes: readonly Change[]): void;
  /** Sends on changes that lie beyond the high of the node `overtaken`. */
  routeBeyond(overtaken: Snapshot, changes: readonly Change[]): void;
  /** Routes changes anew that the fences of the node `astray` turned away. */
  routeAstray(astray: Snapshot, changes: readonly Change[]): void;
  /** Routes changes anew whose branch is missing. */
  routeAfterMiss(id: EntityId, changes: readonly Change[]): void;
  /** Sends changes to the leaf with the content of one that is missing or not live. */
  routeLeft(id: EntityId, gone: Snapshot | undefined, changes: readonly Change[]): void;
  /** The queue has no work: the next change begins another. */
  queueIsIdle(id: EntityId): void;
}
