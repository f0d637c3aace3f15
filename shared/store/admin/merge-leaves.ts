// Merges leaves (rules 26, 27, 30 and 32): the right one retires, the left one absorbs it. Two
// neighbours become one if at most one process wrote to them between two looks and if they fit
// together (`join-leaves.ts`); leaves that nobody wrote lose their dead records first. The pairs
// of a window merge side by side, the windows from left to right, so that a vacuum can end between
// two windows and tell where the next vacuum goes on.
import { fitsTogether, headerTogether, retiredHeader } from '../container/join-leaves.ts';
import { isPurgeDue } from '../container/compaction.ts';
import { isWhole, peekPage, type Snapshot } from '../container/snapshot.ts';
import { encodeHeader, type Header, writersSince } from '../format/header.ts';
import { patchOf } from '../container/plan-commit.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { VacuumReport } from '../contract/admin.ts';
import type { Engine } from '../engine/engine.ts';
import type { Position } from '../format/position.ts';
import { drawAttempt } from '../io/clock.ts';
import { Absorbing } from '../machine/leaf.ts';
import { AT_A_TIME_MAX, type SeenNode, sideBySide } from './levels.ts';
import { strip } from './orphans.ts';

/** Pages that on average fill less than this share are joined, as merges leave many of them. */
const SMALL_PAGE_SHARE = 1 / 3;

/** A leaf in use may change between the read and the commit of a try, so there are some tries. */
const RETIRE_TRIES = 4;

/** About how many bytes of pages a window has: all of them may be in memory at once. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/** A `VacuumReport` in the making. Damaged containers are kept by id, as each may be met twice. */
export type Tally = { -readonly [Name in keyof Omit<VacuumReport, 'damaged' | 'cursor'>]: number } & {
  readonly damaged: Set<string>;
};

export interface MergeRun {
  readonly tally: Tally;
  /** False once the vacuum's time is nearly over, after which no merge begins. */
  readonly mayBegin: () => boolean;
  /** All leaves left of `next` are done; undefined: all. `gone`: the lows of the merged ones. */
  readonly onWindow: (next: Position | undefined, gone: readonly Position[]) => void;
}

/** Merges the leaves of one table, once. */
export class LeafMerger {
  readonly #engine: Engine;
  readonly #run: MergeRun;
  /** The commit count of each leaf as the first look saw it, or as this vacuum left it. */
  readonly #commitCounts = new Map<EntityId, number>();
  /** Leaves of this window that this vacuum has read or written since the quiet time. */
  readonly #seenAgain = new Set<EntityId>();
  /** Leaves of this window that their left neighbour does not absorb. */
  readonly #staying = new Set<EntityId>();
  /** Leaves whose pages were all decoded, or moved by this vacuum. */
  readonly #sound = new WeakSet<Snapshot>();
  /** Leaves whose pages were found full enough, or were joined. */
  readonly #filled = new WeakSet<Snapshot>();
  #gone: Position[] = [];

  constructor(engine: Engine, run: MergeRun) {
    this.#engine = engine;
    this.#run = run;
  }

  /** `leaves`: the live ones from left to right. False if the time ended before the last. */
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

  /** Merges a window together with the last leaf before it; returns the leaves that remain. */
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

  /** Indexes of the left leaves of pairs. As many leaves as fit into one become one, by halves. */
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

  /** The row with these pairs merged; pairs that stay are given as they are now. */
  async #mergePairs(row: readonly Snapshot[], lefts: readonly number[]): Promise<Snapshot[]> {
    const merged = new Map<number, readonly Snapshot[]>();
    await sideBySide(lefts, async (at) => {
      const { turns } = this.#engine;
      if (turns.isLong) await turns.pause();
      merged.set(at, await this.#merged(row[at]!, row[at + 1]!));
    });
    return row.flatMap((leaf, at) => merged.get(at) ?? (merged.has(at - 1) ? [] : [leaf]));
  }

  /** The merged leaf, or both if they stay. Cost: three writes and up to two reads. */
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
    // Another process's commit meanwhile would show that the leaf is not quiet.
    if (now.header.commitCount === base.header.commitCount + 1) this.#noteOwn(now);
    return [now];
  }

  #noteOwn(leaf: Snapshot): void {
    this.#commitCounts.set(leaf.id, leaf.header.commitCount);
    this.#seenAgain.add(leaf.id);
    this.#sound.add(leaf);
  }

  /** The second look: the whole leaf as it is after the quiet time. */
  async #seenNow(leaf: Snapshot): Promise<Snapshot | undefined> {
    const { reader } = this.#engine;
    const isCurrent = this.#seenAgain.has(leaf.id) || (await reader.isCurrent(leaf));
    const now = isCurrent ? leaf : await reader.readUnknown(leaf.id);
    this.#seenAgain.add(leaf.id);
    return now && this.#readAll(now);
  }

  /**
   * Retires the right leaf, on condition of the version that the first look saw; if that fails, the
   * leaf is read and judged anew. Undefined if others keep writing to it.
   */
  async #retired(left: Snapshot, right: Snapshot): Promise<Snapshot | undefined> {
    const { cache } = this.#engine;
    for (let tries = 0; tries < RETIRE_TRIES; tries += 1) {
      // After a failed try the cache has the leaf as it is now.
      const whole = await this.#readAll(cache.get(right.id) ?? right);
      // Another vacuum may have merged it meanwhile.
      if (whole?.header.state !== 'live' || this.#isContested(left, whole)) return undefined;
      if (!this.#fits(left.header, whole.header)) return undefined;
      const retired = await retire(this.#engine, whole, tries > 0);
      if (retired !== undefined) return retired;
    }
    return undefined;
  }

  /** Whether several processes wrote to the pair, who would soon split it again. */
  #isContested(left: Snapshot, right: Snapshot): boolean {
    const others = new Set(
      [left, right].flatMap(({ id, header }) => [...writersSince(header, this.#commitCounts.get(id) ?? 0)]),
    );
    // This vacuum's own commits do not count.
    others.delete(this.#engine.tag);
    return others.size > 1;
  }

  #isQuiet({ id, header }: Snapshot): boolean {
    return this.#commitCounts.get(id) === header.commitCount;
  }

  /** Purges a quiet leaf that has many dead records, unless it is damaged. */
  async #withoutDead(seen: Snapshot | undefined): Promise<Snapshot | undefined> {
    if (seen?.header.state !== 'live' || !this.#isQuiet(seen) || !mayHoldDead(seen.header)) return seen;
    const leaf = await unlessDamaged(this.#run.tally, () => this.#readAll(seen));
    if (leaf === 'damaged') return seen;
    const { rules, runtime } = this.#engine;
    return this.#purgedIf(leaf, (whole) => isPurgeDue(whole, whole.header, runtime.wallMs(), rules.table));
  }

  /** Reads and decodes every page, because a leaf with a damaged page must not retire. */
  async #readAll(seen: Snapshot): Promise<Snapshot | undefined> {
    const leaf = isWhole(seen.header) ? seen : await this.#engine.reader.readIntact(seen.id);
    if (leaf === undefined || this.#sound.has(leaf)) return leaf;
    for (const ref of leaf.header.pages) peekPage(leaf, ref, this.#engine.rules.table);
    this.#sound.add(leaf);
    return leaf;
  }

  /**
   * Writes quiet leaves with small pages anew, which may make room for their right neighbours.
   * Undefined if there was nothing to write.
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

  /** Writes a quiet leaf anew if that is due, and returns the leaf as it then is. */
  async #purgedIf(whole: Snapshot | undefined, isDue: (whole: Snapshot) => boolean): Promise<Snapshot | undefined> {
    if (whole === undefined || !this.#isQuiet(whole) || !isDue(whole) || !this.#run.mayBegin()) return whole;
    const { known: now, wasReadSince } = await this.#engine.router.maintain(whole.id, (leaf) => {
      leaf.known = whole;
      leaf.purge = whole;
    });
    if (now === undefined || now === whole || wasReadSince) return now;
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

/** Whether, by its page table, a leaf may hold deleted, expired or hidden records. */
function mayHoldDead({ layers, pages }: Header): boolean {
  return layers.length > 0 || pages.some((ref) => ref.mayHoldDead);
}

/**
 * Retires `right`, which is whole, live, and not the leftmost. Undefined if others wrote to it.
 * `isAlone`: in a request of its own, so that a refusal is certain (rule 1). Cost: 1 or 2 requests.
 */
async function retire(engine: Engine, right: Snapshot, isAlone: boolean): Promise<Snapshot | undefined> {
  const attempt = drawAttempt(engine);
  const header = retiredHeader(right.header, attempt);
  const seen = engine.clock.now();
  const write = patchOf(right, encodeHeader(header, right.header), { written: [], dropped: [] }, attempt);
  const outcome = await engine.writeBatcher.send(write, isAlone, () => true);
  // If the write was not acknowledged, a read tells the leaf's state.
  const now =
    outcome.kind === 'written'
      ? engine.cache.offer({ id: right.id, version: outcome.version, header, lastCommit: attempt, seen })
      : await engine.reader.readIntact(right.id);
  return now?.header.state === 'retired' ? now : undefined;
}

/** If `work` meets a damaged container, counts it, so that vacuum can go on elsewhere. */
export async function unlessDamaged<T>(tally: Tally, work: () => Promise<T>): Promise<T | 'damaged'> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'corrupt')) throw error;
    tally.damaged.add(error.container ?? error.message);
    return 'damaged';
  }
}

/**
 * Lets `left` absorb its retired right neighbour. Returns `left` as it then is; undefined if it is
 * missing. `dropEntries` removes the entry that names the neighbour.
 */
export async function finishPair(
  engine: Engine,
  left: Snapshot,
  retired: Snapshot,
  tally: Tally,
): Promise<Snapshot | undefined> {
  const { known: now } = await engine.router.maintain(left.id, (leaf) => {
    leaf.known = left;
    leaf.absorbing = new Absorbing(retired);
  });
  if (await strip(engine, retired, now)) tally.stripped += 1;
  return now;
}
