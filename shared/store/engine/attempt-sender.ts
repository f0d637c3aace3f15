// Sending the attempts at commits of one container, one after the other, and telling what became of each. An attempt that was refused, or whose fate
// is unknown, is settled by reading the container: never by guessing, never by sending it again (rules 3 to 5).
import { type Attempt, dropHints, dropRefusedHints, failAll, OpenAttempts } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { slotsToCommit } from '../container/compaction.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId, EntityVersion, Refused, Unknown, Write, WriteOutcome } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Header } from '../format/header.ts';
import type { EngineCore } from './core.ts';

/** While a write is open this long, reads begin to ask what became of it. */
const SETTLING_READ_AFTER_MS = 1_000;

export class AttemptSender {
  readonly #id: EntityId;
  readonly #core: EngineCore;
  readonly #open: OpenAttempts;
  /** The container as a read or an acknowledgement showed it last; undefined if it is missing. */
  seen: Snapshot | undefined;
  /** The provider refused the container as too large. */
  mustSplit = false;
  /** Attempts and reads of the container that failed since a commit was acknowledged, without those that met another's commit. */
  failuresInARow = 0;
  /** Refusals since a commit was acknowledged, as others wrote the container before. */
  conflictsInARow = 0;
  /** Whether a read has shown the container since a commit was acknowledged. */
  hasLooked = false;
  /** The attempt that was sent and is not answered. */
  underWay: Attempt | undefined;

  constructor(id: EntityId, core: EngineCore) {
    this.#id = id;
    this.#core = core;
    this.#open = new OpenAttempts(core.table);
  }

  /** Settles open attempts by what a read of the container showed; undefined if it is missing. */
  settle(now: Snapshot | undefined): void {
    this.#open.settle(now);
  }

  /** How many attempts that nobody has settled yet are among the commits that `now` counts beyond `before`. */
  landedBetween(before: Header, now: Header): number {
    return this.#open.landedBetween(before, now);
  }

  /** Forgets open attempts: their changes have all had their answers. */
  forget(): void {
    this.#open.forget();
  }

  /** The container as this reading shows it. */
  async look(reading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    this.seen = await reading;
    this.hasLooked = true;
    return this.seen;
  }

  /** Sends a commit and settles it as far as it can be now. True if it was acknowledged. */
  async send(write: Write, attempt: Attempt): Promise<boolean> {
    const { clock, recentContainers, writeBatcher } = this.#core;
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
      const first = await this.#core.deadlines.within(SETTLING_READ_AFTER_MS, writing);
      if (first !== undefined) return first;
      try {
        this.#open.settle(await this.look(this.#core.reader.readPages(this.#id, [])));
      } catch {
        // The write itself is still open: its outcome, or the next read, will tell.
      }
      if (!this.#open.has(attempt)) return undefined;
    }
  }

  #acknowledge(attempt: Attempt, version: EntityVersion, seen: Moment): void {
    const { cache, contention, counters, courtesy, recentContainers } = this.#core;
    recentContainers.noteSuccess(this.#id);
    contention.noteCommit(this.#id);
    courtesy.noteCommit(this.#id);
    this.seen = cache.offer({ id: this.#id, version, header: attempt.header, lastCommit: attempt.id, seen });
    counters.commits += 1;
    this.failuresInARow = 0;
    this.conflictsInARow = 0;
    this.hasLooked = false;
    this.mustSplit = false;
    this.#open.acknowledge(attempt);
  }

  /** Rule 7: a refusal for limit or form is final. One forced split, then an error. */
  #giveUp(attempt: Attempt, { reason, cause }: Refused): void {
    this.#open.withdraw(attempt);
    const isTooLarge = reason === 'limit';
    this.mustSplit = isTooLarge && !this.mustSplit;
    if (this.mustSplit) return;
    if (isTooLarge) this.fail(attempt.changes, 'too_large', 'the provider refused the container as too large', cause);
    else this.fail(attempt.changes, 'invalid', 'the provider refused the form of the write', cause);
  }

  /** Fails the changes. */
  fail(changes: readonly Change[], code: 'too_large' | 'invalid', message: string, cause?: unknown): void {
    failAll(changes, new StoreError(code, message, { container: this.#id, cause }), this.#core.table);
  }

  async #settleByReading(attempt: Attempt, outcome: Refused | Unknown): Promise<void> {
    const { counters, courtesy, reader, recentContainers } = this.#core;
    recentContainers.noteFailure(this.#id);
    if (outcome.kind === 'refused') {
      attempt.refused = true;
      counters.conflicts += 1;
      this.conflictsInARow += 1;
      courtesy.noteRefusal(this.#id);
      dropRefusedHints(attempt.changes);
    } else {
      dropHints(attempt.changes);
      this.failuresInARow += 1;
      counters.unknownOutcomes += 1;
    }
    const { base, changes } = attempt;
    this.#open.settle(await this.look(reader.readToCommit(base, slotsToCommit(base, changes))));
    // Nobody got ahead of it: another attempt at once would be refused as this one was.
    if (outcome.kind === 'refused' && this.#open.has(attempt)) this.failuresInARow += 1;
  }
}
