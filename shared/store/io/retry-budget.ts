// How many throttled requests a store sends again: few, where most are throttled, for each is in the way of a first one.

const LEFT_MOST = 32;
/** What a request earns that succeeds. */
const EARNED = 0.1;

export class RetryBudget {
  #left = LEFT_MOST;

  earn(): void {
    this.#left = Math.min(LEFT_MOST, this.#left + EARNED);
  }

  /** Whether one may be sent again. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
