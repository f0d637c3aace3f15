// Ways to a node, and what is told to the branches about them.
import type { EntityId } from '../contract/driver.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';

/** A node, and the incarnation of the root under which it was reached. */
export interface Route {
  readonly id: EntityId;
  readonly incarnation: Id64;
}

/** What goes from node to node until it meets the one that owns its position. */
export interface Traveller {
  readonly position: Position;
  /** The low of the rightmost node that sent it on to the right; undefined: none did. */
  passed: Position | undefined;
}

/** A routing entry as it is to be: links showed that `child` begins at its separator, or to the left of it. */
export interface EntryRepair {
  /** Of the branch. */
  readonly level: number;
  readonly incarnation: Id64;
  readonly separator: Position;
  readonly child: Id64;
  /** The child that the entry still names, which led astray (rule 29); undefined: it is added where there is none (rule 11). */
  readonly instead: Id64 | undefined;
}

/** Tells the parent level. Returns at once. */
export type Repair = (entry: EntryRepair) => void;
