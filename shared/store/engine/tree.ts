// Finds a position's container. Branches are hints, cached and unchecked. The node reached decides:
// by its fences the search ends, walks right, or restarts from a root read anew (rules 12 and 15).
import { childFor, locate } from '../container/branch.ts';
import { byPosition } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { nodeId } from '../format/ids.ts';
import { beforeBound, type Position, within } from '../format/position.ts';
import { count } from '../io/counters.ts';
import { Branches, type Reach } from './branches.ts';
import { type FoundLeft, LeftSearch, MERGES_FOLLOWED_MAX } from './left-search.ts';
import { Root } from './root.ts';
import type { Route, Traveller, TreeContext } from './route.ts';
import { RightWalk } from './right-walk.ts';

/** After more restarts the tree is damaged, or changes faster than it can be read. */
const RESTARTS_MAX = 20;

export interface Routable {
  readonly position: Position;
  /** The level of the node that is sought: 0 for a leaf. */
  readonly level: number;
}

/** How a visit looks at a node: from memory or by a read; undefined if it is missing. */
export type Look = (id: EntityId) => Promise<Snapshot | undefined>;

export class Tree {
  readonly #context: TreeContext;
  readonly root: Root;
  readonly branches: Branches;
  readonly #rightWalk: RightWalk;
  readonly #leftSearch: LeftSearch;

  constructor(context: TreeContext) {
    this.#context = context;
    this.root = new Root(context);
    this.branches = new Branches(context);
    this.#rightWalk = new RightWalk(context, this.branches);
    this.#leftSearch = new LeftSearch(context, this.root);
  }

  /** The owner of `position` as the branches know it; undefined without such a level. */
  async route(position: Position, level: number): Promise<Route | undefined> {
    const { table } = this.#context;
    const root = await this.root.get();
    if (root.header.level < level) return undefined;
    if (root.header.level === level) return { id: root.id, incarnation: root.header.incarnation };
    for (let branch = root; ;) {
      // A root may have grown between two looks: the level of the one read counts.
      const known = await this.branches.withPage(branch, position);
      // A root that was recreated meanwhile may have fewer levels.
      const { incarnation } = known.header;
      if (incarnation !== branch.header.incarnation) return this.route(position, level);
      const below = known.header.level - 1;
      const child = { id: nodeId(table, incarnation, childFor(known, position, table).child), incarnation };
      if (below === level) return child;
      const next = await this.#seek(child, position, below, (id) => this.branches.look(id, position));
      if (next === undefined) return this.route(position, level);
      branch = next;
    }
  }

  /** As `route` sees it; `fail` hears of the others. One look a node if branches are in memory. */
  async group<T extends Routable>(
    items: readonly T[],
    fail: (item: T, error: unknown) => void,
  ): Promise<Map<EntityId, T[]>> {
    const { turns } = this.#context;
    const groups = new Map<EntityId, T[]>();
    const sorted = items.length > 1 ? await turns.sort(items, byPosition) : items;
    for (let first = 0; first < sorted.length;) {
      if (first > 0 && turns.isLong) await turns.pause();
      const { position, level } = sorted[first]!;
      let end = first + 1;
      try {
        const known = this.branches.route(position, level);
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

  /**
   * The leaf that owns `position`, as `look` sees it. Walks right, searches to the left, restarts,
   * repairs. It may be retired: its content counts until it is absorbed (rule 28).
   */
  async find(position: Position, look: Look): Promise<Snapshot> {
    const found = await this.#seek(await this.#routeTo(position, 0), position, 0, look);
    // Every tree has leaves.
    return found!;
  }

  /** As `find`, for a level; undefined if the table was created again, without it. */
  async #seek(from: Route, position: Position, level: number, look: Look): Promise<Snapshot | undefined> {
    const { table } = this.#context;
    let at = from;
    let missed = false;
    let searches = 0;
    const traveller: Traveller = { position, passed: undefined };
    for (let restarts = 0; restarts < RESTARTS_MAX;) {
      const snapshot = await look(at.id);
      const found = snapshot === undefined ? 'gone' : locate(snapshot.header, position, level);
      if (snapshot !== undefined && found === 'here') return snapshot;
      if (snapshot !== undefined && found === 'right') {
        at = await this.beyond(snapshot, traveller);
        continue;
      }
      if (found === 'gone' && level === 0 && at.id !== this.root.id) {
        const left = await this.searchLeft({ ...at, gone: snapshot }, position, false);
        const owner = left === undefined ? undefined : await look((left.retired ?? left.live).id);
        if (owner !== undefined && holds(owner, position)) return owner;
        if (left !== undefined) {
          at = { ...at, id: left.live.id };
          searches += 1;
          if (searches < MERGES_FOLLOWED_MAX) continue;
          throw new StoreError('unavailable', 'containers merge faster than the key can be read: try again', { table });
        }
      } else if (snapshot === undefined) {
        await this.root.afterMiss(at, missed);
        missed = true;
      } else await this.root.restart(snapshot, level);
      restarts += 1;
      const again = await this.route(position, level);
      if (again === undefined) return undefined;
      at = again;
    }
    throw new StoreError('corrupt', 'no container owns the position of the key', { table, container: at.id });
  }

  /**
   * As `LeftSearch.find`, for the owner of a position in place of which a leaf was met that is
   * missing, or is not live (`gone`). An entry that led there is set to the live leaf that owns its
   * separator (rule 29).
   */
  async searchLeft(
    lost: Route & { readonly gone: Snapshot | undefined },
    position: Position,
    isWriter: boolean,
  ): Promise<FoundLeft | undefined> {
    const { repair, table } = this.#context;
    const { id, incarnation, gone } = lost;
    const parent = this.branches.remembered(position, 1);
    const entry = parent && this.branches.child(parent, position);
    const isAstray = entry !== undefined && nodeId(table, incarnation, entry.child) === id;
    count(this.#context, 'leftSearches');
    if (gone === undefined) await this.root.afterMiss(lost, false);
    const low = gone?.header.low ?? (isAstray ? entry.low : position);
    const found = await this.#leftSearch.find({ incarnation, low }, position, isWriter);
    if (found === undefined || found.retired !== undefined || !isAstray) return found;
    const { container, low: liveLow } = found.live.header;
    const ownsSeparator = compareBytes(liveLow, entry.low) <= 0;
    const [separator, instead] = ownsSeparator ? [entry.low, entry.child] : [liveLow, undefined];
    repair({ level: 1, incarnation, separator, child: container, instead });
    return found;
  }

  /** The owner of a position, past every cache: for vacuum. As `LeftSearch.find`. */
  leafFromTheLeft(incarnation: Id64, position: Position): Promise<FoundLeft | undefined> {
    return this.#leftSearch.find({ incarnation, low: position }, position, true);
  }

  /** As `RightWalk.beyond`. */
  beyond(overtaken: Snapshot, traveller: Traveller): Promise<Route> {
    return this.#rightWalk.beyond(overtaken, traveller);
  }
}

/** Whether the leaf has the records of a position: a retired one does until absorbed. */
function holds({ header: { state, low, high } }: Snapshot, position: Position): boolean {
  return (state === 'live' || state === 'retired') && within(position, low, high);
}

function isIn({ end }: Reach, item: Routable, level: number): boolean {
  return item.level === level && beforeBound(item.position, end);
}
