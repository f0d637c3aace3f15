// Verifies a table past every cache. Neighbours always fit (invariant 2), so writers may go on.
import { childrenIn, type RoutingEntry } from '../container/branch.ts';
import { type CheckValue, type Fault, faultsIn, recordsIn } from '../container/check.ts';
import { pageBytesOf, pageOf, type Snapshot, snapshotOf } from '../container/snapshot.ts';
import type { VerifyOptions } from '../contract/options.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Finding, FindingKind, LevelReport, VerifyReport } from '../contract/verify.ts';
import type { Engine } from '../engine/engine.ts';
import { asBuffer, compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { encodeHeader, type Header } from '../format/header.ts';
import { incarnationOf, nodeId, nodesPrefix, rootId } from '../format/ids.ts';
import type { Position, UpperBound } from '../format/position.ts';
import { listIds, sendReads } from '../io/requests.ts';
import { wasDropped } from './dropped.ts';

/** Findings that a report keeps. */
const FINDINGS_KEPT = 1_000;
/** Nodes read ahead of the walk, where the branches above name them. */
const READ_AHEAD = 16;
const HASH_BYTES = 8;

/** A node as one read showed it, or why it cannot be had; `visited`: a link leads back to it. */
type Seen = Snapshot | 'absent' | 'visited' | StoreError;

/** One level: its nodes as the branches above name them, some perhaps missing. */
interface Level {
  readonly level: number;
  readonly incarnation: Id64;
  readonly nodes: readonly RoutingEntry[];
}

/** The next node of a walk: the right neighbour of `left`, or one that a branch names. */
interface Step {
  readonly child: Id64;
  readonly left: Snapshot | undefined;
  /** The walk has come to here. */
  readonly at: Position;
}

interface Stretch {
  readonly from: Position;
  readonly to: UpperBound;
}

type Reported = Stretch & Pick<Finding, 'message'> & Partial<Pick<Fault, 'slot' | 'key'>>;

const EVERYTHING: Stretch = { from: EMPTY_BYTES, to: undefined };
const SKIPPED = 'a branch names the container, but no link leads to it';
const FOREIGN = 'nobody dropped the incarnation of this container: the root was lost and created anew';

/** Hears of each container in the order of the walk; one that was read again, again. */
export interface Watch {
  /** A container with a readable header. `isLinked`: a link led there. */
  node(node: Snapshot, isLinked: boolean, faults: number): void;
  /** One that is missing, emptied or without a readable header; `level` undefined if unlinked. */
  lost(id: EntityId, at: Position, level: number | undefined): void;
}

export interface VerifyContext {
  readonly engine: Engine;
  readonly checkValue: CheckValue;
  readonly onFinding: VerifyOptions['onFinding'];
  readonly watch?: Watch;
}

/** Throws `not_found` if nothing is stored. Cost: a read of each container, and a listing. */
export async function verifyTable(context: VerifyContext): Promise<VerifyReport> {
  return new Verification(context).run();
}

class Verification {
  readonly #engine: Engine;
  readonly #context: VerifyContext;
  readonly #visited = new Set<EntityId>();
  /** Named by a branch, but met by no link: merged since, or a link skips them. */
  readonly #named = new Set<EntityId>();
  readonly #ahead = new Map<EntityId, Promise<Seen>>();
  readonly #counts = { containers: 0, branches: 0, pages: 0, records: 0, bytes: 0, unlinked: 0, findingCount: 0 };
  readonly #levels = new Map<number, { -readonly [Name in keyof LevelReport]: number }>();
  readonly #created: number[] = [];
  readonly #findings: Finding[] = [];
  readonly #reported = new Set<string>();
  #isHashed = false;

  constructor(context: VerifyContext) {
    this.#context = context;
    this.#engine = context.engine;
  }

  async run(): Promise<VerifyReport> {
    const { table } = this.#engine;
    const root = await this.#read(rootId(table));
    const header = isNode(root) ? root.header : undefined;
    if (header !== undefined && header.state !== 'live') throw tableNotFound(table);
    if (isNode(root)) await this.#walk(root);
    else if (root === 'absent' && !(await this.#hasNodes())) throw tableNotFound(table);
    else {
      this.#lost(root, rootId(table), EVERYTHING);
      this.#context.watch?.lost(rootId(table), EMPTY_BYTES, undefined);
    }
    await this.#judgeUnlinked(header);
    return { ...this.#counts, ...this.#shape(), findings: this.#findings };
  }

  async #hasNodes(): Promise<boolean> {
    for await (const _ of listIds(this.#engine.driver, nodesPrefix(this.#engine.table))) return true;
    return false;
  }

  async #walk(root: Snapshot): Promise<void> {
    const { incarnation, level, order } = root.header;
    this.#isHashed = order === 'hash';
    this.#visited.add(root.id);
    this.#count(root, 1);
    let children = childrenKnown(root, this.#engine.table);
    for (let below = level - 1; below >= 0; below -= 1)
      children = await this.#walkLevel({ level: below, incarnation, nodes: children });
  }

  /** Walks one level along its links; where they break off it goes on at the next child. */
  async #walkLevel(level: Level): Promise<RoutingEntry[]> {
    const children: RoutingEntry[] = [];
    let step = stepTo(level.nodes[0], undefined);
    while (step !== undefined) {
      const { left, at } = step;
      this.#readAhead(level, at);
      const id = nodeId(this.#engine.table, level.incarnation, step.child);
      const seen = this.#visited.has(id) ? 'visited' : await this.#take(id);
      const merged = left && isGone(seen) ? await this.#nowLinking(left) : undefined;
      if (merged !== undefined) {
        step = stepAfter(merged);
        continue;
      }
      this.#visited.add(id);
      if (isNode(seen) && seen.header.state !== 'merged') {
        this.#checkPlace(seen, level, left && at);
        this.#count(seen, 1);
        children.push(...childrenKnown(seen, this.#engine.table));
        step = stepAfter(seen);
      } else {
        const next = this.#nextIn(level, at);
        this.#lost(seen, id, { from: at, to: next?.low });
        if (seen !== 'visited') this.#context.watch?.lost(id, at, level.level);
        step = stepTo(next, next?.low);
      }
    }
    for (const { child } of level.nodes) {
      const id = nodeId(this.#engine.table, level.incarnation, child);
      if (!this.#visited.has(id)) this.#named.add(id);
    }
    return children;
  }

  /** The node after a break of links. A stale entry may name one to its left. */
  #nextIn({ nodes, incarnation }: Level, at: Position): RoutingEntry | undefined {
    const isNew = (child: Id64): boolean => !this.#visited.has(nodeId(this.#engine.table, incarnation, child));
    return nodes.find(({ low, child }) => compareBytes(low, at) > 0 && isNew(child));
  }

  /** The left neighbour, if it links another node by now: it took in the one that is gone. */
  async #nowLinking(left: Snapshot): Promise<Snapshot | undefined> {
    const again = await this.#read(left.id);
    if (!isNode(again) || again.header.right === left.header.right) return undefined;
    this.#count(left, -1);
    this.#count(again, 1);
    return again;
  }

  /** The node, read ahead or now. A read ahead that shows it gone is repeated: it may be newer. */
  async #take(id: EntityId): Promise<Seen> {
    const ahead = this.#ahead.get(id);
    this.#ahead.delete(id);
    const seen = await (ahead ?? this.#read(id));
    return ahead !== undefined && isGone(seen) ? this.#read(id) : seen;
  }

  #readAhead({ nodes, incarnation }: Level, at: Position): void {
    if (this.#ahead.size > 0) return;
    const first = nodes.findIndex(({ low }) => compareBytes(low, at) > 0);
    if (first < 0) return;
    for (const { child } of nodes.slice(first, first + READ_AHEAD)) {
      const id = nodeId(this.#engine.table, incarnation, child);
      if (!this.#visited.has(id)) this.#ahead.set(id, this.#read(id));
    }
  }

  /** As stored: nothing comes from memory. Rejects only if the provider is out of reach. */
  async #read(id: EntityId): Promise<Exclude<Seen, 'visited'>> {
    const seen = this.#engine.clock.now();
    const [entity] = await sendReads(this.#engine, [{ id, parts: 'all' }]);
    if (entity === undefined) return 'absent';
    try {
      return snapshotOf(entity, this.#engine.table, seen, undefined);
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  #checkPlace({ id, header }: Snapshot, { level, incarnation }: Level, low: Position | undefined): void {
    const { low: from, high: to } = header;
    const wrong = (message: string): void => this.#report('misplaced', id, { from, to, message });
    if (header.level !== level) wrong(`the container is of level ${header.level}, not ${level}`);
    if (header.incarnation !== incarnation) wrong('the container is of another incarnation');
    if (low !== undefined && compareBytes(from, low) !== 0)
      wrong('the container does not begin where its left neighbour ends');
    if (to !== undefined && compareBytes(from, to) >= 0) wrong('the container ends before it begins');
  }

  /** Counts a container and reports its faults; with `sign` -1 takes its count back. */
  #count(snapshot: Snapshot, sign: 1 | -1): void {
    const { table, runtime } = this.#engine;
    const { header } = snapshot;
    if (sign === 1) this.#reportFaults(snapshot, true);
    this.#counts.containers += sign;
    if (header.level > 0) this.#counts.branches += sign;
    else this.#counts.records += sign * recordsIn(snapshot, table, runtime.wallMs());
    const { level, pages, createdAtMs } = header;
    const bytes = pageBytesOf(header) + encodeHeader(header).length;
    this.#counts.pages += sign * pages.length;
    this.#counts.bytes += sign * bytes;
    const own = this.#levels.get(level) ?? { level, containers: 0, pages: 0, bytes: 0 };
    own.containers += sign;
    own.pages += sign * pages.length;
    own.bytes += sign * bytes;
    this.#levels.set(level, own);
    const [oldestMs = createdAtMs, newestMs = createdAtMs] = this.#created;
    this.#created.splice(0, 2, Math.min(oldestMs, createdAtMs), Math.max(newestMs, createdAtMs));
  }

  #shape(): Pick<VerifyReport, 'levels' | 'fill' | 'oldestMs' | 'newestMs'> {
    const levels = [...this.#levels.values()].toSorted((a, b) => b.level - a.level);
    const leaves = this.#levels.get(0);
    const most = (leaves?.containers ?? 0) * this.#engine.driver.limits.entityBytesMax;
    const [oldestMs, newestMs] = this.#created;
    return { levels, fill: most === 0 ? 0 : leaves!.bytes / most, oldestMs, newestMs };
  }

  #reportFaults(snapshot: Snapshot, isLinked: boolean): void {
    let faults = 0;
    for (const { kind, ...fault } of faultsIn(snapshot, this.#engine.table, this.#context.checkValue)) {
      faults += 1;
      this.#report(kind, snapshot.id, fault);
    }
    this.#context.watch?.node(snapshot, isLinked, faults);
  }

  /** Containers that the walk did not meet: of a split under way, merged, or cut off by damage. */
  async #judgeUnlinked(root: Header | undefined): Promise<void> {
    for await (const id of listIds(this.#engine.driver, nodesPrefix(this.#engine.table))) {
      if (this.#visited.has(id)) continue;
      const incarnation = incarnationOf(id);
      if (root === undefined || incarnation === root.incarnation) await this.#checkUnlinked(id);
      else if (wasDropped(root, incarnation)) this.#counts.unlinked += 1;
      else this.#report('foreign', id, { ...EVERYTHING, message: FOREIGN });
    }
  }

  async #checkUnlinked(id: EntityId): Promise<void> {
    const seen = await this.#read(id);
    if (seen === 'absent') return;
    this.#counts.unlinked += 1;
    if (!isNode(seen)) {
      this.#lost(seen, id, EVERYTHING);
      this.#context.watch?.lost(id, EMPTY_BYTES, undefined);
      return;
    }
    this.#reportFaults(seen, false);
    const { low: from, high: to, state } = seen.header;
    if (this.#named.has(id) && state === 'live') this.#report('misplaced', id, { from, to, message: SKIPPED });
  }

  #lost(seen: Seen, id: EntityId, stretch: Stretch): void {
    if (seen instanceof StoreError) return this.#report('damaged', id, { ...stretch, message: seen.message });
    if (seen === 'visited') return this.#report('misplaced', id, { ...stretch, message: 'a link leads back' });
    const state = seen === 'absent' ? 'is not there' : 'was emptied';
    this.#report('missing', id, { ...stretch, message: `the container ${state}` });
  }

  /** A container that was read twice tells its faults once. */
  #report(kind: FindingKind, container: EntityId, { from, to, message, slot, key }: Reported): void {
    const name = JSON.stringify([container, slot, key, message]);
    if (this.#reported.has(name)) return;
    if (this.#reported.size < FINDINGS_KEPT) this.#reported.add(name);
    const bounds = { from: shown(from, this.#isHashed), to: to && shown(to, this.#isHashed) };
    const finding: Finding = { kind, container, page: slot, key, ...bounds, message };
    this.#counts.findingCount += 1;
    if (this.#findings.length < FINDINGS_KEPT) this.#findings.push(finding);
    this.#context.onFinding?.(finding);
  }
}

/** A position as reports show it. */
export function shown(position: Position, isHashed: boolean): string {
  const bytes = asBuffer(position);
  if (!isHashed) return bytes.toString('utf8');
  return `${bytes.toString('hex', 0, HASH_BYTES)} ${bytes.toString('utf8', HASH_BYTES)}`.trim();
}

function stepTo(node: RoutingEntry | undefined, at: Position = EMPTY_BYTES): Step | undefined {
  return node && { child: node.child, left: undefined, at };
}

function stepAfter(left: Snapshot): Step | undefined {
  const { right, high } = left.header;
  return right === undefined || high === undefined ? undefined : { child: right, left, at: high };
}

/** The children that the readable pages of a branch name; none of a leaf. */
function childrenKnown(branch: Snapshot, table: string): RoutingEntry[] {
  if (branch.header.level === 0) return [];
  return branch.header.pages.flatMap((ref) => {
    try {
      return childrenIn(pageOf(branch, ref, table));
    } catch {
      return [];
    }
  });
}

function isNode(seen: Seen): seen is Snapshot {
  return typeof seen !== 'string' && !(seen instanceof StoreError);
}

/** Whether its content went to its left neighbour, for all that this reading tells. */
function isGone(seen: Seen): boolean {
  return seen === 'absent' || (isNode(seen) && seen.header.state === 'merged');
}
