// Right from a node that was split since the branches were read: by a parent's hint, or links.
import type { Child } from '../container/branch.ts';
import { partFor } from '../container/last-split.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { nodeId } from '../format/ids.ts';
import type { Position } from '../format/position.ts';
import { count } from '../io/counters.ts';
import type { Branches } from './branches.ts';
import type { Route, Traveller, TreeContext } from './route.ts';

/** If a node names the nodes of its split, its parent is read anew no more often. */
const PARENT_AGE_MS = 1_000;

/** A parent's hints for going on from a node that was overtaken. */
interface ChildBeyond {
  readonly child: Id64 | undefined;
  readonly astray: Child | undefined;
  /** It was read for this. */
  readonly isParentFresh: boolean;
}

const NO_CHILD: ChildBeyond = { child: undefined, astray: undefined, isParentFresh: false };

export class RightWalk {
  readonly #context: TreeContext;
  readonly #branches: Branches;

  constructor(context: TreeContext, branches: Branches) {
    this.#context = context;
    this.#branches = branches;
  }

  /**
   * The node that its last split names, else its parent's child, else the right neighbour; one read
   * at most. From a node that was passed before, links alone lead on.
   */
  beyond(overtaken: Snapshot, traveller: Traveller): Promise<Route> {
    const { position, passed } = traveller;
    const { low } = overtaken.header;
    count(this.#context, 'rightWalks');
    if (passed !== undefined && compareBytes(low, passed) <= 0) return Promise.resolve(this.#walkRight(overtaken));
    traveller.passed = low;
    return this.#byHints(overtaken, position);
  }

  async #byHints(overtaken: Snapshot, position: Position): Promise<Route> {
    const { repair, table } = this.#context;
    const { incarnation, level, high, right } = overtaken.header;
    const part = partFor(overtaken.header, position);
    const { child, astray, isParentFresh } = await this.#childBeyond(overtaken, position, part !== undefined);
    if (child !== undefined) return { id: nodeId(table, incarnation, child), incarnation };
    if (astray !== undefined) {
      const owner = compareBytes(high!, astray.low) <= 0 ? right! : overtaken.header.container;
      const entry = { level: level + 1, incarnation, separator: astray.low, child: owner, instead: astray.child };
      if (owner !== astray.child) repair(entry);
    }
    if (part === undefined) return this.#walkRight(overtaken);
    const { low: separator, container } = part;
    if (isParentFresh) repair({ level: level + 1, incarnation, separator, child: container, instead: undefined });
    return { id: nodeId(table, incarnation, container), incarnation };
  }

  /**
   * The parent's child for `position`, read anew if older than the node, or than a second if
   * `isAnotherWay`. `astray`: an entry for the node or one to its left.
   */
  async #childBeyond({ header, seen }: Snapshot, position: Position, isAnotherWay: boolean): Promise<ChildBeyond> {
    const parent = this.#branches.remembered(position, header.level + 1);
    if (parent?.header.incarnation !== header.incarnation) return NO_CHILD;
    const isOld = isAnotherWay ? this.#context.clock.ageMs(parent.seen) > PARENT_AGE_MS : parent.seen.tick < seen.tick;
    try {
      const fresh = isOld ? await this.#branches.readFor(parent, position) : parent;
      const child = fresh && this.#branches.child(fresh, position);
      if (child === undefined || compareBytes(child.low, header.low) <= 0) return { ...NO_CHILD, isParentFresh: isOld };
      const known = this.#context.cache.get(nodeId(this.#context.table, header.incarnation, child.child));
      const isItself = child.child === header.container;
      const isAstray = isItself || (known !== undefined && compareBytes(known.header.low, header.low) <= 0);
      return isAstray
        ? { child: undefined, astray: child, isParentFresh: isOld }
        : { child: child.child, astray: undefined, isParentFresh: isOld };
    } catch {
      return NO_CHILD;
    }
  }

  /** The right neighbour. Has the parent told of it. */
  #walkRight({ header }: Snapshot): Route {
    const { repair, table } = this.#context;
    const { incarnation, level, high, right } = header;
    repair({ level: level + 1, incarnation, separator: high!, child: right!, instead: undefined });
    return { id: nodeId(table, incarnation, right!), incarnation };
  }
}
