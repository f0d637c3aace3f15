// Logs once a minute how long the provider took for the store's requests. Unlike the provider's own
// figures, these include the network.
import { createHistogram } from 'node:perf_hooks';
import type { Driver } from '../../shared/store/index.ts';

/** The dashboards read `storeP99Ms`. */
export interface StoreLatency {
  readonly severity: 'INFO';
  readonly message: string;
  readonly storeRequests: number;
  readonly storeP50Ms: number;
  readonly storeP99Ms: number;
}

const EVERY_MS = 60_000;
/** A longer time counts as this one. */
const HIGHEST_US = 60_000_000;

/** Logs when a request ends a minute or more after the last line; without requests never. */
export function withLatencyLogged(
  driver: Driver,
  log: (line: StoreLatency) => void,
  nowMs: () => number = () => performance.now(),
): Driver {
  let sinceMs = nowMs();
  const timesUs = createHistogram({ highest: HIGHEST_US });
  const atMs = (percentile: number): number => Math.round(timesUs.percentile(percentile) / 100) / 10;

  const timed = async <T>(request: Promise<T>): Promise<T> => {
    const startedMs = nowMs();
    try {
      return await request;
    } finally {
      const endedMs = nowMs();
      timesUs.record(Math.min(HIGHEST_US, Math.max(1, Math.round((endedMs - startedMs) * 1_000))));
      if (endedMs - sinceMs >= EVERY_MS) {
        const times = { storeRequests: timesUs.count, storeP50Ms: atMs(50), storeP99Ms: atMs(99) };
        log({ severity: 'INFO', message: 'how long the store took', ...times });
        sinceMs = endedMs;
        timesUs.reset();
      }
    }
  };

  return {
    limits: driver.limits,
    read: (requested, options) => timed(driver.read(requested, options)),
    write: (writes, options) => timed(driver.write(writes, options)),
    remove: (removals, options) => timed(driver.remove(removals, options)),
    list: (prefix, cursor, count, options) => timed(driver.list(prefix, cursor, count, options)),
    close: () => driver.close(),
  };
}
