// The search to the left (rule 28): a leaf that is not live lost its content to its left. A leaf
// strictly below is looked for in branches read anew, and links lead on, past every cache. The
// leftmost leaf always lives, so the search ends.
import { childBelow, childFor, type RoutingEntry } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { nodeId } from '../format/ids.ts';
import { beforeBound, type Position } from '../format/position.ts';
import type { Root } from './root.ts';
import type { TreeContext } from './route.ts';

/** Steps back after which leaves merge faster than they can be followed. */
export const MERGES_FOLLOWED_MAX = 100;

/** A leaf that was sought and is not live. */
export interface Lost {
  readonly incarnation: Id64;
  /** Its low; the separator that named it, or the position, if it is missing. */
  readonly low: Position;
}

/** The end of the search. Both were read after it began. */
export interface FoundLeft {
  /** A live leaf: it owns the position, unless `retired` does, or stands before it. */
  readonly live: Snapshot;
  /** A retired leaf, to which links lead from `live`, directly or by retired leaves alone. */
  readonly retired: Snapshot | undefined;
}

export class LeftSearch {
  readonly #context: TreeContext;
  readonly #root: Root;

  constructor(context: TreeContext, root: Root) {
    this.#context = context;
    this.#root = root;
  }

  /**
   * Rule 28. A writer stops at the first retired leaf, a reader at the owner. Undefined if the
   * table was created again. Four reads as a rule. Throws `not_found` if the table is gone,
   * `corrupt` if a live leaf leads to a missing one, `unavailable` if leaves merge on and on.
   */
  async find({ incarnation, low }: Lost, position: Position, isWriter: boolean): Promise<FoundLeft | undefined> {
    const { table } = this.#context;
    let bound = low;
    let hasMissedLeftmost = false;
    for (let steps = 0; steps < MERGES_FOLLOWED_MAX; steps += 1) {
      // As many entries may lead astray as leaves were merged at once.
      const start = await this.#entryBelow(bound, incarnation, steps === 0 ? 0 : 2 ** (steps - 1));
      if (start === undefined) return undefined;
      const leaf = await this.#read(incarnation, start.child);
      if (leaf?.header.state === 'live') {
        const found = await this.#walk(leaf, position, isWriter);
        if (found !== undefined) return found;
      } else if (start.low.length === 0) {
        await this.#root.afterMiss({ id: nodeId(table, incarnation, start.child), incarnation }, hasMissedLeftmost);
        hasMissedLeftmost = true;
      } else bound = leaf?.header.low ?? start.low;
    }
    throw new StoreError('unavailable', 'containers merge faster than the key can be found: try again', { table });
  }

  /**
   * The last leaf but `skipped` named below the bound by fresh branches, or the first. After merges
   * an entry may begin to the right of its leaf.
   */
  async #entryBelow(bound: Position, incarnation: Id64, skipped: number): Promise<RoutingEntry | undefined> {
    const { reader, table } = this.#context;
    let branch = await this.#root.get(true);
    let hasMissed = false;
    for (let steps = 0; steps < MERGES_FOLLOWED_MAX; steps += 1) {
      const { header } = branch;
      if (header.incarnation !== incarnation) return undefined;
      if (header.level === 0) return { low: header.low, child: header.container };
      const isLeftOfBound = header.high !== undefined && compareBytes(header.high, bound) < 0;
      const isLast = !isLeftOfBound && header.level === 1;
      const child = childBelow(branch, bound, table, isLast ? skipped : 0) ?? childFor(branch, header.low, table);
      if (isLast) return child;
      const id = nodeId(table, incarnation, isLeftOfBound ? header.right! : child.child);
      const next = await reader.readIntact(id);
      if (next === undefined) {
        await this.#root.afterMiss({ id, incarnation }, hasMissed);
        hasMissed = true;
      }
      branch = next ?? (await this.#root.get(true));
    }
    throw new StoreError('unavailable', 'the branches change faster than they can be read: try again', { table });
  }

  /** Undefined if the live leaf retired meanwhile. */
  async #walk(start: Snapshot, position: Position, isWriter: boolean): Promise<FoundLeft | undefined> {
    const { table } = this.#context;
    const { incarnation } = start.header;
    let live = start;
    let at = start;
    for (let steps = 0; steps < MERGES_FOLLOWED_MAX;) {
      const { high, right } = at.header;
      if (beforeBound(position, high) || right === undefined) return { live, retired: at === live ? undefined : at };
      const next = await this.#read(incarnation, right);
      if (next?.header.state === 'live') live = at = next;
      else if (next?.header.state === 'retired') {
        at = next;
        if (isWriter) return { live, retired: next };
      } else {
        // The live leaf must have another link by now; a retired leaf's is absorbed after it.
        const again = await this.#read(incarnation, live.header.container);
        if (again?.header.state !== 'live') return undefined;
        if (again.header.right === live.header.right) {
          // Damage, unless the table is being dropped: the root tells (rule 15).
          await this.#root.afterMiss({ id: nodeId(table, incarnation, right), incarnation }, true);
          return undefined;
        }
        live = at = again;
        steps += 1;
      }
    }
    return undefined;
  }

  #read(incarnation: Id64, container: Id64): Promise<Snapshot | undefined> {
    const { reader, table } = this.#context;
    return reader.readPages(nodeId(table, incarnation, container), []);
  }
}
