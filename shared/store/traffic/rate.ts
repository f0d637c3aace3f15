// How often something happens, as far as it was watched.

/** A container that was watched for less than this is taken for one like the others. */
const PRIOR_MS = 1_000;
/** A count of events and the time they were watched for. Both fade with the time after them. */
export class Rate {
  #count = 0;
  #watchedMs = 0;

  add(count: number, watchedMs: number, horizonMs: number): void {
    const kept = horizonMs / (horizonMs + watchedMs);
    this.#count = this.#count * kept + count;
    this.#watchedMs = this.#watchedMs * kept + watchedMs;
  }

  /** Per millisecond; time that lacks to `PRIOR_MS` is filled up with `usual`. */
  perMs(usual = 0): number {
    return (this.#count + usual * PRIOR_MS) / (this.#watchedMs + PRIOR_MS);
  }

  share(parts: number): Rate {
    const rate = new Rate();
    rate.#count = this.#count / parts;
    rate.#watchedMs = this.#watchedMs;
    return rate;
  }
}
