// What a round trip takes where nothing holds it up.

/** How much a round trip counts. A short one shows what it takes; a long one may have stood in line, in the provider or before it. */
const WEIGHT_OF_SHORTER = 1 / 8;
const WEIGHT_OF_LONGER = 1 / 32;
/** What took longer was no round trip: the process slept, or the provider was in trouble. */
const ROUND_TRIP_MOST_MS = 500;

/** An average in which the shorter ones weigh more: about what a fifth of them take at most. */
export class RoundTrip {
  #ms = 0;
  #count = 0;

  /** 0 before the first. */
  get ms(): number {
    return this.#ms;
  }

  /** How many were noted. */
  get count(): number {
    return this.#count;
  }

  note(tookMs: number): void {
    this.#count += 1;
    const off = Math.min(tookMs, ROUND_TRIP_MOST_MS) - this.#ms;
    if (this.#ms === 0) this.#ms = off;
    else this.#ms += off * (off < 0 ? WEIGHT_OF_SHORTER : WEIGHT_OF_LONGER);
  }
}
