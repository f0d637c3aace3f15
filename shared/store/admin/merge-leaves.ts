// Merges leaves (rule 32): two neighbours that one process at most wrote between two looks become
// one if both fit into a share of a container (`when-to-join.ts`). Where nobody wrote, dead records
// are dropped first. Pairs of a window go side by side, windows from left to right, so that a
// vacuum can end between two of them, and tell where the next one goes on.
import { headerTogether } from '../container/join-leaves.ts';
import { fitsTogether } from '../container/when-to-join.ts';
import { isPurgeDue } from '../container/when-to-purge.ts';
import { isWhole, peekPage, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import type { Header } from '../format/header.ts';
import type { Position } from '../format/position.ts';
import { writersSince } from '../container/writers.ts';
import type { SeenNode } from './levels.ts';
import { finishPair, retire, type Tally, unlessDamaged } from './merge-pair.ts';
import { AT_A_TIME_MAX, sideBySide } from './side-by-side.ts';

/** Smaller pages than this share of a full one are joined: merges leave many of them. */
const SMALL_PAGE_SHARE = 1 / 3;

/** A leaf that one process writes is written between a try's read and its commit at times. */
const RETIRE_TRIES = 4;

/** Page bytes of a window's leaves, about: all of them may be in memory. */
const WINDOW_BYTES = 16 * 1024 * 1024;

export interface MergeRun {
  readonly tally: Tally;
  /** False once the vacuum's time is nearly over: then no merge begins. */
  readonly mayBegin: () => boolean;
  /** All leaves left of `next` are done, undefined: all; `gone`: lows of those that went. */
  readonly onWindow: (next: Position | undefined, gone: readonly Position[]) => void;
}

/** Merges the leaves of one table, once. */
export class LeafMerger {
  readonly #engine: Engine;
  readonly #run: MergeRun;
  /** By leaf, as the first look saw it, or this vacuum left it. */
  readonly #commitCounts = new Map<EntityId, number>();
  /** Leaves of this window that were seen, or written, after the quiet time. */
  readonly #seenAgain = new Set<EntityId>();
  /** Leaves of this window that their left neighbour does not take in. */
  readonly #staying = new Set<EntityId>();
  /** Leaves whose pages were all decoded, or moved by this vacuum. */
  readonly #sound = new WeakSet<Snapshot>();
  /** Leaves whose pages were found full, or were joined. */
  readonly #filled = new WeakSet<Snapshot>();
  #gone: Position[] = [];

  constructor(engine: Engine, run: MergeRun) {
    this.#engine = engine;
    this.#run = run;
  }

  /** `leaves`: live ones from left to right. False if the time was over before the last. */
  async run(leaves: readonly SeenNode[]): Promise<boolean> {
    let last: Snapshot | undefined;
    for (let at = 0; at < leaves.length;) {
      const window = windowAt(leaves, at);
      at += window.length;
      const row = await this.#mergeWindow(last, window);
      if (!this.#run.mayBegin()) return false;
      // The next window may merge into the last one of this.
      last = row.pop();
      this.#run.tally.passed += window.length;
      const isLast = at === leaves.length;
      this.#run.onWindow(isLast ? undefined : (last?.header.low ?? leaves[at]!.low), this.#gone);
    }
    return true;
  }

  /** The leaves that are left of a window, and of the last one before it. */
  async #mergeWindow(last: Snapshot | undefined, window: readonly SeenNode[]): Promise<Snapshot[]> {
    this.#seenAgain.clear();
    this.#staying.clear();
    this.#gone = [];
    const loaded = new Map<SeenNode, Snapshot>();
    await sideBySide(window, async (node) => {
      this.#commitCounts.set(node.id, node.commitCount);
      const leaf = await this.#withoutDead(await this.#load(node.id));
      if (leaf?.header.state === 'live') loaded.set(node, leaf);
    });
    if (last !== undefined) this.#seenAgain.add(last.id);
    let row = [...(last === undefined ? [] : [last]), ...window.flatMap((node) => loaded.get(node) ?? [])];
    while (this.#run.mayBegin()) {
      const lefts = this.#pairsIn(row);
      const next = lefts.length > 0 ? await this.#mergePairs(row, lefts) : await this.#withFullPages(row);
      if (next === undefined) break;
      row = next;
    }
    return row;
  }

  async #load(id: EntityId): Promise<Snapshot | undefined> {
    return this.#engine.cache.get(id) ?? this.#engine.reader.readUnknown(id);
  }

  /** Indexes of left leaves: as many as fit into one become one, by halves. */
  #pairsIn(row: readonly Snapshot[]): number[] {
    const lefts: number[] = [];
    for (let first = 0; first < row.length;) {
      let { header } = row[first]!;
      let end = first + 1;
      for (; end < row.length && this.#mayPair(row[end - 1]!, row[end]!); end += 1) {
        const next: Header = row[end]!.header;
        if (!this.#fits(header, next)) break;
        header = headerTogether(header, next);
      }
      for (let left = first; left + 1 < end; left += 2) lefts.push(left);
      first = end;
    }
    return lefts;
  }

  #mayPair(left: Snapshot, right: Snapshot): boolean {
    if (left.header.state !== 'live' || right.header.state !== 'live') return false;
    if (left.header.right !== right.header.container || this.#staying.has(right.id)) return false;
    const { damaged } = this.#run.tally;
    return !damaged.has(left.id) && !damaged.has(right.id);
  }

  #fits(left: Header, right: Header): boolean {
    return fitsTogether(left, right, this.#engine.rules);
  }

  /** The row with the pairs merged, or as they are now. */
  async #mergePairs(row: readonly Snapshot[], lefts: readonly number[]): Promise<Snapshot[]> {
    const merged = new Map<number, readonly Snapshot[]>();
    await sideBySide(lefts, async (at) => {
      const { turns } = this.#engine;
      if (turns.isLong) await turns.pause();
      merged.set(at, await this.#merged(row[at]!, row[at + 1]!));
    });
    return row.flatMap((leaf, at) => merged.get(at) ?? (merged.has(at - 1) ? [] : [leaf]));
  }

  /** One leaf with the content of both; the two if they stay so. Three writes. */
  async #merged(left: Snapshot, right: Snapshot): Promise<readonly Snapshot[]> {
    const { tally } = this.#run;
    const stay = (now: Snapshot): readonly Snapshot[] => {
      this.#staying.add(right.id);
      return [now, right];
    };
    const base = await unlessDamaged(tally, () => this.#seenNow(left));
    if (base === 'damaged' || base === undefined) return stay(left);
    if (!this.#mayPair(base, right) || !this.#fits(base.header, right.header)) return stay(base);
    const retired = await unlessDamaged(tally, () => this.#retired(base, right));
    if (retired === undefined) tally.busy += 1;
    if (retired === undefined || retired === 'damaged') return stay(base);
    const now = await finishPair(this.#engine, base, retired, tally);
    if (now?.header.state !== 'live' || now.header.right === right.header.container) return stay(now ?? base);
    this.#gone.push(right.header.low);
    tally.movedBytes += retired.header.pages.reduce((sum, { sealedBytes }) => sum + sealedBytes, 0);
    // A foreign commit meanwhile shows that the leaf is not quiet.
    if (now.header.commitCount === base.header.commitCount + 1) this.#noteOwn(now);
    return [now];
  }

  #noteOwn(leaf: Snapshot): void {
    this.#commitCounts.set(leaf.id, leaf.header.commitCount);
    this.#seenAgain.add(leaf.id);
    this.#sound.add(leaf);
  }

  /** The second look: the leaf as it is after the quiet time, whole. */
  async #seenNow(leaf: Snapshot): Promise<Snapshot | undefined> {
    const { reader } = this.#engine;
    const isCurrent = this.#seenAgain.has(leaf.id) || (await reader.isCurrent(leaf));
    const now = isCurrent ? leaf : await reader.readUnknown(leaf.id);
    this.#seenAgain.add(leaf.id);
    return now && this.#readAll(now);
  }

  /**
   * The right leaf, retired; undefined where others write, or one process again and again. Its
   * version shows that nobody wrote it since the first look: else it is read, and judged anew.
   */
  async #retired(left: Snapshot, right: Snapshot): Promise<Snapshot | undefined> {
    const { cache } = this.#engine;
    for (let tries = 0; tries < RETIRE_TRIES; tries += 1) {
      // The last try showed it as it is by now.
      const whole = await this.#readAll(cache.get(right.id) ?? right);
      // Another vacuum may have taken it meanwhile.
      if (whole?.header.state !== 'live' || this.#isContested(left, whole)) return undefined;
      if (!this.#fits(left.header, whole.header)) return undefined;
      const retired = await retire(this.#engine, whole, tries > 0);
      if (retired !== undefined) return retired;
    }
    return undefined;
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
    if (seen?.header.state !== 'live' || !this.#isQuiet(seen) || !mayHoldDead(seen.header)) return seen;
    const leaf = await unlessDamaged(this.#run.tally, () => this.#readAll(seen));
    if (leaf === 'damaged') return seen;
    const { rules, runtime } = this.#engine;
    return this.#purgedIf(leaf, (whole) => isPurgeDue(whole, whole.header, runtime.wallMs(), rules.table));
  }

  /** Decodes every page: a leaf with a damaged one must not retire, as it could not move. */
  async #readAll(seen: Snapshot): Promise<Snapshot | undefined> {
    const leaf = isWhole(seen.header) ? seen : await this.#engine.reader.readIntact(seen.id);
    if (leaf === undefined || this.#sound.has(leaf)) return leaf;
    for (const ref of leaf.header.pages) peekPage(leaf, ref, this.#engine.rules.table);
    this.#sound.add(leaf);
    return leaf;
  }

  /**
   * Writes quiet leaves of small pages anew that have no room for their right neighbour. Undefined
   * if there was none.
   */
  async #withFullPages(row: readonly Snapshot[]): Promise<Snapshot[] | undefined> {
    const isDue = (left: Snapshot, right: Snapshot | undefined): boolean =>
      right !== undefined &&
      !this.#filled.has(left) &&
      this.#isQuiet(left) &&
      this.#isQuiet(right) &&
      this.#mayPair(left, right);
    const due = row.filter((left, at) => isDue(left, row[at + 1]));
    const written = new Map<Snapshot, Snapshot>();
    await sideBySide(due, async (left) => {
      this.#filled.add(left);
      const whole = await unlessDamaged(this.#run.tally, () => this.#readAll(left));
      if (whole === 'damaged') return;
      const now = await this.#purgedIf(whole, (leaf) => this.#hasSmallPages(leaf));
      if (now === undefined || now === whole) return;
      this.#filled.add(now);
      written.set(left, now);
    });
    return written.size === 0 ? undefined : row.map((leaf) => written.get(leaf) ?? leaf);
  }

  /** Writes a quiet leaf anew if that is due. Without an acknowledgement gives it as it then is. */
  async #purgedIf(whole: Snapshot | undefined, isDue: (whole: Snapshot) => boolean): Promise<Snapshot | undefined> {
    if (whole === undefined || !this.#isQuiet(whole) || !isDue(whole) || !this.#run.mayBegin()) return whole;
    const { known: now, isFresh } = await this.#engine.router.maintain(whole.id, (leaf) => {
      leaf.known = whole;
      leaf.purge = whole;
    });
    if (now === undefined || now === whole || isFresh) return now;
    this.#noteOwn(now);
    this.#run.tally.purged += 1;
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

function windowAt(leaves: readonly SeenNode[], first: number): readonly SeenNode[] {
  let bytes = 0;
  let end = first;
  do bytes += leaves[end++]!.pageBytes;
  while (end < leaves.length && end - first < AT_A_TIME_MAX && bytes < WINDOW_BYTES);
  return leaves.slice(first, end);
}

/** By the page table alone: whether a record may be hidden by a newer one, deleted or expired. */
function mayHoldDead({ layers, pages }: Header): boolean {
  return layers.length > 0 || pages.some((ref) => ref.mayHoldDead);
}
