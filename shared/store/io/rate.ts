// How often something happens, as far as it was watched.
/** Until a container was watched for longer than this, it is taken for one like the others. */
const PRIOR_MS = 1_000;
/** Whatever came within less counts as if it had come within so much. */
const EVIDENCE_MS = 250;
/** A count is evidence of what is left of it without so many of its standard deviations, which is its square root. */
const DEVIATIONS = 1;

/** What was counted while so much time was watched. Both fade with the time that is watched after them. */
export class Rate {
  #count = 0;
  #watchedMs = 0;

  add(count: number, watchedMs: number, horizonMs: number): void {
    const kept = horizonMs / (horizonMs + watchedMs);
    this.#count = this.#count * kept + count;
    this.#watchedMs = this.#watchedMs * kept + watchedMs;
  }

  /** A rate that was watched for less than `PRIOR_MS` is filled up with `usual`. */
  perMs(usual = 0): number {
    return (this.#count + usual * PRIOR_MS) / (this.#watchedMs + PRIOR_MS);
  }

  /** What the rate is at least, unless chance was unusual; `sinceMs`: watched since the last count. */
  leastPerMs(sinceMs = 0): number {
    return (
      Math.max(0, this.#count - DEVIATIONS * Math.sqrt(this.#count)) / Math.max(EVIDENCE_MS, this.#watchedMs + sinceMs)
    );
  }

  get watchedMs(): number {
    return this.#watchedMs;
  }

  share(parts: number): Rate {
    const rate = new Rate();
    rate.#count = this.#count / parts;
    rate.#watchedMs = this.#watchedMs;
    return rate;
  }
}
