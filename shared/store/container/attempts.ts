// Attempts and their settling (rules 3 and 4): an attempt is one try at a commit. If it landed it is exactly commit number base + 1 of
// its container; a read of that container tells, and nothing else does.
import type { Id64 } from '../format/bytes.ts';
import { commitIdAt, type Header } from '../format/header.ts';
import type { Change, Verdict } from './change.ts';
import type { Snapshot } from './snapshot.ts';

export interface Attempt {
  readonly id: Id64;
  readonly base: Snapshot;
  readonly changes: readonly Change[];
  readonly verdicts: readonly Verdict[];
  /** The header it would have written. */
  readonly header: Header;
  /** The provider said that it was certainly not applied. */
  refused: boolean;
}

/**
 * What a read of the attempt's container says of it:
 * `landed`: it is commit base + 1; its verdicts hold. `lost`: it never will land. `open`: it may land yet. `unknown`: it can no longer be told.
 */
export type Settlement = 'landed' | 'lost' | 'open' | 'unknown';

/** `now` is what a read of the attempt's container showed; undefined if it is missing. */
export function settlementOf(attempt: Attempt, now: Snapshot | undefined): Settlement {
  const { base } = attempt;
  if (now === undefined) return 'unknown';
  if (now.version === base.version) return 'open';
  const place = base.header.commitCount + 1;
  const id = commitIdAt(now.header, place);
  if (id === attempt.id) return 'landed';
  if (id !== undefined) return 'lost';
  // The place has left the list, or the count did not move although the version did: only a refusal is evidence then.
  return attempt.refused ? 'lost' : 'unknown';
}

/** The attempts of one container that nothing has settled yet. A change counts those that carry it. */
export class OpenAttempts {
  readonly #unknown: (change: Change) => Error;
  #attempts: Attempt[] = [];

  /** `unknown` makes the error of a change whose fate can no longer be told. */
  constructor(unknown: (change: Change) => Error) {
    this.#unknown = unknown;
  }

  begin(attempt: Attempt): void {
    this.#attempts.push(attempt);
    for (const change of attempt.changes) {
      change.openAttempts += 1;
      change.sentTo = attempt.base.id;
    }
  }

  has(attempt: Attempt): boolean {
    return this.#attempts.includes(attempt);
  }

  /** It was acknowledged: its verdicts hold, and the others of its base have lost. */
  acknowledge(attempt: Attempt): void {
    settleAll(attempt.changes, attempt.verdicts);
    for (const lost of this.#attempts) close(lost);
    this.#attempts = [];
  }

  /** It was certainly not applied, and will not be sent again. */
  withdraw(attempt: Attempt): void {
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    close(attempt);
  }

  /** Settles them by what a read of the container showed. */
  settle(now: Snapshot | undefined): void {
    if (this.#attempts.length === 0) return;
    this.#attempts = this.#attempts.filter((attempt) => {
      const settlement = settlementOf(attempt, now);
      if (settlement === 'open') return true;
      if (settlement === 'landed') settleAll(attempt.changes, attempt.verdicts);
      if (settlement === 'unknown')
        for (const change of attempt.changes) change.settle({ kind: 'failed', error: this.#unknown(change) });
      close(attempt);
      return false;
    });
  }

  /** Their changes have all had their answers. */
  forget(): void {
    this.#attempts = [];
  }
}

export function settleAll(changes: readonly Change[], verdicts: readonly Verdict[]): void {
  for (const [index, change] of changes.entries()) change.settle(verdicts[index]!);
}

function close(attempt: Attempt): void {
  for (const change of attempt.changes) change.openAttempts -= 1;
}

/** Rule 11: a hint that met any trouble is dropped; whoever walks right next gives it again. */
export function dropHints(changes: readonly Change[]): void {
  for (const change of changes) if (change.isHint) change.settle({ kind: 'failed', error: undefined });
}
