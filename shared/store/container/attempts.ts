// Attempts and their settling (rules 3 and 4): an attempt is one try at a commit. If it landed it
// is exactly commit number base + 1 of its container; a read of that container tells, and nothing
// else does.
import { StoreError } from '../contract/errors.ts';
import type { Id64 } from '../format/bytes.ts';
import { commitIdAt, type Header } from '../format/header.ts';
import { decodeKey } from '../format/position.ts';
import type { Change, Verdict } from './change.ts';
import type { Snapshot } from './snapshot.ts';

export interface Attempt {
  readonly id: Id64;
  readonly base: Snapshot;
  readonly changes: readonly Change[];
  readonly verdicts: readonly Verdict[];
  /** The header it would have written. */
  readonly header: Header;
  /**
   * The provider's word. `refused`: certainly not applied. `throttled`: something on the way may
   * have sent it twice. `cleared`: a read after that did not show it (rule 7).
   */
  answer: 'none' | 'refused' | 'throttled' | 'cleared';
  /** Called once, when an acknowledgement or a reading tells that it landed. */
  readonly landed: () => void;
}

/**
 * A reading of the attempt's container says (rule 3): `landed`, it is commit base + 1 and its
 * verdicts hold; `lost`, it never will land; `open`, it may land yet; `unknown`, nothing can tell
 * any more.
 */
export type Settlement = 'landed' | 'lost' | 'open' | 'unknown';

/** `now` is what a read of the attempt's container showed; undefined if it is missing. */
export function settlementOf(attempt: Attempt, now: Snapshot | undefined): Settlement {
  const { base } = attempt;
  if (now === undefined) return 'unknown';
  if (now.version === base.version) return 'open';
  const number = base.header.commitCount + 1;
  const id = commitIdAt(now.header, number);
  if (id === attempt.id) return 'landed';
  if (id !== undefined) return 'lost';
  // The ids end before that commit, or the version moved alone: only a refusal is evidence.
  return attempt.answer === 'refused' ? 'lost' : 'unknown';
}

/** The attempts of one container that nothing has settled. A change counts its own. */
export class OpenAttempts {
  readonly #table: string;
  #attempts: Attempt[] = [];

  /** `table` is named in errors. */
  constructor(table: string) {
    this.#table = table;
  }

  begin(attempt: Attempt): void {
    this.#attempts.push(attempt);
    for (const change of attempt.changes) {
      change.openAttempts += 1;
      change.doubtfulAttempts += 1;
      change.sentTo = attempt.base.id;
    }
  }

  has(attempt: Attempt): boolean {
    return this.#attempts.includes(attempt);
  }

  /** Whether one of them was not throttled: it may land any time. */
  get mayLand(): boolean {
    return this.#attempts.some(({ answer }) => answer === 'none' || answer === 'refused');
  }

  /** The end of the first call that waits for a throttled attempt; Infinity if none does. */
  get doubtDueMs(): number {
    const doubtful = this.#attempts.filter(({ answer }) => answer === 'throttled');
    return Math.min(...doubtful.map(({ changes }) => firstDueMs(changes)));
  }

  /** As `settle`, by a read sent after all answers: throttled and not there is not applied. */
  settleAndClear(now: Snapshot | undefined): void {
    this.settle(now);
    for (const attempt of this.#attempts) {
      if (attempt.answer !== 'throttled') continue;
      attempt.answer = 'cleared';
      for (const change of attempt.changes) change.doubtfulAttempts -= 1;
    }
  }

  /** How many are among the commits that `now` counts beyond `before`. */
  ownCommitsBetween(before: Header, now: Header): number {
    return this.#attempts.filter(({ id, base }) => {
      const number = base.header.commitCount + 1;
      return number > before.commitCount && commitIdAt(now, number) === id;
    }).length;
  }

  /** The provider acknowledged the attempt: its verdicts hold, and all other attempts have lost. */
  acknowledge(attempt: Attempt): void {
    settleAll(attempt.changes, attempt.verdicts);
    attempt.landed();
    for (const lost of this.#attempts) close(lost);
    this.#attempts = [];
  }

  /** The attempt was certainly not applied, and will not be sent again. */
  withdraw(attempt: Attempt): void {
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    close(attempt);
  }

  /** Settles the attempts by what a read of the container showed; undefined if it is missing. */
  settle(now: Snapshot | undefined): void {
    if (this.#attempts.length === 0) return;
    this.#attempts = this.#attempts.filter((attempt) => {
      const settlement = settlementOf(attempt, now);
      if (settlement === 'open') return true;
      if (settlement === 'landed') {
        settleAll(attempt.changes, attempt.verdicts);
        attempt.landed();
      }
      if (settlement === 'unknown')
        for (const change of attempt.changes)
          change.settle({ kind: 'failed', error: unknownFate(change, this.#table) });
      close(attempt);
      return false;
    });
  }
}

/** Gives each change the verdict of the same index. */
export function settleAll(changes: readonly Change[], verdicts: readonly Verdict[]): void {
  for (let index = 0; index < changes.length; index += 1) changes[index]!.settle(verdicts[index]!);
}

/** Fails the changes with `error`, but with `unknown` if an open attempt carries them. */
export function failAll(changes: readonly Change[], error: unknown, table: string): void {
  for (const change of changes)
    change.settle({ kind: 'failed', error: change.openAttempts > 0 ? unknownFate(change, table, error) : error });
}

/** The error of a change that was sent and could not be settled. */
export function unknownFate(change: Change, table: string, cause?: unknown): StoreError {
  const key = change.whole?.kind === 'clear' ? undefined : decodeKey(change.key);
  const message = 'the write was sent and its fate is not known: read the record before deciding what to do';
  return new StoreError('unknown', message, { table, key, container: change.sentTo, cause });
}

function close(attempt: Attempt): void {
  for (const change of attempt.changes) {
    change.openAttempts -= 1;
    if (attempt.answer !== 'cleared') change.doubtfulAttempts -= 1;
  }
}

/** When the first of the calls ends that still wait, by the monotonic clock. */
export function firstDueMs(changes: readonly Change[]): number {
  return changes.reduce((least, { isSettled, dueMs }) => (isSettled ? least : Math.min(least, dueMs)), Infinity);
}

/** How often the change that was refused most often was. */
export function refusalsOf(changes: readonly Change[]): number {
  return changes.reduce((most, { refusals }) => Math.max(most, refusals), 0);
}

/** Many may repair one branch at a time: a hint that was refused so often is dropped. */
const HINT_REFUSALS_MAX = 8;

/** Rule 11: drops the hints of a refused commit that met this too often. */
export function dropRefusedHints(changes: readonly Change[]): void {
  for (const change of changes) change.refusals += 1;
  dropHints(changes.filter(({ refusals }) => refusals >= HINT_REFUSALS_MAX));
}

/** Rule 11: drops hints that met trouble. The next walk to the right gives them again. */
export function dropHints(changes: readonly Change[]): void {
  for (const change of changes) if (change.isHint) change.settle({ kind: 'failed', error: undefined });
}
