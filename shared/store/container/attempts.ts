// Attempts and how they are settled (rules 3 and 4). An attempt is one try at a commit. If it
// landed, it is commit number base + 1 of its container, which only a read of the container shows.
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
  /** The header that it writes. */
  readonly header: Header;
  /**
   * The provider's answer. `refused` means certainly not applied. `throttled` leaves a doubt, as
   * something on the way may have sent it twice; `cleared`: a later read did not show it (rule 7).
   */
  answer: 'none' | 'refused' | 'throttled' | 'cleared';
  /** Called once, when an acknowledgement or a read shows that it landed. */
  readonly landed: () => void;
}

/**
 * What a read of its container, which showed `now` or found it missing, says about an attempt (rule
 * 3). `landed`: its verdicts hold. `lost`: it will never land. `open`: it may still land.
 * `unknown`: nothing can show its outcome any more.
 */
function settlementOf(attempt: Attempt, now: Snapshot | undefined): 'landed' | 'lost' | 'open' | 'unknown' {
  const { base } = attempt;
  if (now === undefined) return 'unknown';
  if (now.version === base.version) return 'open';
  const number = base.header.commitCount + 1;
  const id = commitIdAt(now.header, number);
  if (id === attempt.id) return 'landed';
  if (id !== undefined) return 'lost';
  // The list of ids no longer reaches that commit, or does not yet. Only a refusal proves anything.
  return attempt.answer === 'refused' ? 'lost' : 'unknown';
}

/** The unsettled attempts of one container. Each change counts those that carry it. */
export class OpenAttempts {
  readonly #table: string;
  #attempts: Attempt[] = [];

  /** `table` appears in errors. */
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

  /** Whether one of them may land at any time, as it was not throttled. */
  get mayLand(): boolean {
    return this.#attempts.some(({ answer }) => answer === 'none' || answer === 'refused');
  }

  /** When the first call that waits for a throttled attempt ends; Infinity if there is none. */
  get doubtDueMs(): number {
    const doubtful = this.#attempts.filter(({ answer }) => answer === 'throttled');
    return Math.min(...doubtful.map(({ changes }) => firstDueMs(changes)));
  }

  /** As `settle`, by a read sent after all answers: throttled attempts it lacks are cleared. */
  settleAndClear(now: Snapshot | undefined): void {
    this.settle(now);
    for (const attempt of this.#attempts) {
      if (attempt.answer !== 'throttled') continue;
      attempt.answer = 'cleared';
      for (const change of attempt.changes) change.doubtfulAttempts -= 1;
    }
  }

  /** How many of them are among the commits between `before` and `now`. */
  ownCommitsBetween(before: Header, now: Header): number {
    return this.#attempts.filter(({ id, base }) => {
      const number = base.header.commitCount + 1;
      return number > before.commitCount && commitIdAt(now, number) === id;
    }).length;
  }

  /** The provider acknowledged the attempt. Its verdicts hold, and all other attempts are lost. */
  acknowledge(attempt: Attempt): void {
    settleAll(attempt.changes, attempt.verdicts);
    attempt.landed();
    for (const lost of this.#attempts) close(lost);
    this.#attempts = [];
  }

  /** Removes an attempt that was certainly not applied and is not sent again. */
  withdraw(attempt: Attempt): void {
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    close(attempt);
  }

  /** Settles attempts by what a read of the container showed; undefined if it is missing. */
  settle(now: Snapshot | undefined): void {
    if (this.#attempts.length === 0) return;
    this.#attempts = this.#attempts.filter((attempt) => {
      const settlement = settlementOf(attempt, now);
      if (settlement === 'open') return true;
      if (settlement === 'landed') {
        settleAll(attempt.changes, attempt.verdicts);
        attempt.landed();
      }
      if (settlement === 'unknown') failAll(attempt.changes, undefined, this.#table);
      close(attempt);
      return false;
    });
  }
}

/** Settles each change with the verdict of the same index. */
export function settleAll(changes: readonly Change[], verdicts: readonly Verdict[]): void {
  for (let index = 0; index < changes.length; index += 1) changes[index]!.settle(verdicts[index]!);
}

/** Fails the changes with `error`, or with `unknown` if an open attempt carries them. */
export function failAll(changes: readonly Change[], error: unknown, table: string): void {
  for (const change of changes)
    change.settle({ kind: 'failed', error: change.openAttempts > 0 ? outcomeUnknown(change, table, error) : error });
}

/** The error of a change that was sent but could not be settled. */
export function outcomeUnknown(change: Change, table: string, cause?: unknown): StoreError {
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

/** When the first call that still waits for one of the changes ends, by the monotonic clock. */
export function firstDueMs(changes: readonly Change[]): number {
  return changes.reduce((least, { isSettled, dueMs }) => (isSettled ? least : Math.min(least, dueMs)), Infinity);
}

/** The largest number of refusals among the changes. */
export function refusalsOf(changes: readonly Change[]): number {
  return changes.reduce((most, { refusals }) => Math.max(most, refusals), 0);
}

/** An entry repair refused so often is dropped, as others may be repairing the same branch. */
const ENTRY_REPAIR_REFUSALS_MAX = 8;

/** Rule 11: counts a refusal of these changes, and drops entry repairs refused too often. */
export function dropRefusedEntryRepairs(changes: readonly Change[]): void {
  for (const change of changes) change.refusals += 1;
  dropEntryRepairs(changes.filter(({ refusals }) => refusals >= ENTRY_REPAIR_REFUSALS_MAX));
}

/** Rule 11: drops entry repairs after an error. The next walk to the right makes them again. */
export function dropEntryRepairs(changes: readonly Change[]): void {
  for (const change of changes) if (change.isEntryRepair) change.settle({ kind: 'failed', error: undefined });
}
