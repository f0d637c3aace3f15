// The driver of an administrative call. It notes whether the call may have written anything, and
// refuses further requests once the call has ended.
import type { Driver, RemoveOutcome, WriteOutcome } from '../contract/driver.ts';
import { saysNothingWritten, StoreError } from '../contract/errors.ts';
import { abortedError, type Deadlines } from './deadline.ts';

export class CallDriver {
  readonly driver: Driver;
  readonly #deadlines: Pick<Deadlines, 'aborted' | 'failureOf'>;
  readonly #over = new AbortController();
  /** The error of the last write or removal if it was throttled; otherwise undefined. */
  #throttling: unknown;
  /** How many requests wrote something, or may have. */
  #changes = 0;

  constructor(driver: Driver, deadlines: Pick<Deadlines, 'aborted' | 'failureOf'>) {
    this.#deadlines = deadlines;
    const ask = <T>(send: () => Promise<T>): Promise<T> =>
      this.ended.aborted ? Promise.reject(abortedError(undefined)) : send();
    const change = async <O extends WriteOutcome | RemoveOutcome>(
      send: () => Promise<readonly O[]>,
    ): Promise<readonly O[]> => {
      if (!this.ended.aborted) this.#changes += 1;
      const outcomes = await ask(send);
      if (outcomes.every(isRefusedForGood)) this.#changes -= 1;
      this.#throttling = throttlingOf(outcomes);
      return outcomes;
    };
    this.driver = {
      limits: driver.limits,
      read: (requests, options) => ask(() => driver.read(requests, options)),
      list: (prefix, cursor, count, options) => ask(() => driver.list(prefix, cursor, count, options)),
      write: (writes, options) => change(() => driver.write(writes, options)),
      remove: (removals, options) => change(() => driver.remove(removals, options)),
      close: () => driver.close(),
    };
  }

  /** Aborts when the call was ended by its deadline, its signal or the closing of the store. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  /** The error for the caller: after a write, "nothing was written" becomes `unknown`. */
  failure(error: unknown): unknown {
    return this.#changes > 0 && saysNothingWritten(error) ? this.end(error) : error;
  }

  /** Ends the call, and returns the error for its caller: `aborted`, or `unknown` after a write. */
  end(cause: unknown): StoreError {
    this.#over.abort();
    if (this.#changes === 0) return this.#deadlines.aborted(cause);
    const message = 'the call ended when some of its writes had been sent: call again to finish what it began';
    return new StoreError('unknown', message, { cause: cause ?? this.#throttling ?? this.#deadlines.failureOf(cause) });
  }
}

/** Whether the write was certainly not applied, and no read is needed to confirm it. */
function isRefusedForGood(outcome: WriteOutcome | RemoveOutcome): boolean {
  return outcome.kind === 'refused' && outcome.reason !== 'condition' && outcome.reason !== 'throttled';
}

function throttlingOf(outcomes: readonly (WriteOutcome | RemoveOutcome)[]): unknown {
  for (const outcome of outcomes)
    if (outcome.kind === 'refused' && outcome.reason === 'throttled') return outcome.cause;
  return undefined;
}
