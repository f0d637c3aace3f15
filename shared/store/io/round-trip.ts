// The time of a round trip that nothing holds up.

/** Weights in the average. A short round trip shows the way; a long one may have stood in line. */
const WEIGHT_OF_SHORTER = 1 / 8;
const WEIGHT_OF_LONGER = 1 / 32;
/** The weight in the mean: a sum of many, as few of them tell more of chance than of the way. */
const WEIGHT_IN_MEAN = 1 / 256;
/** A longer one is cut to this: the process slept, or the provider was in trouble. */
const ROUND_TRIP_MOST_MS = 500;

/** An average in which shorter ones weigh more: about a fifth of them take less. */
export class RoundTrip {
  #ms = 0;
  #meanMs = 0;
  #count = 0;

  /** 0 before the first. */
  get ms(): number {
    return this.#ms;
  }

  /** The mean of the last few hundred; 0 before the first. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** How many were noted. */
  get count(): number {
    return this.#count;
  }

  note(tookMs: number): void {
    this.#count += 1;
    const ms = Math.min(tookMs, ROUND_TRIP_MOST_MS);
    this.#meanMs += (ms - this.#meanMs) * Math.max(WEIGHT_IN_MEAN, 1 / this.#count);
    const off = ms - this.#ms;
    if (this.#ms === 0) this.#ms = off;
    else this.#ms += off * (off < 0 ? WEIGHT_OF_SHORTER : WEIGHT_OF_LONGER);
  }
}
