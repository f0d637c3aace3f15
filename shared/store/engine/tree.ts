// Finding the container that owns a position. Branches are hints, cached and used unchecked. The node that is reached decides: by its fences the
// search ends, walks right, or begins again from a root that is read anew (rules 12 and 15).
import { childFor, childrenOf, locate } from '../container/branch.ts';
import { byPosition } from '../container/change.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { incarnationPrefix, nodeId, rootId } from '../format/ids.ts';
import { beforeBound, type Position, type UpperBound, within } from '../format/position.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counters } from '../io/counters.ts';
import type { Reader } from '../io/reader.ts';
import type { Turns } from '../io/turns.ts';

/** After this many restarts the tree is taken for damaged, or for changing faster than it can be read. */
const RESTARTS_MAX = 20;

/** Tells the parent level that `child` exists and begins at `low`: a link showed it. Returns at once (rule 11). */
export type Repair = (parentLevel: number, incarnation: Id64, low: Position, child: Id64) => void;

export interface TreeContext {
  readonly table: string;
  readonly reader: Reader;
  readonly cache: ContainerCache;
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
      const whole = await this.#known(branch);
      // A root that was recreated meanwhile may have fewer levels.
      if (whole.header.incarnation !== branch.header.incarnation) return this.route(position, level);
      const below = whole.header.level - 1;
      const id = nodeId(
        this.#context.table,
        whole.header.incarnation,
        childFor(whole, position, this.#context.table).child,
      );
      if (below === level) return { id, incarnation: whole.header.incarnation };
      const next = await this.#seek({ id, incarnation: whole.header.incarnation }, position, below, (node) =>
        this.#lookAtBranch(node),
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
    const { cache, table } = this.#context;
    let node: Snapshot | undefined = cache.get(this.#root);
    if (node?.header.state !== 'live' || node.header.level < level) return undefined;
    if (node.header.level === level) return { id: node.id, end: undefined };
    for (let below = node.header.level - 1; node?.header.level === below + 1; below -= 1) {
      const { header }: Snapshot = node;
      if (!isWhole(header) || !within(position, header.low, header.high)) return undefined;
      const { child, end } = childFor(node, position, table);
      const id = nodeId(table, header.incarnation, child);
      if (below === level) return { id, end };
      node = cache.get(id);
    }
    return undefined;
  }

  /** The lows of up to `count` leaves after the one that begins at `low`, as far as one cached branch knows: a hint for reading ahead. */
  lowsAfter(low: Position, count: number): Position[] {
    const { cache, table } = this.#context;
    let branch = cache.get(this.#root);
    while (branch !== undefined && branch.header.level > 1 && isWhole(branch.header)) {
      branch = cache.get(nodeId(table, branch.header.incarnation, childFor(branch, low, table).child));
    }
    if (branch?.header.level !== 1 || !isWhole(branch.header)) return [];
    const lows = childrenOf(branch, table).map((child) => child.low);
    if (branch.header.high !== undefined) lows.push(branch.header.high);
    return lows.filter((next) => compareBytes(next, low) > 0).slice(0, count);
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
          at = this.walkRight(snapshot);
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

  async #lookAtBranch(id: EntityId): Promise<Snapshot | undefined> {
    const cached = this.#context.cache.get(id);
    return cached !== undefined && isWhole(cached.header) ? cached : this.#context.reader.readWhole(id);
  }

  /** The same branch with all its pages. A root that grew may be known by its header alone. */
  async #known(branch: Snapshot): Promise<Snapshot> {
    if (isWhole(branch.header)) return branch;
    const whole = await this.#context.reader.readWhole(branch.id);
    if (whole === undefined || whole.header.state !== 'live') throw tableNotFound(this.#context.table);
    return whole;
  }
}

function isIn({ end }: Reach, item: Routable, level: number): boolean {
  return item.level === level && beforeBound(item.position, end);
}
