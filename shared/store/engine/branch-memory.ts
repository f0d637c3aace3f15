// The hints of the branches in memory. The node that they lead to decides.
import { type Child, childFor, pageToChild, separatorsAfter } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { nodeId, rootId } from '../format/ids.ts';
import { type Position, type UpperBound, within } from '../format/position.ts';
import type { ContainerCache } from '../io/container-cache.ts';

/** A node, and the end of the positions that its branch gives it. */
export interface Reach {
  readonly id: EntityId;
  readonly end: UpperBound;
}

/** One table's branches, as the cache has them. No I/O. */
export class BranchMemory {
  readonly #table: string;
  readonly #cache: ContainerCache;
  readonly #root: EntityId;

  constructor(table: string, cache: ContainerCache) {
    this.#table = table;
    this.#cache = cache;
    this.#root = rootId(table);
  }

  /** The node that the branches name; undefined if that takes a read, or a walk. */
  route(position: Position, level: number): Reach | undefined {
    const root = this.#cache.get(this.#root);
    if (root?.header.state === 'live' && root.header.level === level) return { id: root.id, end: undefined };
    const branch = this.branch(position, level + 1);
    const child = branch === undefined ? undefined : this.child(branch, position);
    if (branch === undefined || child === undefined) return undefined;
    return { id: nodeId(this.#table, branch.header.incarnation, child.child), end: child.end };
  }

  /** The branch of `level` by the branches above it; its own fences are not looked at. */
  branch(position: Position, level: number): Snapshot | undefined {
    let branch = this.#cache.get(this.#root);
    if (branch?.header.state !== 'live') return undefined;
    for (let at = branch.header.level; branch?.header.level === at && at >= level; at -= 1) {
      if (at === level) return branch;
      const child = this.child(branch, position);
      branch = child && this.#cache.get(nodeId(this.#table, branch.header.incarnation, child.child));
    }
    return undefined;
  }

  /** The entry for a position; undefined if the branch does not own it, or lacks the page. */
  child(branch: Snapshot, position: Position): Child | undefined {
    const { low, high } = branch.header;
    if (!within(position, low, high) || pageToChild(branch, position)?.content.isKnown !== true) return undefined;
    return childFor(branch, position, this.#table);
  }

  /** The lows of up to `count` leaves after `low`, by one branch: for reading ahead. */
  lowsAfter(low: Position, count: number): Position[] {
    const branch = this.branch(low, 1);
    return branch === undefined ? [] : separatorsAfter(branch, low, count, this.#table);
  }
}
