// A modelled instance of a function: a processor, and layouts with their own cold memory.
import type { Scheduler } from '../../kit/scheduler.ts';

const MICROSECONDS_PER_MS = 1_000;

/** First come, first served, each piece to its end, as in Node.js. */
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

export class Instance {
  readonly number: number;
  readonly processor: Processor;
  /** When it serves its first operation. */
  readonly readyAtMs: number;
  /** Calls that its fleet has given it and that have not ended. */
  taken = 0;
  /** Operations of its SDK or store under way: they share turns of its event loop. */
  inFlight = 0;

  constructor(number: number, scheduler: Scheduler, startMs: number) {
    this.number = number;
    this.processor = new Processor(scheduler);
    this.readyAtMs = scheduler.nowMs + startMs;
  }
}
