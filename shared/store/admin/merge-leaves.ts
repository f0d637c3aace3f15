// Merging what fell quiet or empty (rule 32): from left to right, a leaf and its right neighbour become one where both were left alone between two looks and
// take less than half a container together. What is dead is dropped first.
import { fitsTogether } from '../container/absorb.ts';
import { deadShare, PURGE_AFTER_MS } from '../container/compaction.ts';
import { pageBytesOf, type Snapshot } from '../container/snapshot.ts';
import { MERGE_SHARE } from '../engine/absorbing.ts';
import { Committer } from '../engine/committer.ts';
import type { Engine } from '../engine/engine.ts';
import type { Position } from '../format/position.ts';
import { type Levels, nextAfter } from './levels.ts';
import { finishPair, retire } from './merge-pair.ts';
import type { Tally } from './tally.ts';

/** A leaf with a larger share of dead records is written anew without them. */
const DEAD_SHARE_MAX = 0.25;
/** So are so many pages that are smaller than this on average, as merges of small leaves leave them. */
const SMALL_PAGES_MAX = 32;
const SMALL_PAGE_BYTES = 1_024;

/** Merges the leaves of one table, once. */
export class LeafMerger {
  readonly #engine: Engine;
  readonly #commitCounts: Map<Snapshot['id'], number>;
  readonly #tally: Tally;

  constructor(engine: Engine, commitCounts: Levels['commitCounts'], tally: Tally) {
    this.#engine = engine;
    this.#commitCounts = commitCounts;
    this.#tally = tally;
  }

  /**
   * Goes along all leaves. The lows of those that are left, in order; undefined if a leaf was missing on the way. Cost: a read of each leaf; a write for one that
   * is purged; three writes and some six reads for one that is merged.
   */
  async run(leftmost: Snapshot['id']): Promise<Position[] | undefined> {
    const lows: Position[] = [];
    let left = await this.#tidied(await this.#engine.reader.readPages(leftmost, []));
    while (left !== undefined) {
      const right: Snapshot | undefined = await this.#tidied(await nextAfter(this.#engine, left, this.#tally));
      if (right === undefined) {
        lows.push(left.header.low);
        return left.header.right === undefined ? lows : undefined;
      }
      const merged: Snapshot | undefined = await this.#merged(left, right);
      if (merged === undefined) lows.push(left.header.low);
      left = merged ?? right;
    }
    return undefined;
  }

  /** The left leaf with the content of both; undefined if they stay two. */
  async #merged(left: Snapshot, right: Snapshot): Promise<Snapshot | undefined> {
    const areLive = left.header.state === 'live' && right.header.state === 'live';
    if (!areLive || !fitsTogether(left, right, MERGE_SHARE, this.#engine.rules)) return undefined;
    const retired = this.#isQuiet(left) && this.#isQuiet(right) ? await retire(this.#engine, right) : undefined;
    if (retired === undefined) {
      this.#tally.busy += 1;
      return undefined;
    }
    const now = await finishPair(this.#engine, left, retired, this.#tally);
    if (now?.header.state !== 'live') return undefined;
    this.#commitCounts.set(now.id, now.header.commitCount);
    return now;
  }

  #isQuiet({ id, header }: Snapshot): boolean {
    return this.#commitCounts.get(id) === header.commitCount;
  }

  /** The leaf without what is dead in it, where that is much. A leaf that was written meanwhile stays as it is. */
  async #tidied(seen: Snapshot | undefined): Promise<Snapshot | undefined> {
    if (seen === undefined || !this.#isQuiet(seen) || seen.header.pages.length === 0) return seen;
    const leaf = await this.#engine.reader.readIntact(seen.id);
    if (leaf === undefined || !this.#isQuiet(leaf) || !this.#isWasteful(leaf)) return leaf;
    const committer = new Committer(leaf.id, this.#engine);
    const now = await committer.commit(leaf, [], { joined: leaf, mustReplace: false, purges: true });
    if (now === undefined || now === leaf || committer.hasLooked) return now;
    this.#commitCounts.set(now.id, now.header.commitCount);
    this.#tally.purged += 1;
    return now;
  }

  #isWasteful(leaf: Snapshot): boolean {
    const { rules, runtime } = this.#engine;
    const { header } = leaf;
    const { length } = header.pages;
    if (length > SMALL_PAGES_MAX && pageBytesOf(header) < length * SMALL_PAGE_BYTES) return true;
    return deadShare(leaf, header, runtime.wallMs() - PURGE_AFTER_MS, rules.table) > DEAD_SHARE_MAX;
  }
}
