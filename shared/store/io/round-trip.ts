// Averages the times of requests, weighted so that queueing hardly counts.

/** Weights in the average. A short time is the network's alone; a long one may include queueing. */
const WEIGHT_OF_SHORTER = 1 / 8;
const WEIGHT_OF_LONGER = 1 / 32;
/** The weight in the mean, small so that it follows some hundred round trips. */
const WEIGHT_IN_MEAN = 1 / 256;
/** Longer times count as this: the process was suspended, or the provider was in trouble. */
const ROUND_TRIP_MAX_MS = 500;

/** Two averages. In `ms` short times weigh more: about a fifth of the round trips take less. */
export class RoundTrip {
  #ms = 0;
  #meanMs = 0;
  #count = 0;

  /** The weighted average; 0 before the first. */
  get ms(): number {
    return this.#ms;
  }

  /** The mean of the last few hundred; 0 before the first. */
  get meanMs(): number {
    return this.#meanMs;
  }

  get count(): number {
    return this.#count;
  }

  note(tookMs: number): void {
    this.#count += 1;
    const ms = Math.min(tookMs, ROUND_TRIP_MAX_MS);
    this.#meanMs += (ms - this.#meanMs) * Math.max(WEIGHT_IN_MEAN, 1 / this.#count);
    const off = ms - this.#ms;
    if (this.#ms === 0) this.#ms = off;
    else this.#ms += off * (off < 0 ? WEIGHT_OF_SHORTER : WEIGHT_OF_LONGER);
  }
}
