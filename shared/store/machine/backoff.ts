// How long a container's queue waits after trouble: ever longer, and as the provider asks.
import type { StoreError } from '../contract/errors.ts';

const COMMIT_PAUSE_FIRST_MS = 5;
const COMMIT_PAUSE_MOST_MS = 500;
/** Throttled commits pause longer: all who use the account are in the way. */
const THROTTLED_DOUBLINGS = 3;
const THROTTLED_PAUSE_MOST_MS = 5_000;
/** Refused hints pause longer too: many may repair one branch, and nobody waits for it. */
const HINT_DOUBLINGS = 3;
const HINT_PAUSE_MOST_MS = 10_000;
/** Nothing left this machine for so long, the next pause included: callers hear it. */
const UNSENT_MOST_MS = 5_000;
/** 2 to this power is beyond every pause. */
const DOUBLINGS_MOST = 20;

/** Trouble of one container's queue since a commit was acknowledged. */
export class Backoff {
  /** Attempts and reads that failed, but for refused and throttled ones. */
  failuresInARow = 0;
  #throttledInARow = 0;
  #unsentInARow = 0;
  #unsentSinceMs = Infinity;
  /** Why the last attempt was turned away, or did not leave; undefined if it was taken. */
  throttling: StoreError | undefined;

  /** `refusal`: the provider's, if it throttled an attempt. */
  noteThrottled(refusal = this.throttling): void {
    this.noteSent();
    this.#throttledInARow += 1;
    this.throttling = refusal;
  }

  /** An attempt of this time did not leave. True once that has lasted too long to go on. */
  noteUnsent(why: StoreError, sentMs: number, nowMs: number): boolean {
    this.#unsentInARow += 1;
    this.#unsentSinceMs = Math.min(this.#unsentSinceMs, sentMs);
    this.throttling = why;
    if (why.retryable && nowMs + COMMIT_PAUSE_MOST_MS < this.#unsentSinceMs + UNSENT_MOST_MS) return false;
    this.noteSent();
    return true;
  }

  /** An attempt left: what was in the way before is not any more. */
  noteSent(): void {
    this.#unsentInARow = 0;
    this.#unsentSinceMs = Infinity;
    this.throttling = undefined;
  }

  end(): void {
    this.failuresInARow = 0;
    this.#throttledInARow = 0;
    this.noteSent();
  }

  /** How often the pause doubles; 0: none. `hintRefusals`: of hints, where nothing else waits. */
  doublings(hintRefusals: number): number {
    const throttled = this.#throttledInARow > 0 ? THROTTLED_DOUBLINGS + this.#throttledInARow : 0;
    const refusedHints = hintRefusals > 0 ? HINT_DOUBLINGS + hintRefusals : 0;
    return this.failuresInARow + this.#unsentInARow + throttled + refusedHints;
  }

  /** Full jitter, not before the provider wants to be asked again. `share`: 0 to 1, by chance. */
  pauseMs(doublings: number, areHints: boolean, share: number): number {
    const awaitedMost = this.#throttledInARow > 0 ? THROTTLED_PAUSE_MOST_MS : COMMIT_PAUSE_MOST_MS;
    const ceiling = COMMIT_PAUSE_FIRST_MS * 2 ** Math.min(DOUBLINGS_MOST, doublings);
    const jittered = share * Math.min(areHints ? HINT_PAUSE_MOST_MS : awaitedMost, ceiling);
    return (this.throttling?.retryAfterMs ?? 0) + jittered;
  }
}
