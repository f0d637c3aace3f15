// Finding the container that owns a position. Branches are hints, cached and used unchecked. The node that is reached decides: by its fences the
// search ends, walks right, or begins again from a root that is read anew (rules 12 and 15).
import { type Child, childFor, locate, pageToChild, separatorsAfter } from '../container/branch.ts';
import { byPosition } from '../container/change.ts';
import { partFor } from '../container/last-split.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { incarnationPrefix, nodeId, rootId } from '../format/ids.ts';
import { beforeBound, type Position, type UpperBound, within } from '../format/position.ts';
import type { Clock } from '../io/clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counters } from '../io/counters.ts';
import type { Reader } from '../io/reader.ts';
import type { Turns } from '../io/turns.ts';

/** After this many restarts the tree is taken for damaged, or for changing faster than it can be read. */
const RESTARTS_MAX = 20;

/** While a node itself names the parts of its split, its parent is read anew no more often than this: it will name them soon. */
const PARENT_AGE_MS = 1_000;

/** Tells the parent level that `child` exists and begins at `low`: a link showed it. Returns at once (rule 11). */
export type Repair = (parentLevel: number, incarnation: Id64, low: Position, child: Id64) => void;

export interface TreeContext {
  readonly table: string;
  readonly reader: Reader;
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly turns: Turns;
  readonly repair: Repair;
}

/** A node, and the incarnation of the root under which it was reached. */
export interface Route {
  readonly id: EntityId;
  readonly incarnation: Id64;
}

/** A node, and the end of the positions that its branch gives it. */
interface Reach {
  readonly id: EntityId;
  readonly end: UpperBound;
}

export interface Routable {
  readonly position: Position;
  /** The level of the node that is sought: 0 for a leaf. */
  readonly level: number;
}

/** How a visit looks at a node: from memory or by a read; undefined if it is missing. */
export type Look = (id: EntityId) => Promise<Snapshot | undefined>;

export class Tree {
  readonly #context: TreeContext;
  readonly #root: EntityId;

  constructor(context: TreeContext) {
    this.#context = context;
    this.#root = rootId(context.table);
  }

  /** The root, from memory unless `anew`. Throws `not_found` if the table does not exist. */
  async root(anew = false): Promise<Snapshot> {
    const { cache, reader, table } = this.#context;
    const cached = anew ? undefined : cache.get(this.#root);
    if (cached?.header.state === 'live') return cached;
    const root = await reader.readWhole(this.#root);
    if (root === undefined || root.header.state !== 'live') throw tableNotFound(table);
    return root;
  }

  /** The node of `level` that owns `position` as far as the branches know; undefined if the tree has no such level. No I/O when they are cached. */
  async route(position: Position, level: number): Promise<Route | undefined> {
    const root = await this.root();
    const { incarnation, level: rootLevel } = root.header;
    if (rootLevel < level) return undefined;
    if (rootLevel === level) return { id: root.id, incarnation };
    for (let branch = root; ;) {
      // A root may have grown between two looks: what counts is the level of the one whose pages are read.
      const known = await this.#known(branch, position);
      // A root that was recreated meanwhile may have fewer levels.
      if (known.header.incarnation !== branch.header.incarnation) return this.route(position, level);
      const below = known.header.level - 1;
      const id = nodeId(
        this.#context.table,
        known.header.incarnation,
        childFor(known, position, this.#context.table).child,
      );
      if (below === level) return { id, incarnation: known.header.incarnation };
      const next = await this.#seek({ id, incarnation: known.header.incarnation }, position, below, (node) =>
        this.#lookAtBranch(node, position),
      );
      if (next === undefined) return this.route(position, level);
      branch = next;
    }
  }

  /**
   * Groups what has a position and a level by the node that owns it, as `route` sees it; `fail` hears of what could not be routed.
   * With the branches in memory that is one look a node, not one an item.
   */
  async group<T extends Routable>(
    items: readonly T[],
    fail: (item: T, error: unknown) => void,
  ): Promise<Map<EntityId, T[]>> {
    const { turns } = this.#context;
    const groups = new Map<EntityId, T[]>();
    const sorted = await turns.sort(items, byPosition);
    for (let first = 0; first < sorted.length;) {
      if (first > 0 && turns.isLong) await turns.pause();
      const { position, level } = sorted[first]!;
      let end = first + 1;
      try {
        const known = this.#routeInMemory(position, level);
        if (known !== undefined) while (end < sorted.length && isIn(known, sorted[end]!, level)) end += 1;
        const { id } = known ?? (await this.#routeTo(position, level));
        const group = groups.get(id);
        if (group === undefined) groups.set(id, sorted.slice(first, end));
        else for (let index = first; index < end; index += 1) group.push(sorted[index]!);
      } catch (error) {
        fail(sorted[first]!, error);
      }
      first = end;
    }
    return groups;
  }

  async #routeTo(position: Position, level: number): Promise<Route> {
    const route = await this.route(position, level);
    if (route === undefined) throw new RangeError(`the tree has no level ${level}`);
    return route;
  }

  /** As `route`, from memory alone: undefined if that takes a read, or a walk. */
  #routeInMemory(position: Position, level: number): Reach | undefined {
    const root = this.#context.cache.get(this.#root);
    if (root?.header.state === 'live' && root.header.level === level) return { id: root.id, end: undefined };
    const branch = this.#branchInMemory(position, level + 1);
    const child = branch === undefined ? undefined : this.#childInMemory(branch, position);
    if (branch === undefined || child === undefined) return undefined;
    return { id: nodeId(this.#context.table, branch.header.incarnation, child.child), end: child.end };
  }

  /** The branch of `level` that the branches above it name for `position`, if all of them are in memory; its own fences are not looked at. */
  #branchInMemory(position: Position, level: number): Snapshot | undefined {
    const { cache, table } = this.#context;
    let branch = cache.get(this.#root);
    if (branch?.header.state !== 'live') return undefined;
    for (let at = branch.header.level; branch?.header.level === at && at >= level; at -= 1) {
      if (at === level) return branch;
      const child = this.#childInMemory(branch, position);
      branch = child && cache.get(nodeId(table, branch.header.incarnation, child.child));
    }
    return undefined;
  }

  /** Undefined if the branch does not own the position, or the page that tells is not known. */
  #childInMemory(branch: Snapshot, position: Position): Child | undefined {
    const { low, high } = branch.header;
    if (!within(position, low, high) || pageToChild(branch, position)?.content.isKnown !== true) return undefined;
    return childFor(branch, position, this.#context.table);
  }

  /** The lows of up to `count` leaves after the one that begins at `low`, as far as one cached branch knows: a hint for reading ahead. */
  lowsAfter(low: Position, count: number): Position[] {
    const branch = this.#branchInMemory(low, 1);
    return branch === undefined ? [] : separatorsAfter(branch, low, count, this.#context.table);
  }

  /** The node of `level` that owns `position`, as `look` sees it. Walks right, restarts, repairs. Throws if the tree has no such level. */
  async find(position: Position, level: number, look: Look): Promise<Snapshot> {
    return this.visit(await this.#routeTo(position, level), position, level, look);
  }

  /** As `find`, from a node that a route or link gave. */
  async visit(from: Route, position: Position, level: number, look: Look): Promise<Snapshot> {
    const found = await this.#seek(from, position, level, look);
    if (found === undefined) throw new RangeError(`the tree has no level ${level}`);
    return found;
  }

  /** As `visit`; undefined if the tree has no such level any more: it was created again, with fewer. */
  async #seek(from: Route, position: Position, level: number, look: Look): Promise<Snapshot | undefined> {
    const { table } = this.#context;
    let at = from;
    let missed = false;
    for (let restarts = 0; restarts < RESTARTS_MAX;) {
      const snapshot = await look(at.id);
      if (snapshot === undefined) {
        await this.rootAfterMiss(at, missed);
        missed = true;
      } else {
        const found = locate(snapshot.header, position, level);
        if (found === 'here') return snapshot;
        if (found === 'right') {
          at = await this.beyond(snapshot, position);
          continue;
        }
        await this.restart(snapshot, level);
      }
      restarts += 1;
      const again = await this.route(position, level);
      if (again === undefined) return undefined;
      at = again;
    }
    throw new StoreError('corrupt', 'no container owns the position of the key', { table, container: at.id });
  }

  /**
   * Where to go on from a node beyond whose high `position` lies: to the part of its last split that it names itself, else to the child that its
   * parent names by now, else to its right neighbour. One read, or none if the parent was read since the node was, or a moment ago.
   */
  async beyond(overtaken: Snapshot, position: Position): Promise<Route> {
    const { table } = this.#context;
    const { incarnation, level } = overtaken.header;
    const part = partFor(overtaken.header, position);
    const { child, isParentFresh } = await this.#childBeyond(overtaken, position, part !== undefined);
    if (child !== undefined) return { id: nodeId(table, incarnation, child), incarnation };
    if (part === undefined) return this.walkRight(overtaken);
    if (isParentFresh) this.#context.repair(level + 1, incarnation, part.low, part.container);
    return { id: nodeId(table, incarnation, part.container), incarnation };
  }

  /**
   * The child for `position` to the right of `overtaken` that its parent names, read anew if it is older than the node's snapshot, or, where there
   * `isAnotherWay`, than a second. The parent is a hint: whatever is wrong with it, links lead on.
   */
  async #childBeyond({ header, seen }: Snapshot, position: Position, isAnotherWay: boolean) {
    const parent = this.#branchInMemory(position, header.level + 1);
    if (parent?.header.incarnation !== header.incarnation) return { child: undefined, isParentFresh: false };
    const isOld = isAnotherWay ? this.#context.clock.ageMs(parent.seen) > PARENT_AGE_MS : parent.seen.tick < seen.tick;
    try {
      const fresh = isOld ? await this.#readFor(parent, position) : parent;
      const child = fresh && this.#childInMemory(fresh, position);
      const isRight = child !== undefined && compareBytes(child.low, header.low) > 0;
      return { child: isRight ? child.child : undefined, isParentFresh: isOld };
    } catch {
      return { child: undefined, isParentFresh: false };
    }
  }

  /** The right neighbour of a node beyond whose high something was sought. Counts the walk, and has its parent told of the neighbour. */
  walkRight({ header }: Snapshot): Route {
    const { counters, repair, table } = this.#context;
    const { incarnation, level, high, right } = header;
    counters.rightWalks += 1;
    repair(level + 1, incarnation, high!, right!);
    return { id: nodeId(table, incarnation, right!), incarnation };
  }

  /** Forgets what led astray, and reads the root. A root that has only grown is itself the news: nothing is forgotten then. */
  async restart(astray: Snapshot, level: number): Promise<void> {
    const { cache, table } = this.#context;
    const hasGrown = astray.id === this.#root && astray.header.state === 'live' && astray.header.level > level;
    if (hasGrown) return;
    cache.forgetBranches(incarnationPrefix(table, astray.header.incarnation), this.#root);
    await this.root(true);
  }

  /**
   * Reads the root anew after a node was missing. Throws `not_found` if the table is gone, and `corrupt` if the node was missed before and the root
   * still has its incarnation (rule 15).
   */
  async rootAfterMiss(missing: Route, missedBefore: boolean): Promise<void> {
    const { cache, reader, table } = this.#context;
    cache.forgetBranches(incarnationPrefix(table, missing.incarnation), this.#root);
    const root = await reader.readWhole(this.#root);
    const where = { table, container: missing.id };
    if (root === undefined)
      throw new StoreError('corrupt', 'the root of a table that has containers is missing', where);
    if (root.header.state !== 'live') throw tableNotFound(table);
    if (missedBefore && root.header.incarnation === missing.incarnation) {
      throw new StoreError('corrupt', 'a container that the table links to does not exist', where);
    }
  }

  async #lookAtBranch(id: EntityId, position: Position): Promise<Snapshot | undefined> {
    const cached = this.#context.cache.get(id);
    if (cached === undefined) return this.#context.reader.readWhole(id);
    return isPageKnown(cached, position) ? cached : this.#readFor(cached, position);
  }

  /** The same branch with the page that names the child for `position`. */
  async #known(branch: Snapshot, position: Position): Promise<Snapshot> {
    if (isPageKnown(branch, position)) return branch;
    const known = await this.#readFor(branch, position);
    if (known === undefined || known.header.state !== 'live') throw tableNotFound(this.#context.table);
    return known;
  }

  /** Reads the one page, as others may have written to many since; and all of them if that page has another slot by now. */
  async #readFor(branch: Snapshot, position: Position): Promise<Snapshot | undefined> {
    const { reader } = this.#context;
    const page = pageToChild(branch, position);
    const read = page === undefined ? undefined : await reader.readPages(branch.id, [page.slot]);
    return read !== undefined && isPageKnown(read, position) ? read : reader.readWhole(branch.id);
  }
}

/** Whether the branch has the page that names the child for `position`, or, where it does not own the position, needs none. */
function isPageKnown(branch: Snapshot, position: Position): boolean {
  const { low, high } = branch.header;
  return !within(position, low, high) || pageToChild(branch, position)?.content.isKnown === true;
}

function isIn({ end }: Reach, item: Routable, level: number): boolean {
  return item.level === level && beforeBound(item.position, end);
}
