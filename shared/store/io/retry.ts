// Tries reads and lists again, completes the answers of a driver, and yields to the event loop.
import type { Driver, DriverCallOptions, Unknown } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';

const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 50;
/** No try begins later than this, so that a caller soon learns that a provider does not answer. */
const LAST_TRY_MS = 10_000;

/** Every so many answers the process yields: a driver that answers at once would starve timers. */
const ANSWERS_BETWEEN_YIELDS = 1_024;
/** The outcome of a write about which the driver said nothing. */
const NO_OUTCOME: Unknown = { kind: 'unknown', reason: 'other' };

/**
 * Wraps a driver so that reads and lists are tried again after retryable errors: 4 tries, and any
 * number after `throttled`, with doubling, jittered pauses and what the provider asks for on top.
 * No try begins after 10 s or the call's deadline. Writes and removals are sent once (rule 2).
 * `onThrottled` is called per throttled try, with the `requests` of a read or the options of a
 * list. `failure` returns the latest error of a call that is being tried again, if there is one.
 */
export function withRetry(driver: Driver, runtime: Runtime, onThrottled: (call: object) => void) {
  const failures = new Map<object, StoreError>();
  let answers = 0;
  const mustYield = (): boolean => (answers += 1) % ANSWERS_BETWEEN_YIELDS === 0;
  const retried = async <T>(
    options: DriverCallOptions,
    send: (options: DriverCallOptions) => Promise<T>,
    call: object = options,
  ): Promise<T> => {
    const begunMs = runtime.monotonicMs();
    const dueMs = begunMs + options.timeoutMs;
    const lastMs = Math.min(dueMs, begunMs + LAST_TRY_MS);
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          const answer = await send({ timeoutMs: Math.max(1, dueMs - runtime.monotonicMs()) });
          if (mustYield()) await runtime.nextTurn();
          return answer;
        } catch (error) {
          if (!(error instanceof StoreError && error.retryable)) throw error;
          if (error.code === 'throttled') onThrottled(call);
          failures.set(options, error);
          const jitter = 0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256;
          const pauseMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * jitter + (error.retryAfterMs ?? 0);
          const isLast = tries === TRIES_MAX && error.code !== 'throttled';
          if (isLast || runtime.monotonicMs() + pauseMs >= lastMs) throw error;
          await runtime.sleep(pauseMs);
        }
      }
    } finally {
      failures.delete(options);
    }
  };
  const outcomes = async <O>(asked: readonly unknown[], answering: Promise<readonly O[] | undefined>) => {
    const answer = await answering;
    if (mustYield()) await runtime.nextTurn();
    return asked.map((_, index) => answer?.[index] ?? NO_OUTCOME);
  };
  return {
    failure: (): StoreError | undefined => [...failures.values()].at(-1),
    driver: {
      limits: driver.limits,
      read: async (requests, options) => {
        const entities = await retried(options, (each) => driver.read(requests, each), requests);
        return checkComplete(entities, requests.length);
      },
      list: (prefix, cursor, count, options) => retried(options, (each) => driver.list(prefix, cursor, count, each)),
      write: (writes, options) => outcomes(writes, driver.write(writes, options)),
      remove: (removals, options) => outcomes(removals, driver.remove(removals, options)),
      close: () => driver.close(),
    } satisfies Driver as Driver,
  };
}

/** Throws if the driver left out an entity, which would otherwise be taken for absent. */
function checkComplete<E>(entities: readonly E[] | undefined, asked: number): readonly E[] {
  if (entities?.length === asked) return entities;
  const message = `the driver answered ${entities?.length ?? 'none'} of ${asked} reads: mend the driver`;
  throw new StoreError('unavailable', message, { retryable: false });
}
