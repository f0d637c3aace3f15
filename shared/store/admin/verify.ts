// Verifies a table past every cache. Writers may go on meanwhile, as neighbours always fit together
// (invariant 2).
import { childrenIn } from '../container/branch.ts';
import { type CheckValue, faultsIn, NO_COMMIT, liveRecordsIn, type Stretch } from '../container/check.ts';
import { pageOf, type Snapshot, snapshotOf } from '../container/snapshot.ts';
import type { Order } from '../contract/options.ts';
import type { Entity, EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { VerifyOptions, VerifyReport } from '../contract/admin.ts';
import type { Engine } from '../engine/engine.ts';
import { compareBytes, EMPTY_BYTES, type Id64, ID64_BYTES } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { COMMIT_PART, incarnationOf, nodeId, nodesPrefix, rootId } from '../format/entity-ids.ts';
import type { Position } from '../format/position.ts';
import { listIds } from '../io/send.ts';
import { wasDropped } from './lifecycle.ts';
import { positionsIn, readStored } from './remains.ts';
import type { Sketch } from './sketch.ts';
import { type Counts, countsOf, VerifyTally } from './verify-tally.ts';

/** How many nodes are read ahead, of those that branches name. */
const READ_AHEAD = 16;

/** A node as one read showed it, or why there is none; `visited`: the walk has been there. */
type Seen = Read | 'visited';
type Read = Snapshot | 'absent' | Unreadable;

/** A container without a readable header. */
interface Unreadable extends Entity {
  readonly error: StoreError;
}

/** A node as a branch names it. It may be missing. */
interface Named {
  readonly id: EntityId;
  readonly low: Position;
}

/** The next node of the walk, which the one before links or a branch names. */
interface Step {
  readonly id: EntityId;
  readonly isLinked: boolean;
  /** The position that the walk has reached. */
  readonly at: Position;
}

/** A node that the walk has counted. */
interface Met extends Counts {
  readonly id: EntityId;
  readonly right: Id64 | undefined;
}

const EVERYTHING: Stretch = { from: EMPTY_BYTES, to: undefined };
const SKIPPED = 'a branch names the container, but no link leads to it';
const FOREIGN = 'nobody dropped the incarnation of this container: the root was lost and created anew';

export interface VerifyContext {
  readonly engine: Engine;
  readonly checkValue: CheckValue;
  readonly onFinding: VerifyOptions['onFinding'];
  /** Is told of each container. */
  readonly watch?: Sketch;
}

/** Throws `not_found` if nothing is stored. Cost: one read per container, and a listing. */
export async function verifyTable(context: VerifyContext): Promise<VerifyReport> {
  return new Verification(context).run();
}

class Verification {
  readonly #engine: Engine;
  readonly #context: VerifyContext;
  readonly #visited = new Set<EntityId>();
  /** Containers that a branch names but no link led to: merged since, or skipped by a link. */
  readonly #named = new Set<EntityId>();
  readonly #ahead = new Map<EntityId, Promise<Read>>();
  readonly #tally: VerifyTally;
  /** Records that expire after this moment count, however often their leaf is read. */
  readonly #begunMs: number;

  constructor(context: VerifyContext) {
    this.#context = context;
    this.#engine = context.engine;
    this.#begunMs = context.engine.runtime.wallMs();
    this.#tally = new VerifyTally(context.onFinding);
  }

  async run(): Promise<VerifyReport> {
    const { table } = this.#engine;
    const root = await this.#read(rootId(table));
    const header = isNode(root) ? root.header : undefined;
    if (header !== undefined && header.state !== 'live') throw tableNotFound(table);
    if (isNode(root)) await this.#walk(root);
    else if (root === 'absent' && (await listIds(this.#engine.driver, nodesPrefix(table)).next()).done === true)
      throw tableNotFound(table);
    else this.#lost(root, rootId(table), EVERYTHING);
    await this.#judgeUnlinked(header);
    return this.#tally.result(this.#engine.driver.limits.entityBytesMax);
  }

  async #walk(root: Snapshot): Promise<void> {
    const { level, order } = root.header;
    this.#tally.isHashed = order === 'hash';
    this.#visited.add(root.id);
    this.#count(root);
    let children = this.#childrenKnown(root);
    for (let below = level - 1; below >= 0; below -= 1) children = await this.#walkLevel(below, children, order);
  }

  /** Walks one level along its links. Where those break off, it goes on at the next named child. */
  async #walkLevel(level: number, nodes: readonly Named[], order: Order): Promise<Named[]> {
    const children: Named[] = [];
    let linked: Met[] = [];
    // If the leftmost branch is lost, leaves that it named may have absorbed any of these.
    let step = await this.#nextNamed(nodes, undefined, level === 0 ? nodes.at(-1)?.low : undefined);
    while (step !== undefined) {
      const { id, isLinked, at } = step;
      this.#readAhead(nodes, at);
      const seen = this.#visited.has(id) ? 'visited' : await this.#take(id);
      const merged = isGone(seen) ? await this.#nowInstead(linked) : undefined;
      if (merged !== undefined) {
        step = this.#stepAfter(merged);
        continue;
      }
      this.#visited.add(id);
      if (isNode(seen) && seen.header.state !== 'merged') {
        this.#checkPlace(seen, level, isLinked ? at : undefined);
        linked.push(this.#count(seen));
        children.push(...this.#childrenKnown(seen));
        step = this.#stepAfter(seen);
      } else {
        const isLeaf = level === 0 && isUnreadable(seen);
        const last = isLeaf ? positionsIn(this.#engine.table, seen, order).at(-1) : undefined;
        step = await this.#nextNamed(nodes, at, last);
        this.#lost(seen, id, { from: at, to: step?.at }, { level, last });
        linked = [];
      }
    }
    for (const { id } of nodes) if (!this.#visited.has(id)) this.#named.add(id);
    return children;
  }

  /**
   * The next child that a branch names beyond `at`, where the links broke off. Skips stale entries,
   * whose content the lost leaf, which reached `last`, has absorbed.
   */
  async #nextNamed(
    nodes: readonly Named[],
    at: Position | undefined,
    last: Position | undefined,
  ): Promise<Step | undefined> {
    for (const { id, low } of nodes) {
      // A stale entry may also name a node to the left of the break.
      if (this.#visited.has(id) || (at !== undefined && compareBytes(low, at) <= 0)) continue;
      const seen = await this.#take(id);
      if (isTakenIn(seen, low, last)) continue;
      this.#ahead.set(id, Promise.resolve(seen));
      return { id, isLinked: false, at: low };
    }
    return undefined;
  }

  #stepAfter(left: Snapshot): Step | undefined {
    const { incarnation, right, high } = left.header;
    if (right === undefined || high === undefined) return undefined;
    return { id: nodeId(this.#engine.table, incarnation, right), isLinked: true, at: high };
  }

  /** The children that the readable pages of a branch name; of a leaf none. */
  #childrenKnown(branch: Snapshot): Named[] {
    const { table } = this.#engine;
    const { level, incarnation, pages } = branch.header;
    if (level === 0) return [];
    return pages.flatMap((ref) => {
      try {
        const children = childrenIn(pageOf(branch, ref, table));
        return children.map(({ low, child }) => ({ low, id: nodeId(table, incarnation, child) }));
      } catch {
        return [];
      }
    });
  }

  /**
   * The last node of these links that still exists, if it links elsewhere by now, because it
   * absorbed those that are gone. Takes back their counts.
   */
  async #nowInstead(linked: Met[]): Promise<Snapshot | undefined> {
    for (const [index, met] of [...linked.entries()].toReversed()) {
      const now = await this.#read(met.id);
      if (isGone(now)) continue;
      const isSame = isNode(now) && now.header.right === met.right;
      // A leaf further right may be stripped before this one.
      if (isSame && now.header.state === 'retired') continue;
      if (!isNode(now) || isSame) return undefined;
      for (const replaced of linked.splice(index)) {
        this.#tally.count(replaced, -1);
        this.#context.watch?.gone(replaced.id);
      }
      linked.push(this.#count(now));
      return now;
    }
    return undefined;
  }

  /** The node, read ahead or now. If a read ahead showed it gone, it is read again. */
  async #take(id: EntityId): Promise<Read> {
    const ahead = this.#ahead.get(id);
    this.#ahead.delete(id);
    const seen = await (ahead ?? this.#read(id));
    return ahead !== undefined && isGone(seen) ? this.#read(id) : seen;
  }

  #readAhead(nodes: readonly Named[], at: Position): void {
    if (this.#ahead.size > 0) return;
    const first = nodes.findIndex(({ low }) => compareBytes(low, at) > 0);
    if (first < 0) return;
    for (const { id } of nodes.slice(first, first + READ_AHEAD)) {
      if (this.#visited.has(id)) continue;
      const reading = this.#read(id);
      // The read may fail before the walk gets there, or although it never does.
      reading.catch(() => undefined);
      this.#ahead.set(id, reading);
    }
  }

  /** The node as stored, not from memory. Rejects only if the provider cannot be reached. */
  async #read(id: EntityId): Promise<Read> {
    const seen = this.#engine.clock.now();
    const entity = await readStored(this.#engine, id);
    if (entity === undefined) return 'absent';
    const hasCommit = entity.parts.get(COMMIT_PART)?.length === ID64_BYTES;
    // The walk needs only the header, so it goes on without a valid commit id.
    const parts = hasCommit ? entity.parts : new Map([...entity.parts, [COMMIT_PART, NO_COMMIT]]);
    try {
      return snapshotOf({ ...entity, parts }, this.#engine.table, seen, undefined);
    } catch (error) {
      if (error instanceof StoreError) return { ...entity, error };
      throw error;
    }
  }

  #checkPlace({ id, header }: Snapshot, level: number, low: Position | undefined): void {
    const { low: from, high: to } = header;
    const wrong = (message: string): void => this.#tally.report('misplaced', id, { from, to, message });
    if (header.level !== level) wrong(`the container is of level ${header.level}, not ${level}`);
    if (low !== undefined && compareBytes(from, low) !== 0)
      wrong('the container does not begin where its left neighbour ends');
    if (to !== undefined && compareBytes(from, to) >= 0) wrong('the container ends before it begins');
  }

  /** Counts a container and reports its faults. */
  #count(snapshot: Snapshot): Met {
    this.#reportFaults(snapshot, true);
    const { id, header } = snapshot;
    const records = header.level > 0 ? 0 : liveRecordsIn(snapshot, this.#engine.table, this.#begunMs);
    const counts = countsOf(header, records);
    this.#tally.count(counts, 1);
    this.#tally.created(header.createdAtMs);
    return { id, right: header.right, ...counts };
  }

  #reportFaults(snapshot: Snapshot, isLinked: boolean): void {
    let faults = 0;
    for (const { kind, ...fault } of faultsIn(snapshot, this.#engine.table, this.#context.checkValue)) {
      faults += 1;
      this.#tally.report(kind, snapshot.id, fault);
    }
    this.#context.watch?.node(snapshot, isLinked, faults);
  }

  /** Judges containers that the walk did not meet: of a split under way, merged, or cut off. */
  async #judgeUnlinked(root: Header | undefined): Promise<void> {
    for await (const id of listIds(this.#engine.driver, nodesPrefix(this.#engine.table))) {
      if (this.#visited.has(id)) continue;
      const incarnation = incarnationOf(id);
      if (root === undefined || incarnation === root.incarnation) await this.#checkUnlinked(id);
      else if (wasDropped(root, incarnation)) this.#tally.unlinked += 1;
      else this.#tally.report('foreign', id, { ...EVERYTHING, message: FOREIGN });
    }
  }

  async #checkUnlinked(id: EntityId): Promise<void> {
    const seen = await this.#read(id);
    if (seen === 'absent') return;
    this.#tally.unlinked += 1;
    if (!isNode(seen)) return this.#lost(seen, id, EVERYTHING);
    this.#reportFaults(seen, false);
    const { low: from, high: to, state } = seen.header;
    if (this.#named.has(id) && state === 'live') this.#tally.report('misplaced', id, { from, to, message: SKIPPED });
  }

  /** Reports a container that cannot be read. `linked`: undefined if no link led to it. */
  #lost(seen: Seen, id: EntityId, stretch: Stretch, linked?: { level: number; last: Position | undefined }): void {
    if (seen === 'visited') return this.#tally.report('misplaced', id, { ...stretch, message: 'a link leads back' });
    const version = seen === 'absent' ? undefined : seen.version;
    this.#context.watch?.lost(id, linked?.level, { low: stretch.from, version, last: linked?.last });
    if (isUnreadable(seen)) return this.#tally.report('damaged', id, { ...stretch, message: seen.error.message });
    const state = seen === 'absent' ? 'is not there' : 'was emptied';
    this.#tally.report('missing', id, { ...stretch, message: `the container ${state}` });
  }
}

function isUnreadable(seen: Seen): seen is Unreadable {
  return typeof seen !== 'string' && 'error' in seen;
}

function isNode(seen: Seen): seen is Snapshot {
  return typeof seen !== 'string' && !isUnreadable(seen);
}

/**
 * Whether a leaf to its left has absorbed it, or may have, if that is the lost one up to `last`.
 */
function isTakenIn(seen: Read, separator: Position, last: Position | undefined): boolean {
  const state = isNode(seen) ? seen.header.state : seen;
  const low = isNode(seen) ? seen.header.low : separator;
  if (state === 'merged' || last === undefined) return state === 'merged';
  return (state === 'retired' || state === 'absent') && low.length > 0 && compareBytes(low, last) <= 0;
}

/** Whether its left neighbour may have absorbed it, as far as this read tells. */
function isGone(seen: Seen): boolean {
  return seen === 'absent' || (isNode(seen) && seen.header.state === 'merged');
}
