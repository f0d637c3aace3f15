// Merges leaves (rule 32), from left to right: two neighbours that one process at most wrote
// between two looks become one if both fit into MERGE_SHARE of a container. Where nobody wrote,
// dead records are dropped first.
import { fitsTogether } from '../container/absorb.ts';
import { isPurgeDue } from '../container/when-to-purge.ts';
import { isWhole, peekPage, type Snapshot } from '../container/snapshot.ts';
import type { Engine } from '../engine/engine.ts';
import type { Position } from '../format/position.ts';
import { MERGE_SHARE } from '../machine/absorb.ts';
import { writersSince } from '../traffic/writer-order.ts';
import { type Levels, type Neighbours, nextAfter } from './levels.ts';
import { finishPair, retire, type Tally, unlessDamaged } from './merge-pair.ts';

/** Smaller pages than this share of a full one are joined: merges leave many of them. */
const SMALL_PAGE_SHARE = 1 / 3;

/** A leaf that one process writes is written between a try's read and its commit at times. */
const RETIRE_TRIES = 4;

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

  /** Gives the leaves' lows; undefined if one was missing. A merge: four writes and a read. */
  async run(leftmost: Snapshot['id']): Promise<Position[] | undefined> {
    const lows: Position[] = [];
    const { reader } = this.#engine;
    let left = await this.#withoutDead(await reader.readUnknown(leftmost));
    // A root that grew meanwhile is no leaf any more.
    while (left?.header.level === 0) {
      const next: Neighbours = await nextAfter(this.#engine, left, this.#tally, (id) => reader.readUnknown(id));
      left = next.left;
      const right: Snapshot | undefined = await this.#withoutDead(next.right);
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
    const base = this.#fits(left, right) || !areQuiet ? left : await this.#withFullPages(left);
    if (base === undefined || !this.#fits(base, right)) return undefined;
    const retired = await unlessDamaged(this.#tally, () => this.#retired(left, right));
    if (retired === 'damaged') return undefined;
    if (retired === undefined) {
      this.#tally.busy += 1;
      return undefined;
    }
    const now = await finishPair(this.#engine, base, retired, this.#tally);
    if (now?.header.state !== 'live') return undefined;
    // A foreign commit meanwhile shows that the leaf is not quiet.
    if (now.header.commitCount === base.header.commitCount + 1) this.#commitCounts.set(now.id, now.header.commitCount);
    return now;
  }

  /** The right leaf, retired; undefined where others write, or one process again and again. */
  async #retired(left: Snapshot, right: Snapshot): Promise<Snapshot | undefined> {
    const { cache } = this.#engine;
    for (let tries = 0; tries < RETIRE_TRIES; tries += 1) {
      // The last try showed it as it is by now.
      const seen = cache.get(right.id) ?? right;
      if (this.#isContested(left, seen)) return undefined;
      const whole = await this.#readAll(seen);
      // Another vacuum may have taken it meanwhile.
      if (whole?.header.state !== 'live') return undefined;
      const retired = await retire(this.#engine, whole);
      if (retired !== undefined) return retired;
    }
    return undefined;
  }

  #fits(left: Snapshot, right: Snapshot): boolean {
    return fitsTogether(left, right, MERGE_SHARE, this.#engine.rules);
  }

  /** Whether several processes wrote them: they would split what is merged again. */
  #isContested(left: Snapshot, right: Snapshot): boolean {
    const others = new Set(
      [left, right].flatMap(({ id, header }) => [...writersSince(header, this.#commitCounts.get(id) ?? 0)]),
    );
    // The commits by which this vacuum merges and purges are no sign of traffic.
    others.delete(this.#engine.tag);
    return others.size > 1;
  }

  #isQuiet({ id, header }: Snapshot): boolean {
    return this.#commitCounts.get(id) === header.commitCount;
  }

  /** Purges a quiet leaf with many dead records, unless it was written meanwhile, or is damaged. */
  async #withoutDead(seen: Snapshot | undefined): Promise<Snapshot | undefined> {
    if (seen?.header.state !== 'live' || !this.#isQuiet(seen) || seen.header.pages.length === 0) return seen;
    const leaf = await unlessDamaged(this.#tally, () => this.#readAll(seen));
    if (leaf === 'damaged') return seen;
    const { rules, runtime } = this.#engine;
    return this.#purgedIf(leaf, (whole) => isPurgeDue(whole, whole.header, runtime.wallMs(), rules.table));
  }

  /** Decodes every page: a leaf with a damaged one must not retire, as it could not move. */
  async #readAll(seen: Snapshot): Promise<Snapshot | undefined> {
    const leaf = await this.#whole(seen);
    for (const ref of leaf?.header.pages ?? []) peekPage(leaf!, ref, this.#engine.rules.table);
    return leaf;
  }

  async #whole(leaf: Snapshot): Promise<Snapshot | undefined> {
    return isWhole(leaf.header) ? leaf : this.#engine.reader.readIntact(leaf.id);
  }

  /** Writes a leaf of small pages anew. */
  async #withFullPages(leaf: Snapshot): Promise<Snapshot | undefined> {
    return this.#purgedIf(await this.#whole(leaf), (whole) => this.#hasSmallPages(whole));
  }

  /** Writes a quiet leaf anew if that is due. Without an acknowledgement gives it as it then is. */
  async #purgedIf(whole: Snapshot | undefined, isDue: (whole: Snapshot) => boolean): Promise<Snapshot | undefined> {
    if (whole === undefined || !this.#isQuiet(whole) || !isDue(whole)) return whole;
    const { known: now, isFresh } = await this.#engine.router.maintain(whole.id, (leaf) => {
      leaf.known = whole;
      leaf.purge = whole;
    });
    if (now === undefined || now === whole || isFresh) return now;
    this.#commitCounts.set(now.id, now.header.commitCount);
    this.#tally.purged += 1;
    return now;
  }

  #hasSmallPages(leaf: Snapshot): boolean {
    const { pages, layers } = leaf.header;
    if (layers.length > 1) return true;
    const { pageBytes, table } = this.#engine.rules;
    const bytes = pages.reduce((sum, ref) => sum + peekPage(leaf, ref, table).body.length, 0);
    return pages.length > 1 && bytes < SMALL_PAGE_SHARE * pages.length * pageBytes;
  }
}
