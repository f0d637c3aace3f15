// Retries: reads by `withRetry`; commits never as they are (rule 2): their changes go in new
// attempts until their call's deadline, after the pauses of `Trouble`.
import type { Driver, DriverCallOptions, Unknown } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';
import { noteEvent } from '../system/tracing.ts';

const READ_TRIES_MAX = 4;
const READ_PAUSE_FIRST_MS = 50;
/** No try begins later: a caller hears soon of a provider that is silent. */
const READ_LAST_TRY_MS = 10_000;

const COMMIT_PAUSE_FIRST_MS = 5;
const COMMIT_PAUSE_MOST_MS = 500;
/** Throttled commits pause longer: all who use the account are in the way. */
const THROTTLED_DOUBLINGS = 3;
const THROTTLED_PAUSE_MOST_MS = 5_000;
/** Refused hints pause longer too: many may repair one branch, and nobody waits for it. */
const HINT_DOUBLINGS = 3;
const HINT_PAUSE_MOST_MS = 10_000;
/** Nothing left this machine for so long, the next pause included: callers hear it. */
const UNSENT_MOST_MS = 5_000;
/** 2 to this power is beyond every pause. */
const DOUBLINGS_MOST = 20;

/** After so many answers a turn ends: work on a driver that answers at once lets timers fire. */
const ANSWERS_A_TURN = 1_024;
/** Stands for an outcome that a driver left out: it said nothing of the write's fate. */
const NO_OUTCOME: Unknown = { kind: 'unknown', reason: 'other' };

/** A driver that retries, and what is in its way. */
interface Retrying {
  readonly driver: Driver;
  /** Why the last try failed of a read or list that goes on; undefined if none failed. */
  readonly failure: () => StoreError | undefined;
}

/**
 * Up to 4 tries on retryable errors, more where throttled, with doubling, jittered pauses, within
 * 10 s and the call's time. `onThrottled` hears of each such try, by its requests.
 */
export function withRetry(driver: Driver, runtime: Runtime, onThrottled: (call: object) => void): Retrying {
  const failures = new Map<object, StoreError>();
  let answers = 0;
  /** A turn to wait for, after so many answers. */
  const turn = (): Promise<void> | undefined => {
    answers += 1;
    return answers % ANSWERS_A_TURN === 0 ? runtime.nextTurn() : undefined;
  };
  const retried = async <T>(
    options: DriverCallOptions,
    call: (options: DriverCallOptions) => Promise<T>,
    named: object = options,
  ): Promise<T> => {
    const begunMs = runtime.monotonicMs();
    const dueMs = begunMs + options.timeoutMs;
    const lastMs = Math.min(dueMs, begunMs + READ_LAST_TRY_MS);
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          const answer = await call({ timeoutMs: Math.max(1, dueMs - runtime.monotonicMs()) });
          const ended = turn();
          if (ended !== undefined) await ended;
          return answer;
        } catch (error) {
          if (!(error instanceof StoreError && error.retryable)) throw error;
          if (error.code === 'throttled') {
            noteEvent('throttled', undefined);
            onThrottled(named);
          }
          failures.set(options, error);
          const jitter = 0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256;
          const pauseMs = READ_PAUSE_FIRST_MS * 2 ** (tries - 1) * jitter + (error.retryAfterMs ?? 0);
          const isLast = tries === READ_TRIES_MAX && error.code !== 'throttled';
          if (isLast || runtime.monotonicMs() + pauseMs >= lastMs) throw error;
          await runtime.sleep(pauseMs);
        }
      }
    } finally {
      failures.delete(options);
    }
  };
  const outcomes = async <O>(asked: readonly unknown[], answering: Promise<readonly O[]>) => {
    const answer: readonly O[] | undefined = await answering;
    const ended = turn();
    if (ended !== undefined) await ended;
    return asked.map((_, index) => answer?.[index] ?? NO_OUTCOME);
  };
  return {
    failure: () => [...failures.values()].at(-1),
    driver: {
      limits: driver.limits,
      read: (requests, options) =>
        retried(options, (each) => driver.read(requests, each), requests).then((entities) =>
          complete(entities, requests.length),
        ),
      list: (prefix, cursor, count, options) => retried(options, (each) => driver.list(prefix, cursor, count, each)),
      write: (writes, options) => outcomes(writes, driver.write(writes, options)),
      remove: (removals, options) => outcomes(removals, driver.remove(removals, options)),
      close: () => driver.close(),
    },
  };
}

/** Throws for a read that was not answered: it would pass for absence. */
function complete<E>(entities: readonly E[] | undefined, asked: number): readonly E[] {
  if (entities?.length === asked) return entities;
  const message = `the driver answered ${entities?.length ?? 'none'} of ${asked} reads: mend the driver`;
  throw new StoreError('unavailable', message, { retryable: false });
}

/** Trouble of one container's queue since a commit was acknowledged. */
export class Trouble {
  /** Attempts and reads that failed, but for refused and throttled ones. */
  failuresInARow = 0;
  #throttledInARow = 0;
  #unsentInARow = 0;
  #unsentSinceMs = Infinity;
  /** Why the last attempt was turned away, or did not leave; undefined if it was taken. */
  throttling: StoreError | undefined;

  /** `refusal`: the provider's, if it throttled an attempt. */
  noteThrottled(refusal = this.throttling): void {
    this.noteSent();
    this.#throttledInARow += 1;
    this.throttling = refusal;
  }

  /** An attempt of this time did not leave. True once that has lasted too long to go on. */
  noteUnsent(why: StoreError, sentMs: number, nowMs: number): boolean {
    this.#unsentInARow += 1;
    this.#unsentSinceMs = Math.min(this.#unsentSinceMs, sentMs);
    this.throttling = why;
    if (why.retryable && nowMs + COMMIT_PAUSE_MOST_MS < this.#unsentSinceMs + UNSENT_MOST_MS) return false;
    this.noteSent();
    return true;
  }

  /** An attempt left: what was in the way before is not any more. */
  noteSent(): void {
    this.#unsentInARow = 0;
    this.#unsentSinceMs = Infinity;
    this.throttling = undefined;
  }

  end(): void {
    this.failuresInARow = 0;
    this.#throttledInARow = 0;
    this.noteSent();
  }

  /** How often the pause doubles; 0: none. `hintRefusals`: of hints, where nothing else waits. */
  doublings(hintRefusals: number): number {
    const throttled = this.#throttledInARow > 0 ? THROTTLED_DOUBLINGS + this.#throttledInARow : 0;
    const refusedHints = hintRefusals > 0 ? HINT_DOUBLINGS + hintRefusals : 0;
    return this.failuresInARow + this.#unsentInARow + throttled + refusedHints;
  }

  /** Full jitter, not before the provider wants to be asked again. `share`: 0 to 1, by chance. */
  pauseMs(doublings: number, areHints: boolean, share: number): number {
    const awaitedMost = this.#throttledInARow > 0 ? THROTTLED_PAUSE_MOST_MS : COMMIT_PAUSE_MOST_MS;
    const ceiling = COMMIT_PAUSE_FIRST_MS * 2 ** Math.min(DOUBLINGS_MOST, doublings);
    const jittered = share * Math.min(areHints ? HINT_PAUSE_MOST_MS : awaitedMost, ceiling);
    return (this.throttling?.retryAfterMs ?? 0) + jittered;
  }
}
