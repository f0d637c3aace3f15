// Retry of reads and lists, as a wrapper: a driver in, a driver out. Writes and removals are never sent again (rule 2).
import type { Driver, DriverCallOptions } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';
import { RetryBudget } from './retry-budget.ts';

const TRIES_MAX = 4;
const PAUSE_FIRST_MS = 50;
/** No try begins later: whoever waits hears soon of a provider that is silent. */
const LAST_TRY_MS = 10_000;

/**
 * Reads and lists are tried up to 4 times on retryable errors, with doubling, jittered pauses. Each
 * try has what is left of the call's time, which a large reply on a slow link may need: the driver
 * ends one that falls silent.
 */
export function withRetry(driver: Driver, runtime: Runtime): Driver {
  const budget = new RetryBudget();
  const retried = async <T>(
    options: DriverCallOptions,
    call: (options: DriverCallOptions) => Promise<T>,
  ): Promise<T> => {
    const begunMs = runtime.monotonicMs();
    const dueMs = begunMs + options.timeoutMs;
    const lastMs = Math.min(dueMs, begunMs + LAST_TRY_MS);
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await call({ timeoutMs: Math.max(1, dueMs - runtime.monotonicMs()) });
        budget.earn();
        return answer;
      } catch (error) {
        if (!(error instanceof StoreError && error.retryable)) throw error;
        const jitter = 0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256;
        const pauseMs = PAUSE_FIRST_MS * 2 ** (tries - 1) * jitter + (error.retryAfterMs ?? 0);
        const isLast = tries === TRIES_MAX || runtime.monotonicMs() + pauseMs >= lastMs;
        if (isLast || (error.code === 'throttled' && !budget.take())) throw error;
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
