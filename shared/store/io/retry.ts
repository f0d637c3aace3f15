// Retry of reads and lists, as a wrapper: a driver in, a driver out. Writes and removals are never sent again (rule 2).
import type { Driver, DriverCallOptions } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';

const TRIES_MAX = 4;
const PAUSE_FIRST_MS = 50;
/** A connection may have fallen silent: a try that waited for all the time there is would leave none for another connection. */
const TRY_TIMEOUT_MS = 4_000;

/** Reads and lists are tried up to 4 times on retryable errors, with doubling, jittered pauses, within the call's own deadline; each try waits up to 4 s. */
export function withRetry(driver: Driver, runtime: Runtime): Driver {
  const retried = async <T>(
    options: DriverCallOptions,
    call: (options: DriverCallOptions) => Promise<T>,
  ): Promise<T> => {
    const dueMs = runtime.monotonicMs() + options.timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const leftMs = dueMs - runtime.monotonicMs();
      try {
        return await call({ timeoutMs: Math.min(TRY_TIMEOUT_MS, Math.max(1, leftMs)) });
      } catch (error) {
        const pauseMs = PAUSE_FIRST_MS * 2 ** (tries - 1) * (0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256);
        const isLast = tries === TRIES_MAX || runtime.monotonicMs() + pauseMs >= dueMs;
        if (isLast || !(error instanceof StoreError && error.retryable)) throw error;
        await runtime.sleep(pauseMs);
      }
    }
  };
  return {
    limits: driver.limits,
    read: (requests, options) => retried(options, (each) => driver.read(requests, each)),
    list: (prefix, cursor, count, options) => retried(options, (each) => driver.list(prefix, cursor, count, each)),
    write: (writes, options) => driver.write(writes, options),
    remove: (removals, options) => driver.remove(removals, options),
    close: () => driver.close(),
  };
}
