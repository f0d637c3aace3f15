// How busy this thread is, from what Node counts of its event loop.
import type { EventLoopUtilization } from 'node:perf_hooks';

/** A share is taken over at least so long: in less there is no telling. */
const TAKEN_LEAST_MS = 100;
/** And over so long at most: who comes back after a pause wants the share of the work, not of the pause. */
const TAKEN_MOST_MS = 250;

export class BusyShare {
  readonly #count: (since?: EventLoopUtilization) => EventLoopUtilization;
  #takenTo: EventLoopUtilization;
  /** Busy until a share was taken: that takes work. */
  #share = 1;

  /** `count` as `performance.eventLoopUtilization`: since the thread began, or what came since an earlier count. */
  constructor(count: (since?: EventLoopUtilization) => EventLoopUtilization) {
    this.#count = count;
    this.#takenTo = count();
  }

  /** The share, 0 to 1, of the last moments that was work. It is taken anew by those who ask often enough; 1 before the first time. */
  now(): number {
    const { idle, active, utilization } = this.#count(this.#takenTo);
    const ms = idle + active;
    if (ms < TAKEN_LEAST_MS) return this.#share;
    if (ms <= TAKEN_MOST_MS) this.#share = utilization;
    this.#takenTo = this.#count();
    return this.#share;
  }
}
