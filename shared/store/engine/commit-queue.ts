// A container's queue of changes. While a commit is under way later ones gather, then go in one.
import { failAll, refusalsOf } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { planCompaction } from '../container/compaction.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { sortChanges, type SortedChanges } from '../container/sort-changes.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { rootId } from '../format/ids.ts';
import { count } from '../io/counters.ts';
import type { Backoff } from './backoff.ts';
import { inOperation } from '../system/tracing.ts';
import { beforeBound } from '../format/position.ts';
import { Absorbing } from './absorbing.ts';
import type { AttemptSender } from './attempt-sender.ts';
import { Committer } from './committer.ts';
import type { EngineCore } from './core.ts';
import { Latest } from './latest.ts';
import { Pauses } from './pauses.ts';
import type { Routes } from './route.ts';

export class CommitQueue {
  readonly #id: EntityId;
  readonly #core: EngineCore;
  readonly #routes: Routes;
  readonly #committer: Committer;
  /** All that wait or are under way: a change leaves when it is settled or sent on. */
  #changes: Change[] = [];
  readonly #latest: Latest;
  readonly #pauses: Pauses;
  #isRunning = false;
  /** How long this queue leaves its container alone now, as others come first. */
  #restMs = 0;
  /** A right neighbour that retired, and goes in with the next commit. */
  #absorbing: Absorbing | undefined;
  /** The changes that this round is about, and the container it met. */
  #tried: { readonly snapshot: Snapshot; readonly group: readonly Change[] } | undefined;

  constructor(id: EntityId, core: EngineCore, routes: Routes) {
    this.#id = id;
    this.#core = core;
    this.#routes = routes;
    this.#committer = new Committer(id, core);
    this.#latest = new Latest(id, core);
    this.#pauses = new Pauses(core.runtime, this.#backoff, () => this.isAwaited);
  }

  /** Knows the attempts that were sent. */
  get sender(): AttemptSender {
    return this.#committer.sender;
  }

  /** `retired`: the right neighbour, to be absorbed before other commits (rule 27). */
  add(changes: readonly Change[], retired?: Snapshot): void {
    const { throttling } = this.#backoff;
    const nowMs = this.#core.runtime.monotonicMs();
    for (const change of changes) {
      change.queuedMs = nowMs;
      change.throttling = throttling;
      this.#changes.push(change);
    }
    if (retired !== undefined) this.#absorbing ??= new Absorbing(retired, this.#core);
    if (changes.some(({ isHint }) => !isHint)) this.#pauses.wake();
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      try {
        await this.#roundInLine();
        if (this.#restMs > 0) await this.#rest();
        else if (this.#doublings > 0) await this.#backOff();
      } catch (error) {
        await this.#afterError(error);
      }
    }
    this.#routes.queueIsIdle(this.#id);
  }

  #hasWork(): boolean {
    this.#changes = this.#changes.filter((change) => !change.isSettled);
    return this.#changes.length > 0 || this.#absorbing !== undefined;
  }

  get #doublings(): number {
    const hintRefusals = this.#areHints ? refusalsOf(this.#changes) : 0;
    return this.#backoff.doublings(hintRefusals) + (this.#absorbing?.unsureInARow ?? 0);
  }

  get #backoff(): Backoff {
    return this.sender.backoff;
  }

  get #areHints(): boolean {
    return this.#hasWork() && !this.isAwaited;
  }

  /** Whether somebody waits for what it does: nobody waits for hints. */
  get isAwaited(): boolean {
    return this.#changes.some(({ isHint, isSettled }) => !isHint && !isSettled);
  }

  /** Until it is worth trying again, or a change came that somebody waits for. */
  async #backOff(): Promise<void> {
    const pauseMs = this.#pauses.backoffMs(this.#doublings, this.#areHints);
    if (this.#areHints) return this.#pauses.untilWoken(pauseMs);
    await this.sender.clearBefore(pauseMs);
    await this.#pauses.whileAwaited(pauseMs);
  }

  async #roundInLine(): Promise<void> {
    const { commitsAtATime } = this.#core;
    // Also where there is room: changes of the same moment gather.
    await commitsAtATime.acquire();
    try {
      await inOperation(this.#changes[0]?.operation, () => this.#round());
    } finally {
      commitsAtATime.release();
    }
  }

  /** One step towards emptying the queue: a read that was lacking, or one attempt at a commit. */
  async #round(): Promise<void> {
    const { clock, reader, traffic, turns } = this.#core;
    this.#tried = undefined;
    if (this.#changes.length > 1 && turns.isLong) await turns.pause();
    const snapshot = this.#latest.known ?? (await this.#latest.read(reader.readUnknown(this.#id)));
    const now = clock.now();
    this.sender.open.settle(snapshot);
    if (!this.#hasWork()) return;
    if (snapshot === undefined) return this.#sendFromMissing();
    if (this.#absorbing !== undefined) return this.#absorb(snapshot, this.#absorbing);
    const group = this.#sortOut(snapshot);
    if (group.length === 0) return;
    this.#tried = { snapshot, group };
    if (this.#latest.isReadDue(snapshot, now)) return this.#latest.readFirst(snapshot, group);
    this.#restMs = this.#pauses.mayRest ? traffic.restMs(snapshot) : 0;
    if (this.#restMs > 0) return;
    const { unread, target } = planCompaction(snapshot, group);
    if (unread.length > 0) {
      count(this.#core, 'cacheMisses', group.length);
      return this.#latest.readPages(unread.map((ref) => ref.slot));
    }
    this.#latest.endPageReads();
    this.#pauses.endRests();
    count(this.#core, 'cacheHits', group.length);
    this.#latest.noteCommit(
      await this.#committer.commit({ snapshot, changes: group, now, target }),
      this.sender.hasLooked,
    );
  }

  /** A missing leaf lost its content to its left (rule 15); a branch is sought anew. */
  #sendFromMissing(): void {
    this.#absorbing = undefined;
    const changes = this.#changes.splice(0);
    const isLeaf = changes.every(({ level }) => level === 0) && this.#id !== rootId(this.#core.table);
    if (isLeaf) this.#routes.routeLeft(this.#id, undefined, changes);
    else this.#routes.routeAfterMiss(this.#id, changes);
  }

  /** Whether an open attempt carries a change: sent elsewhere it might be done twice. */
  get #isCarrying(): boolean {
    return this.#changes.some(({ isSettled, openAttempts }) => !isSettled && openAttempts > 0);
  }

  /** Rule 27: the next commit takes the neighbour in. Nobody rests before it. */
  async #absorb(snapshot: Snapshot, absorbing: Absorbing): Promise<void> {
    const base = await absorbing.baseOn(snapshot, this.#isCarrying);
    if (base === 'unsure') return;
    if (base === undefined) {
      absorbing.mendParent();
      this.#absorbing = undefined;
      if (this.#isCarrying) await this.#latest.read(this.#core.reader.readPages(this.#id, []));
      return;
    }
    this.sender.open.settle(base.left);
    // A copy is no place to write to before it is linked: what is not for this commit waits.
    const { here } = this.#sorted(base.joined);
    const commit = { snapshot: base.left, changes: here, now: this.#core.clock.now(), upkeep: base };
    this.#latest.noteCommit(await this.#committer.commit(commit), this.sender.hasLooked);
  }

  /** Afterwards the container is read again: there is more of it, or less. */
  async #rest(): Promise<void> {
    await this.#pauses.rest(this.#restMs);
    count(this.#core, 'rests');
    this.#restMs = 0;
    this.#latest.noteRest();
  }

  /** The changes for one commit, in order of position; others are sent on their way. */
  #sortOut(snapshot: Snapshot): Change[] {
    const { here, later, right, gone, restart } = this.#sorted(snapshot);
    this.#changes = [...here, ...later];
    if (right.length > 0) this.#routes.routeBeyond(snapshot, right);
    if (gone.length > 0) this.#routes.routeLeft(snapshot.id, snapshot, gone);
    if (restart.length > 0) this.#routes.routeAstray(snapshot, restart);
    return here;
  }

  #sorted({ header }: Snapshot): SortedChanges {
    return sortChanges(this.#changes, header, {
      countMax: this.#committer.groupCountMax,
      table: this.#core.table,
    });
  }

  /** A change that was never sent fails with the read; others wait for their deadline. */
  async #afterError(error: unknown): Promise<void> {
    this.#latest.forget();
    if (this.#absorbing !== undefined && isDamage(error)) return this.#giveUpAbsorbing(this.#absorbing.retired, error);
    const damaged = isDamage(error) ? this.#needingDamaged() : [];
    if (damaged.length > 0) return failAll(damaged, error, this.#core.table);
    const canRecover = error instanceof StoreError && error.retryable;
    const isSent = (change: Change): boolean => canRecover && !change.isHint && change.openAttempts > 0;
    const failed = this.#changes.filter((change) => !isSent(change));
    failAll(failed, error, this.#core.table);
    // The next writer that meets it tries again.
    if (!this.#isCarrying) this.#absorbing = undefined;
    if (error instanceof StoreError && error.code === 'throttled') this.#backoff.noteThrottled();
    else this.#backoff.failuresInARow += 1;
    await this.#pauses.whileAwaited(this.#pauses.backoffMs(this.#doublings, this.#areHints));
  }

  /** The changes that would need a damaged page also alone: others can do without it. */
  #needingDamaged(): Change[] {
    const { snapshot, group = [] } = this.#tried ?? {};
    return group.filter((change) =>
      planCompaction(snapshot!, [change]).unread.some(({ content }) => content.damage !== undefined),
    );
  }

  /** Its keys fail; changes beyond go on along its link, once; the leaf's own remain. */
  #giveUpAbsorbing(retired: Snapshot, damage: StoreError): void {
    const { low, high } = retired.header;
    const others = this.#changes.filter(({ position }) => !beforeBound(position, low));
    const failed = others.filter(
      ({ position, passed }) => beforeBound(position, high) || (passed !== undefined && compareBytes(passed, low) >= 0),
    );
    this.#absorbing = undefined;
    this.#changes = this.#changes.filter(({ position }) => beforeBound(position, low));
    failAll(failed, damage, this.#core.table);
    this.#routes.routeBeyond(retired, others);
  }
}

function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'corrupt';
}
