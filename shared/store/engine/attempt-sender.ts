// Sends a container's attempts one after the other. Refused or unknown, an attempt is settled by a
// read of the container: never by guessing, never by sending it again (rules 3 to 5).
import { type Attempt, dropHints, dropRefusedHints, failAll, firstDueMs, OpenAttempts } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { slotsToCommit } from '../container/compaction.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, EntityVersion, Refused, Unknown, Write } from '../contract/driver.ts';
import { refusedError, type StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { count } from '../io/counters.ts';
import { LOST_AFTER_MS } from '../io/send.ts';
import { Backoff } from './backoff.ts';
import type { EngineCore } from './core.ts';

/** A write that may be lost is asked after; near a deadline sooner, but not below the least. */
const SETTLING_READ_LEAST_MS = 100;

export class AttemptSender {
  readonly #id: EntityId;
  readonly #core: EngineCore;
  /** Attempts that were sent and are not settled. */
  readonly open: OpenAttempts;
  /** The container as a read or an acknowledgement showed it last; undefined if it is missing. */
  seen: Snapshot | undefined;
  /** The provider refused the container as too large. */
  mustSplit = false;
  readonly backoff = new Backoff();
  /** Whether a read has shown the container since a commit was acknowledged. */
  hasLooked = false;
  /** The attempt that was sent and is not answered. */
  underWay: Attempt | undefined;
  /** Callers left before the last attempt was sent, so it was not. */
  wasTakenBack = false;
  /** Another write was sent beside one, and that is not answered: no third is sent. */
  #isOneOverdue = false;

  constructor(id: EntityId, core: EngineCore) {
    this.#id = id;
    this.#core = core;
    this.open = new OpenAttempts(core.table);
  }

  /** The container as this reading shows it. */
  async look(reading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    this.#core.traffic.noteRequest(this.#id);
    return this.#seeNow(await reading);
  }

  /**
   * Sends a commit and settles it as far as it can be now. True if it was acknowledged. Rule 3: it
   * departs only while all its callers wait.
   */
  async send(write: Write, attempt: Attempt): Promise<boolean> {
    const { clock, traffic, writeBatcher } = this.#core;
    // It counts as sent at once: else callers who leave one by one would take back each attempt.
    if (this.wasTakenBack && !this.#begin(attempt)) return false;
    this.underWay = attempt;
    const sent = clock.now();
    const departs = (): boolean => this.open.has(attempt) || this.#begin(attempt);
    const sending = writeBatcher.send(write, traffic.sendsAlone(this.#id), departs);
    const outcome = await this.#outcomeOrSettlement(sending, attempt, sent.monotonicMs);
    this.underWay = undefined;
    if (outcome === undefined || outcome.kind === 'taken back') return false;
    if (outcome.kind === 'written') {
      this.#acknowledge(attempt, outcome.version, sent);
      return true;
    }
    if (outcome.kind === 'refused' && outcome.reason === 'throttled') await this.#waitForRoom(attempt, outcome);
    else if (outcome.kind === 'refused' && outcome.reason === 'unsent')
      this.#takeBack(attempt, outcome, sent.monotonicMs);
    else if (outcome.kind === 'refused' && outcome.reason !== 'condition') this.#giveUp(attempt, outcome);
    else await this.#settleByReading(attempt, outcome);
    return false;
  }

  /** False if a caller has left. */
  #begin(attempt: Attempt): boolean {
    this.wasTakenBack = attempt.changes.some(({ isSettled }) => isSettled);
    if (this.wasTakenBack) return false;
    this.open.begin(attempt);
    this.#core.traffic.noteRequest(this.#id);
    return true;
  }

  /**
   * The write's outcome; undefined if a settling read told its fate before. If it left and a read
   * shows the base still, it is overdue: another competes with it (rule 3), and nobody hears it.
   */
  async #outcomeOrSettlement<O extends { kind: string }>(
    writing: Promise<O>,
    attempt: Attempt,
    sentMs: number,
  ): Promise<O | Unknown | undefined> {
    for (let nowMs = sentMs; ; nowMs = this.#core.runtime.monotonicMs()) {
      const first = await this.#core.deadlines.within(settlingPauseMs(attempt, nowMs), writing, nowMs);
      if (first !== undefined) return first;
      const answered = await Promise.race([writing, this.#readWhileOpen()]);
      if ('kind' in answered) return answered;
      if ('now' in answered) this.open.settle(this.#seeNow(answered.now));
      if (this.#core.writeBatcher.isWaiting(this.#id)) continue;
      if (!this.open.has(attempt)) return undefined;
      if ('now' in answered && !this.#isOneOverdue) return this.#giveUpHearing(writing);
    }
  }

  #giveUpHearing(writing: Promise<unknown>): Unknown {
    this.#isOneOverdue = true;
    const answered = (): void => {
      this.#isOneOverdue = false;
    };
    // Nobody hears a rejection either: it must not end the process.
    void writing.then(answered, answered);
    return { kind: 'unknown', reason: 'other' };
  }

  /** A read's answer; nothing if it fails: then the write's outcome or the next read will tell. */
  #readWhileOpen(): Promise<{ readonly now: Snapshot | undefined } | { readonly isFailed: true }> {
    this.#core.traffic.noteRequest(this.#id);
    return this.#core.reader.readPages(this.#id, []).then(
      (now) => ({ now }),
      () => ({ isFailed: true }),
    );
  }

  #seeNow(now: Snapshot | undefined): Snapshot | undefined {
    this.seen = now;
    this.hasLooked = true;
    return now;
  }

  /**
   * Rule 7: before a pause that leaves a caller no time for it, one read tells whether what was
   * turned away was applied after all. If that cannot be had in time, its fate is not known.
   */
  async clearBefore(pauseMs: number): Promise<void> {
    const leftMs = this.open.doubtDueMs - this.#core.runtime.monotonicMs();
    if (pauseMs < leftMs / 2) return;
    const read = await this.#core.deadlines.within(leftMs, this.#readWhileOpen());
    if (read !== undefined && 'now' in read) this.open.settleAndClear(this.#seeNow(read.now));
  }

  #acknowledge(attempt: Attempt, version: EntityVersion, seen: Moment): void {
    const { cache, traffic } = this.#core;
    traffic.noteCommit(this.#id, attempt.changes);
    this.seen = cache.offer({ id: this.#id, version, header: attempt.header, lastCommit: attempt.id, seen });
    count(this.#core, 'commits');
    this.backoff.end();
    this.hasLooked = false;
    this.mustSplit = false;
    this.open.acknowledge(attempt);
  }

  /** Only earlier attempts are asked after at once: a read may tell of them in time. */
  async #waitForRoom(attempt: Attempt, refused: Refused): Promise<void> {
    const { table, reader } = this.#core;
    attempt.answer = 'throttled';
    this.noteTurnedAway(refusedError(refused, table, this.#id), attempt.changes);
    if (this.open.mayLand) this.open.settleAndClear(await this.look(reader.readPages(this.#id, [])));
  }

  /** Nothing of it left: another attempt may follow without a read. */
  #takeBack(attempt: Attempt, unsent: Refused, sentMs: number): void {
    this.open.withdraw(attempt);
    this.noteTurnedAway(refusedError(unsent, this.#core.table, this.#id), attempt.changes, sentMs);
  }

  /**
   * Changes, or nodes that they need, were throttled or did not leave: the pause and the callers
   * hear it. Callers of whom nothing ever left wait no longer than that is worth (rule 7).
   */
  noteTurnedAway(refusal: StoreError, changes: readonly Change[], sentMs = Infinity): void {
    const nowMs = this.#core.runtime.monotonicMs();
    for (const change of changes) change.throttling = refusal;
    dropHints(changes);
    if (refusal.code === 'throttled') this.backoff.noteThrottled(refusal);
    else if (this.backoff.noteUnsent(refusal, Math.min(sentMs, nowMs), nowMs))
      this.fail(
        changes.filter(({ openAttempts }) => !refusal.retryable || openAttempts === 0),
        refusal,
      );
  }

  /** Rule 7: such a refusal is final. For size one forced split comes first. */
  #giveUp(attempt: Attempt, refused: Refused): void {
    const { table } = this.#core;
    this.open.withdraw(attempt);
    this.mustSplit = refused.reason === 'limit' && !this.mustSplit;
    if (!this.mustSplit) this.fail(attempt.changes, refusedError(refused, table, this.#id));
  }

  fail(changes: readonly Change[], error: StoreError): void {
    failAll(changes, error, this.#core.table);
  }

  async #settleByReading(attempt: Attempt, outcome: Refused | Unknown): Promise<void> {
    const { reader, traffic } = this.#core;
    traffic.noteFailure(this.#id, outcome.kind === 'refused');
    this.backoff.noteSent();
    if (outcome.kind === 'refused') {
      attempt.answer = 'refused';
      count(this.#core, 'conflicts');
      dropRefusedHints(attempt.changes);
    } else {
      dropHints(attempt.changes);
      if (outcome.reason === 'throttled') this.backoff.noteThrottled();
      else this.backoff.failuresInARow += 1;
      count(this.#core, 'unknownOutcomes');
    }
    const { base, changes } = attempt;
    this.open.settle(await this.look(reader.readPages(base.id, slotsToCommit(base, changes), base)));
    // Nobody got ahead of it: another attempt at once would be refused as this one was.
    if (outcome.kind === 'refused' && this.open.has(attempt)) this.backoff.failuresInARow += 1;
  }
}

/** Half of the first caller's time, so that a read can still prove the outcome. */
function settlingPauseMs({ changes }: Attempt, nowMs: number): number {
  const leftMs = firstDueMs(changes) - nowMs;
  return Math.min(LOST_AFTER_MS, Math.max(SETTLING_READ_LEAST_MS, leftMs / 2));
}
