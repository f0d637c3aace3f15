// Merging what fell quiet or empty (rule 32): from left to right, a leaf and its right neighbour become one where both were left alone between two looks and
// take less than 0.6 of a container together. What is dead is dropped first.
import { fitsTogether } from '../container/absorb.ts';
import { DEAD_SHARE_MAX, deadShare, PURGE_AFTER_MS } from '../container/compaction.ts';
import { isWhole, peekPage, type Snapshot } from '../container/snapshot.ts';
import { MERGE_SHARE } from '../engine/absorbing.ts';
import { Committer } from '../engine/committer.ts';
import type { Engine } from '../engine/engine.ts';
import type { Position } from '../format/position.ts';
import { type Levels, type Neighbours, nextAfter } from './levels.ts';
import { finishPair, retire, unlessDamaged } from './merge-pair.ts';
import type { Tally } from './tally.ts';

/** Merges of small leaves leave small pages, which fill a page table before they fill a container: smaller ones than this share of a full one are joined. */
const SMALL_PAGE_SHARE = 1 / 3;

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
   * is purged; four writes and one read for one that is merged.
   */
  async run(leftmost: Snapshot['id']): Promise<Position[] | undefined> {
    const lows: Position[] = [];
    const { reader } = this.#engine;
    let left = await this.#tidied(await reader.readUnknown(leftmost));
    // A root that grew meanwhile is no leaf any more.
    while (left?.header.level === 0) {
      const next: Neighbours = await nextAfter(this.#engine, left, this.#tally, (id) => reader.readUnknown(id));
      left = next.left;
      const right: Snapshot | undefined = await this.#tidied(next.right);
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
    if (left.header.state !== 'live' || right.header.state !== 'live') return undefined;
    const { damaged } = this.#tally;
    if (damaged.has(left.id) || damaged.has(right.id)) return undefined;
    const areQuiet = this.#isQuiet(left) && this.#isQuiet(right);
    const room = this.#fits(left, right) || !areQuiet ? left : await this.#evened(left);
    if (room === undefined || !this.#fits(room, right)) return undefined;
    const retired = areQuiet ? await retire(this.#engine, right) : undefined;
    if (retired === undefined) {
      this.#tally.busy += 1;
      return undefined;
    }
    const now = await finishPair(this.#engine, room, retired, this.#tally);
    if (now?.header.state !== 'live') return undefined;
    // What others wrote to it meanwhile shows that it is not quiet.
    if (now.header.commitCount === room.header.commitCount + 1) this.#commitCounts.set(now.id, now.header.commitCount);
    return now;
  }

  #fits(left: Snapshot, right: Snapshot): boolean {
    return fitsTogether(left, right, MERGE_SHARE, this.#engine.rules);
  }

  #isQuiet({ id, header }: Snapshot): boolean {
    return this.#commitCounts.get(id) === header.commitCount;
  }

  /** The leaf without what is dead in it, where that is much. A leaf that was written meanwhile, or is damaged, stays as it is. */
  async #tidied(seen: Snapshot | undefined): Promise<Snapshot | undefined> {
    if (seen?.header.state !== 'live' || !this.#isQuiet(seen) || seen.header.pages.length === 0) return seen;
    const leaf = await unlessDamaged(this.#tally, () => this.#sound(seen));
    if (leaf === 'damaged') return seen;
    const mustPurge = leaf !== undefined && this.#isQuiet(leaf) && this.#holdsDead(leaf);
    return mustPurge ? this.#purged(leaf) : leaf;
  }

  /** The leaf, whole, with all its pages tried: one with a damaged page must not retire, as what cannot be read cannot move. */
  async #sound(seen: Snapshot): Promise<Snapshot | undefined> {
    const leaf = isWhole(seen.header) ? seen : await this.#engine.reader.readIntact(seen.id);
    for (const ref of leaf?.header.pages ?? []) peekPage(leaf!, ref, this.#engine.rules.table);
    return leaf;
  }

  /** The leaf written anew if it takes far fewer pages then. */
  async #evened(leaf: Snapshot): Promise<Snapshot | undefined> {
    const whole = isWhole(leaf.header) ? leaf : await this.#engine.reader.readIntact(leaf.id);
    const mustPurge = whole !== undefined && this.#isQuiet(whole) && this.#isRagged(whole);
    return mustPurge ? this.#purged(whole) : whole;
  }

  /** A leaf that is known whole, written anew; as it is by then if that was not acknowledged. */
  async #purged(whole: Snapshot): Promise<Snapshot | undefined> {
    const committer = new Committer(whole.id, this.#engine);
    const now = await committer.commit(whole, [], 'purge');
    if (now === undefined || now === whole || committer.sender.hasLooked) return now;
    this.#commitCounts.set(now.id, now.header.commitCount);
    this.#tally.purged += 1;
    return now;
  }

  #holdsDead(leaf: Snapshot): boolean {
    const { rules, runtime } = this.#engine;
    return deadShare(leaf, leaf.header, runtime.wallMs() - PURGE_AFTER_MS, rules.table) > DEAD_SHARE_MAX;
  }

  /** Whether the leaf takes far fewer pages when it is written anew. */
  #isRagged(leaf: Snapshot): boolean {
    const { pages, layers } = leaf.header;
    if (layers.length > 1) return true;
    const { pageBytes, table } = this.#engine.rules;
    const bytes = pages.reduce((sum, ref) => sum + peekPage(leaf, ref, table).body.length, 0);
    return pages.length > 1 && bytes < SMALL_PAGE_SHARE * pages.length * pageBytes;
  }
}
