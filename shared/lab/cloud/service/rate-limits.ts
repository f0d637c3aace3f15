// Limits of a rate: refusing at once, letting wait, growing.
import type { ProviderParameters } from '../data/parameters.ts';

/** Refuses what comes faster than a rate, after a burst. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs = 0;

  /** Takes `burstSeconds` of the rate at once when it is full, as it is at first. */
  constructor(perSecond: number, burstSeconds: number) {
    this.#perMs = perSecond / 1_000;
    this.#capacity = perSecond * burstSeconds;
    this.#tokens = this.#capacity;
  }

  /** False costs nothing. More than the bucket holds passes when it is full. */
  take(nowMs: number, units: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < Math.min(units, this.#capacity)) return false;
    this.#tokens -= units;
    return true;
  }

  /** Takes what has been consumed already, and was not known before. */
  charge(nowMs: number, units: number): void {
    this.#fill(nowMs);
    this.#tokens -= units;
  }

  #fill(nowMs: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}

/** Lets wait what comes faster than a rate, and refuses what would wait too long. */
export class PacedQueue {
  readonly #waitMaxMs: number;
  perSecond: number;
  #freeMs = 0;

  constructor(perSecond: number, waitMaxMs: number) {
    this.perSecond = perSecond;
    this.#waitMaxMs = waitMaxMs;
  }

  /** How long it waits; undefined if it is refused, which costs nothing. */
  waitMs(nowMs: number, units: number): number | undefined {
    const wait = Math.max(0, this.#freeMs - nowMs);
    if (wait > this.#waitMaxMs) return undefined;
    this.#freeMs = nowMs + wait + (units * 1_000) / this.perSecond;
    return wait;
  }
}

/** Allows `growth` times the last period's mean rate, and never less than before. */
export class Ramp {
  readonly #growth: number;
  readonly #everyMs: number;
  readonly #queue: PacedQueue;
  #periodMs: number;
  #carried = 0;

  /** Starts when the first request comes. */
  constructor(parameters: ProviderParameters, nowMs: number) {
    this.#growth = parameters.get('ramp.growth');
    this.#everyMs = parameters.get('ramp.everyMs');
    this.#queue = new PacedQueue(parameters.get('ramp.startPerSecond'), parameters.get('ramp.waitMaxMs'));
    this.#periodMs = nowMs;
  }

  waitMs(nowMs: number, units: number): number | undefined {
    while (nowMs >= this.#periodMs + this.#everyMs) {
      const grown = (this.#growth * this.#carried * 1_000) / this.#everyMs;
      this.#queue.perSecond = Math.max(this.#queue.perSecond, grown);
      this.#carried = 0;
      this.#periodMs += this.#everyMs;
    }
    const wait = this.#queue.waitMs(nowMs, units);
    if (wait !== undefined) this.#carried += units;
    return wait;
  }
}
