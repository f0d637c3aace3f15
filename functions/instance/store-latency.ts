// Logs once a minute how long the provider took for the store's requests. Unlike the provider's own
// figures, these include the network.
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
/** Bounds the memory. Further requests of a minute are counted, but not timed. */
const TIMES_MAX = 10_000;

/** Logs when a request ends a minute or more after the last line; without requests never. */
export function withLatencyLogged(
  driver: Driver,
  log: (line: StoreLatency) => void,
  nowMs: () => number = () => performance.now(),
): Driver {
  let sinceMs = nowMs();
  let requests = 0;
  let timesMs: number[] = [];

  const timed = async <T>(request: Promise<T>): Promise<T> => {
    const startedMs = nowMs();
    try {
      return await request;
    } finally {
      const endedMs = nowMs();
      requests += 1;
      if (timesMs.length < TIMES_MAX) timesMs.push(endedMs - startedMs);
      if (endedMs - sinceMs >= EVERY_MS) {
        log(lineOf(requests, timesMs));
        sinceMs = endedMs;
        requests = 0;
        timesMs = [];
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

function lineOf(requests: number, timesMs: readonly number[]): StoreLatency {
  const sorted = timesMs.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.ceil(share * sorted.length) - 1]! * 10) / 10;
  return {
    severity: 'INFO',
    message: 'how long the store took',
    storeRequests: requests,
    storeP50Ms: at(0.5),
    storeP99Ms: at(0.99),
  };
}
