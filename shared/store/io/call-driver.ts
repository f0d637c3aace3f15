// The driver of one administrative call (opening, dropping, vacuuming a table). It notes whether a write or removal was sent, so that an error
// of the call tells the truth, and sends nothing once the call has ended: work that nobody waits for would go on otherwise.
import type { Driver } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { abortedError } from './deadline.ts';

export class CallDriver {
  readonly driver: Driver;
  readonly #over = new AbortController();
  #hasWritten = false;

  constructor(driver: Driver) {
    const ask = <T>(send: () => Promise<T>): Promise<T> =>
      this.ended.aborted ? Promise.reject(abortedError(undefined)) : send();
    const change = <T>(send: () => Promise<T>): Promise<T> => {
      if (!this.ended.aborted) this.#hasWritten = true;
      return ask(send);
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

  /** Aborts when the call has ended before its time. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  /** The error for the call's caller. After a write was sent, an error that says "nothing was written" becomes `unknown`. */
  failure(error: unknown): unknown {
    const saysNothing = error instanceof StoreError && ['aborted', 'throttled', 'unavailable'].includes(error.code);
    return this.#hasWritten && saysNothing ? this.end(error) : error;
  }

  /** Ends the call before its time, and returns the error for its caller: `aborted`, or `unknown` if a write was sent. */
  end(cause: unknown): StoreError {
    this.#over.abort();
    if (!this.#hasWritten) return abortedError(cause);
    const message = 'the call ended when some of its writes had been sent: call again to finish what it began';
    return new StoreError('unknown', message, { cause });
  }
}
