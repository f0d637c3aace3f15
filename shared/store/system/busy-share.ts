// Measures how busy this thread is, by Node's event loop utilization.
import type { EventLoopUtilization } from 'node:perf_hooks';

/** A shorter interval says too little. */
const INTERVAL_LEAST_MS = 100;
/** A longer interval was a pause of the caller: its share is not the work's. */
const INTERVAL_MOST_MS = 250;

export class BusyShare {
  readonly #count: (since?: EventLoopUtilization) => EventLoopUtilization;
  #since: EventLoopUtilization;
  /** Busy until the first interval ends: it takes work to measure it. */
  #share = 1;

  /** `count`: as `performance.eventLoopUtilization`. */
  constructor(count: (since?: EventLoopUtilization) => EventLoopUtilization) {
    this.#count = count;
    this.#since = count();
  }

  /** The share of work, 0 to 1, in the last interval, which a call ends; 1 before the first. */
  now(): number {
    const { idle, active, utilization } = this.#count(this.#since);
    const ms = idle + active;
    if (ms < INTERVAL_LEAST_MS) return this.#share;
    if (ms <= INTERVAL_MOST_MS) this.#share = utilization;
    this.#since = this.#count();
    return this.#share;
  }
}
