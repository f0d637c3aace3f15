// An instance's one processor: first come, first served, each piece to its end, as in Node.js.
import type { Scheduler } from '../time/scheduler.ts';

const MICROSECONDS_PER_MS = 1_000;

export class Processor {
  readonly #scheduler: Scheduler;
  #freeAtMs = 0;
  #chargedMs = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Milliseconds of work done so far: what was charged, without what still waits. */
  get busyMs(): number {
    return this.#chargedMs - Math.max(0, this.#freeAtMs - this.#scheduler.nowMs);
  }

  /** Resolves behind all that was charged before. Work of no length passes the line. */
  spend(microseconds: number): Promise<void> | undefined {
    if (microseconds <= 0) return undefined;
    const ms = microseconds / MICROSECONDS_PER_MS;
    this.#chargedMs += ms;
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#scheduler.nowMs) + ms;
    return this.#scheduler.after(this.#freeAtMs - this.#scheduler.nowMs);
  }
}
