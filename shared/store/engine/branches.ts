// One table's branches: the hints of those in memory, and reads of what memory lacks. The node that
// they lead to decides.
import { type Child, childFor, pageToChild, separatorsAfter } from '../container/branch.ts';
import { isKnown, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import { tableNotFound } from '../contract/errors.ts';
import { nodeId, rootId } from '../format/ids.ts';
import { type Position, type UpperBound, within } from '../format/position.ts';
import type { TreeContext } from './route.ts';

/** A node, and the end of the positions that its branch gives it. */
export interface Reach {
  readonly id: EntityId;
  readonly end: UpperBound;
}

export class Branches {
  readonly #context: TreeContext;
  readonly #root: EntityId;

  constructor(context: TreeContext) {
    this.#context = context;
    this.#root = rootId(context.table);
  }

  /** The node that the branches in memory name; undefined if that takes a read, or a walk. */
  route(position: Position, level: number): Reach | undefined {
    const root = this.#context.cache.get(this.#root);
    if (root?.header.state === 'live' && root.header.level === level) return { id: root.id, end: undefined };
    const branch = this.remembered(position, level + 1);
    const child = branch === undefined ? undefined : this.child(branch, position);
    if (branch === undefined || child === undefined) return undefined;
    return { id: nodeId(this.#context.table, branch.header.incarnation, child.child), end: child.end };
  }

  /** The branch of `level` in memory, by those above it; its own fences are not looked at. */
  remembered(position: Position, level: number): Snapshot | undefined {
    const { cache, table } = this.#context;
    let branch = cache.get(this.#root);
    if (branch?.header.state !== 'live') return undefined;
    for (let at = branch.header.level; branch?.header.level === at && at >= level; at -= 1) {
      if (at === level) return branch;
      const child = this.child(branch, position);
      branch = child && cache.get(nodeId(table, branch.header.incarnation, child.child));
    }
    return undefined;
  }

  /** The entry for a position; undefined if the branch does not own it, or lacks the page. */
  child(branch: Snapshot, position: Position): Child | undefined {
    if (!owns(branch, position) || pageToChild(branch, position)?.content.isKnown !== true) return undefined;
    return childFor(branch, position, this.#context.table);
  }

  /** The lows of up to `count` leaves after `low`, by one branch in memory: for reading ahead. */
  lowsAfter(low: Position, count: number): Position[] {
    const branch = this.remembered(low, 1);
    return branch === undefined ? [] : separatorsAfter(branch, low, count, this.#context.table);
  }

  /** The branch with the page for `position`, from memory if it can; undefined if missing. */
  async look(id: EntityId, position: Position): Promise<Snapshot | undefined> {
    const { cache, reader } = this.#context;
    const cached = cache.get(id);
    if (cached === undefined) return reader.readWhole(id);
    return isPageKnown(cached, position) ? cached : this.readFor(cached, position);
  }

  /** The same branch with the page that names the child for `position`. */
  async withPage(branch: Snapshot, position: Position): Promise<Snapshot> {
    if (isPageKnown(branch, position)) return branch;
    const known = await this.readFor(branch, position);
    if (known === undefined || known.header.state !== 'live') throw tableNotFound(this.#context.table);
    return known;
  }

  /**
   * Reads the page, and those that changed since memory had them: other positions need them soon.
   * All of them if that page has another slot by now.
   */
  async readFor(branch: Snapshot, position: Position): Promise<Snapshot | undefined> {
    const { reader } = this.#context;
    const page = pageToChild(branch, position);
    const pages = page && branch.header.pages.filter((one) => one === page || !isKnown(one));
    const slots = pages?.map(({ slot }) => slot);
    const read = slots === undefined ? undefined : await reader.readPages(branch.id, slots);
    return read !== undefined && isPageKnown(read, position) ? read : reader.readWhole(branch.id);
  }
}

function owns({ header: { low, high } }: Snapshot, position: Position): boolean {
  return within(position, low, high);
}

/** Whether the branch has the page for `position`, or does not own it and needs none. */
function isPageKnown(branch: Snapshot, position: Position): boolean {
  return !owns(branch, position) || pageToChild(branch, position)?.content.isKnown === true;
}
