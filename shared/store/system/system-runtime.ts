// The system's clock and chance. Only this folder touches Node's.
import { randomFillSync } from 'node:crypto';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '../contract/runtime.ts';

/** A shorter interval says too little. */
const INTERVAL_LEAST_MS = 100;
/** A longer interval was a pause of the caller: its share is not the work's. */
const INTERVAL_MOST_MS = 250;

/** How busy this thread is, by Node's event loop utilization. */
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

const busy = new BusyShare((since) => performance.eventLoopUtilization(since));

export const systemRuntime: Runtime = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => wait(ms, true, signal),
  watch: (ms, signal) => wait(ms, false, signal),
  nextTurn: () => immediate(),
  busyShare: () => busy.now(),
  random: (bytes) => randomFillSync(Buffer.allocUnsafe(bytes)),
};

async function wait(ms: number, keepsAlive: boolean, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, { ref: keepsAlive, ...(signal === undefined ? {} : { signal }) });
  } catch {
    // An abort ends the wait.
  }
}
