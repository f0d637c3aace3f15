// One container's queue of changes. While a commit is under way later changes gather; then all go in one. A commit that was refused, or
// whose fate is unknown, is settled by reading the container: never by guessing, never by sending the same thing again (rules 3 to 6).
import { type Attempt, dropHints, OpenAttempts, settleAll } from '../container/attempts.ts';
import { byPosition, type Change, type Verdict } from '../container/change.ts';
import { pagesToCommit } from '../container/compaction.ts';
import { evaluate, type Evaluation } from '../container/evaluate.ts';
import { type Plan, planCommit } from '../container/plan-commit.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, Refused, Unknown, Write, WriteOutcome } from '../contract/driver.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';
import { ON_THE_SPOT } from '../format/compression.ts';
import type { Header } from '../format/header.ts';
import { drawId } from '../io/clock.ts';
import type { Engine } from './core.ts';
import { type InsertedNode, insertNodes } from './insert-nodes.ts';
import { sealPages } from './seal-pages.ts';

/** While a write is open this long, reads begin to ask what became of it. */
const SETTLING_READ_AFTER_MS = 1_000;
/** Changes in one commit, at most: bounds its memory, and how long its evaluation keeps the process from all else (some 20 ms). */
const GROUP_COUNT_MAX = 5_000;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** After so many failed commits in a row the container is split although small: its traffic is too much for one entity. */
const FAILURES_BEFORE_SPLIT = 8;
const BACKOFF_FIRST_MS = 5;
const BACKOFF_MOST_MS = 500;
/** Pages are read together with the header that names them; a header that keeps moving is read whole in the end. */
const PAGE_READS_BEFORE_WHOLE = 2;

export class CommitQueue {
  readonly #id: EntityId;
  readonly #engine: Engine;
  /** All that wait, and those whose commit is under way: a change leaves when it is settled or sent on. */
  #changes: Change[] = [];
  #latest: Snapshot | undefined;
  readonly #open: OpenAttempts;
  #failuresInARow = 0;
  #mustSplit = false;
  #pageReads = 0;
  /** Work was lost because a call ended meanwhile: the next round waits for no other thread. */
  #mustHurry = false;
  #isRunning = false;
  /** The attempt that was sent and is not answered. */
  underWay: Attempt | undefined;

  constructor(id: EntityId, engine: Engine) {
    this.#id = id;
    this.#engine = engine;
    this.#open = new OpenAttempts((change) => engine.unknown(change));
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) this.#changes.push(change);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      try {
        await this.#awaitTurn();
        await this.#engine.limitCommits(() => this.#round());
        if (this.#failuresInARow > 0) await this.#engine.runtime.sleep(this.#backoffMs());
      } catch (error) {
        await this.#afterError(error);
      }
    }
    this.#isRunning = false;
    this.#latest = undefined;
    this.#open.forget();
    this.#engine.queueIsIdle(this.#id);
  }

  /** Until the container may be committed to again, where commits are capped. */
  async #awaitTurn(): Promise<void> {
    const { commitIntervalMs, recentContainers, runtime } = this.#engine;
    if (commitIntervalMs === 0) return;
    const dueMs = (recentContainers.committedMs.get(this.#id) ?? -Infinity) + commitIntervalMs;
    if (dueMs > runtime.monotonicMs()) await runtime.sleep(dueMs - runtime.monotonicMs());
  }

  #hasWork(): boolean {
    this.#changes = this.#changes.filter((change) => !change.isSettled);
    return this.#changes.length > 0;
  }

  /** Full jitter, doubling. */
  #backoffMs(): number {
    const ceiling = Math.min(BACKOFF_MOST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(10, this.#failuresInARow));
    return (asBuffer(this.#engine.runtime.random(2)).readUInt16BE() / 0xffff) * ceiling;
  }

  /** One step towards emptying the queue: a read that was lacking, or one commit with its settling. */
  async #round(): Promise<void> {
    if (this.#changes.length > 1 && this.#engine.turns.isLong) await this.#engine.turns.pause();
    const snapshot = this.#latestKnown() ?? (await this.#look(this.#engine.reader.readPages(this.#id, [])));
    this.#open.settle(snapshot);
    if (!this.#hasWork()) return;
    if (snapshot === undefined) return this.#engine.routeAfterMiss(this.#id, this.#changes.splice(0));
    const group = this.#sortOut(snapshot);
    if (group.length === 0) return;
    const unread = pagesToCommit(snapshot, group);
    if (unread.length > 0) {
      this.#engine.counters.cacheMisses += group.length;
      return this.#readPages(unread.map((ref) => ref.slot));
    }
    this.#pageReads = 0;
    this.#engine.counters.cacheHits += group.length;
    const nowMs = this.#engine.runtime.wallMs();
    const evaluation = await this.#evaluate(snapshot, group, nowMs);
    if (evaluation === undefined) return;
    const isCarried = group.some((change) => change.openAttempts > 0);
    if (evaluation.appliedCount === 0 && !isCarried)
      return this.#confirmNegatives(snapshot, group, evaluation.verdicts);
    await this.#commit(snapshot, group, evaluation, nowMs);
  }

  /** The cache may have no room for the container: what this queue read last is kept beside it while the queue works. */
  #latestKnown(): Snapshot | undefined {
    const cached = this.#engine.cache.get(this.#id);
    if (this.#latest === undefined || cached === undefined) return this.#latest ?? cached;
    return cached.header.commitCount > this.#latest.header.commitCount ? cached : this.#latest;
  }

  async #look(reading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    this.#latest = await reading;
    return this.#latest;
  }

  async #readPages(slots: readonly number[]): Promise<void> {
    this.#pageReads += 1;
    if (this.#pageReads > PAGE_READS_BEFORE_WHOLE) await this.#look(this.#engine.reader.readIntact(this.#id));
    else await this.#look(this.#engine.reader.readPages(this.#id, slots));
  }

  /** The changes that belong here, as many as one commit takes, in order of position; the others are sent on their way. */
  #sortOut(snapshot: Snapshot): Change[] {
    const here: Change[] = [];
    const kept: Change[] = [];
    const astray: Change[] = [];
    const right = new Map<EntityId, Change[]>();
    let bytes = 0;
    const sendRight = (id: EntityId, change: Change): void => {
      const sent = right.get(id);
      if (sent === undefined) right.set(id, [change]);
      else sent.push(change);
    };
    for (const change of this.#changes) {
      const step = this.#engine.tree.step(snapshot, change.position, change.level);
      if (step !== 'restart' && change.order !== undefined && change.order !== snapshot.header.order)
        change.settle({ kind: 'failed', error: orderChanged(this.#engine.table) });
      else if (step === 'here') {
        (here.length < GROUP_COUNT_MAX && bytes < GROUP_BYTES_MAX ? here : kept).push(change);
        bytes += change.bytes;
      } else if (step === 'restart') astray.push(change);
      else sendRight(step.id, change);
    }
    here.sort(byPosition);
    this.#changes = [...here, ...kept];
    for (const [id, changes] of right) this.#engine.enqueue(id, changes);
    if (astray.length > 0) this.#engine.routeAstray(snapshot, astray);
    return here;
  }

  /** Rule 6: a verdict that no commit carries needs a read, sent after the call began, that shows this version. */
  async #confirmNegatives(snapshot: Snapshot, group: readonly Change[], verdicts: readonly Verdict[]): Promise<void> {
    const isConfirmed = group.every((change) => snapshot.seen.tick > change.begunTick);
    if (isConfirmed || (await this.#engine.reader.isCurrent(snapshot))) return settleAll(group, verdicts);
    await this.#look(this.#engine.reader.readPages(this.#id, []));
  }

  /** Undefined if a call ended while pages were compressed: it was told that nothing was written, and that stays true. */
  async #evaluate(snapshot: Snapshot, group: readonly Change[], nowMs: number, mergesAll = false) {
    const { rules, deadlines, turns } = this.#engine;
    const compressor = this.#mustHurry ? ON_THE_SPOT : this.#engine.compressor;
    const unsealed = evaluate(snapshot, group, { ...rules, nowMs, mergesAll });
    if (group.length > 1) await turns.pause();
    const evaluation = await sealPages(unsealed, snapshot.header, { rules, deadlines, compressor });
    if (group.length > 1) await turns.pause();
    this.#mustHurry = group.some((change) => change.isSettled);
    return this.#mustHurry ? undefined : evaluation;
  }

  async #commit(snapshot: Snapshot, group: readonly Change[], evaluation: Evaluation, nowMs: number): Promise<void> {
    const engine = this.#engine;
    const attemptId = drawId(engine.runtime);
    const mustSplit = this.#mustSplit || this.#failuresInARow >= FAILURES_BEFORE_SPLIT;
    const input = { snapshot, evaluation, attempt: attemptId, mustSplit, nowMs, drawId: () => drawId(engine.runtime) };
    const plan = planCommit(input, engine.rules);
    switch (plan.kind) {
      case 'needs_whole':
        await this.#look(engine.reader.readIntact(this.#id));
        return;
      case 'needs_merge': {
        const merged = await this.#evaluate(snapshot, group, nowMs, true);
        return merged === undefined ? undefined : this.#commit(snapshot, group, merged, nowMs);
      }
      case 'too_large':
        return this.#failGroup(
          group,
          new StoreError('too_large', 'the record does not fit into a container', { container: this.#id }),
        );
      case 'split':
        return this.#commitSplit(snapshot, group, evaluation, plan, attemptId);
      case 'update':
        await this.#send(plan.write, this.#attempt(attemptId, snapshot, group, evaluation, plan.header));
        return;
      default:
        plan satisfies never;
    }
  }

  /** Rules 8 to 10: look again, insert the new nodes, and only when all of them are there link them, on this very base. */
  async #commitSplit(
    snapshot: Snapshot,
    group: readonly Change[],
    evaluation: Evaluation,
    { inserts, left }: Extract<Plan, { kind: 'split' }>,
    attemptId: string,
  ): Promise<void> {
    const engine = this.#engine;
    if (!(await engine.reader.isCurrent(snapshot))) {
      await this.#look(engine.reader.readPages(this.#id, []));
      return;
    }
    const inserted = await insertNodes(engine, inserts, attemptId);
    if (inserted === undefined) {
      this.#failuresInARow += 1;
      dropHints(group);
      return;
    }
    // Whose call ended meanwhile was told that nothing was written: that stays true.
    if (group.some((change) => change.isSettled)) return;
    const attempt = this.#attempt(attemptId, snapshot, group, evaluation, left.header);
    if (await this.#send(left.write, attempt)) this.#announce(left.header, inserted);
  }

  /** The new nodes are linked now: they may be cached, and their parent told. A root's children are in the root already. */
  #announce(left: Header, inserted: readonly InsertedNode[]): void {
    const engine = this.#engine;
    engine.counters.splits += 1;
    for (const { header, snapshot } of inserted) {
      if (snapshot !== undefined) engine.cache.offer(snapshot);
      if (left.level === header.level)
        engine.repair(header.level + 1, header.incarnation, header.low, header.container);
    }
  }

  #attempt(id: string, base: Snapshot, changes: readonly Change[], { verdicts }: Evaluation, header: Header): Attempt {
    return { id, base, changes, verdicts, header, refused: false };
  }

  /** Sends a commit and settles it as far as it can be now. True if it was acknowledged. */
  async #send(write: Write, attempt: Attempt): Promise<boolean> {
    const { clock, recentContainers, writeBatcher } = this.#engine;
    this.#open.begin(attempt);
    this.underWay = attempt;
    const sent = clock.now();
    const sending = writeBatcher.send(write, recentContainers.failedRecently(this.#id), attempt.changes.length);
    const outcome = await this.#outcomeOrSettlement(sending, attempt);
    this.underWay = undefined;
    if (outcome === undefined) return false;
    if (outcome.kind === 'written') {
      this.#acknowledge(attempt, outcome.version, sent);
      return true;
    }
    if (outcome.kind === 'refused' && outcome.reason !== 'condition') this.#giveUp(attempt, outcome);
    else await this.#settleByReading(attempt, outcome);
    return false;
  }

  /** The write's outcome; undefined if a settling read told its fate before. */
  async #outcomeOrSettlement(writing: Promise<WriteOutcome>, attempt: Attempt): Promise<WriteOutcome | undefined> {
    for (;;) {
      const first = await this.#engine.deadlines.within(SETTLING_READ_AFTER_MS, writing);
      if (first !== undefined) return first;
      try {
        this.#open.settle(await this.#look(this.#engine.reader.readPages(this.#id, [])));
      } catch {
        // The write itself is still open: its outcome, or the next read, will tell.
      }
      if (!this.#open.has(attempt)) return undefined;
    }
  }

  #acknowledge(attempt: Attempt, version: string, seen: Moment): void {
    const { cache, commitIntervalMs, counters, recentContainers } = this.#engine;
    if (commitIntervalMs > 0) recentContainers.committedMs.set(this.#id, seen.monotonicMs);
    recentContainers.noteSuccess(this.#id);
    this.#latest = cache.offer({ id: this.#id, version, header: attempt.header, lastCommit: attempt.id, seen });
    counters.commits += 1;
    this.#failuresInARow = 0;
    this.#mustSplit = false;
    this.#open.acknowledge(attempt);
  }

  /** Rule 7: a refusal for limit or form is final. One forced split, then an error. */
  #giveUp(attempt: Attempt, { reason, cause }: Refused): void {
    this.#open.withdraw(attempt);
    if (reason === 'limit' && !this.#mustSplit) {
      this.#mustSplit = true;
      return;
    }
    this.#mustSplit = false;
    const error =
      reason === 'limit'
        ? new StoreError('too_large', 'the provider refused the container as too large', { container: this.#id, cause })
        : new StoreError('invalid', 'the provider refused the form of the write', { container: this.#id, cause });
    this.#failGroup(attempt.changes, error);
  }

  async #settleByReading(attempt: Attempt, outcome: Refused | Unknown): Promise<void> {
    const { counters, recentContainers } = this.#engine;
    this.#failuresInARow += 1;
    recentContainers.noteFailure(this.#id);
    if (outcome.kind === 'refused') {
      attempt.refused = true;
      counters.conflicts += 1;
    } else {
      counters.unknownOutcomes += 1;
    }
    dropHints(attempt.changes);
    this.#open.settle(await this.#look(this.#engine.reader.readPages(this.#id, [])));
  }

  #failGroup(group: readonly Change[], error: unknown): void {
    for (const change of group) {
      const isOpen = change.openAttempts > 0;
      change.settle({ kind: 'failed', error: isOpen ? this.#engine.unknown(change, error) : error });
    }
  }

  /** A read failed for good. What was never sent fails with it; what was sent is still to be settled, until its deadline. */
  async #afterError(error: unknown): Promise<void> {
    this.#latest = undefined;
    const canRecover = error instanceof StoreError && error.retryable;
    const isSent = (change: Change): boolean => canRecover && change.openAttempts > 0;
    this.#failGroup(
      this.#changes.filter((change) => !isSent(change)),
      error,
    );
    this.#failuresInARow += 1;
    await this.#engine.runtime.sleep(this.#backoffMs());
  }
}
