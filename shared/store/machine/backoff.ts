// How long a container's queue waits after failures: ever longer, and at least what the provider
// asks.
import type { StoreError } from '../contract/errors.ts';

const COMMIT_PAUSE_FIRST_MS = 5;
const COMMIT_PAUSE_MOST_MS = 500;
/** Throttled commits pause longer, since every user of the account is in the way. */
const THROTTLED_DOUBLINGS = 3;
const THROTTLED_PAUSE_MOST_MS = 5_000;
/**
 * Refused entry repairs pause longer, since many processes may repair one branch and no caller
 * waits.
 */
const ENTRY_REPAIR_DOUBLINGS = 3;
const ENTRY_REPAIR_PAUSE_MOST_MS = 10_000;
/** If nothing could be sent for so long, the next pause included, the callers are told. */
const UNSENT_MOST_MS = 5_000;
/** 2 to this power is beyond every pause. */
const DOUBLINGS_MOST = 20;

/** The failures of one container's queue since its last acknowledged commit. */
export class Backoff {
  /** Attempts and reads that failed, without refused and throttled ones. */
  failuresInARow = 0;
  #throttledInARow = 0;
  #unsentInARow = 0;
  #unsentSinceMs = Infinity;
  /** Why the last attempt was turned away or could not be sent; undefined if it was accepted. */
  throttling: StoreError | undefined;

  /** `refusal`: what the provider answered. */
  noteThrottled(refusal = this.throttling): void {
    this.noteSent();
    this.#throttledInARow += 1;
    this.throttling = refusal;
  }

  /** An attempt could not be sent. True once that has lasted too long to go on. */
  noteUnsent(why: StoreError, sentMs: number, nowMs: number): boolean {
    this.#unsentInARow += 1;
    this.#unsentSinceMs = Math.min(this.#unsentSinceMs, sentMs);
    this.throttling = why;
    if (why.retryable && nowMs + COMMIT_PAUSE_MOST_MS < this.#unsentSinceMs + UNSENT_MOST_MS) return false;
    this.noteSent();
    return true;
  }

  /** An attempt was sent: what stood in the way before is gone. */
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

  /**
   * How often the pause doubles; 0: no pause. `repairRefusals`: if only entry repairs wait, their
   * refusals.
   */
  doublings(repairRefusals: number): number {
    const throttled = this.#throttledInARow > 0 ? THROTTLED_DOUBLINGS + this.#throttledInARow : 0;
    const refusedRepairs = repairRefusals > 0 ? ENTRY_REPAIR_DOUBLINGS + repairRefusals : 0;
    return this.failuresInARow + this.#unsentInARow + throttled + refusedRepairs;
  }

  /** The pause with full jitter, after what the provider asks for. `share`: drawn from 0 to 1. */
  pauseMs(doublings: number, areEntryRepairs: boolean, share: number): number {
    const awaitedMost = this.#throttledInARow > 0 ? THROTTLED_PAUSE_MOST_MS : COMMIT_PAUSE_MOST_MS;
    const ceiling = COMMIT_PAUSE_FIRST_MS * 2 ** Math.min(DOUBLINGS_MOST, doublings);
    const jittered = share * Math.min(areEntryRepairs ? ENTRY_REPAIR_PAUSE_MOST_MS : awaitedMost, ceiling);
    return (this.throttling?.retryAfterMs ?? 0) + jittered;
  }
}
