// The driver as one administrative call sees it (opening, dropping, vacuuming a table): it notes whether anything was sent that
// changes the provider, and sends nothing more once the call has ended, so that no work goes on that nobody waits for.
import type { Driver } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { abortedError } from './deadline.ts';

export class CallDriver {
  readonly driver: Driver;
  #hasWritten = false;
  #isOver = false;

  constructor(driver: Driver) {
    const ask = <T>(send: () => Promise<T>): Promise<T> =>
      this.#isOver ? Promise.reject(abortedError(undefined)) : send();
    const change = <T>(send: () => Promise<T>): Promise<T> => {
      if (!this.#isOver) this.#hasWritten = true;
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

  /** What its caller is told of an error in it: not that nothing was written, if something was sent. */
  failure(error: unknown): unknown {
    const saysNothing = error instanceof StoreError && ['aborted', 'throttled', 'unavailable'].includes(error.code);
    return this.#hasWritten && saysNothing ? this.end(error) : error;
  }

  /** Ends the call before its time; returns what its caller is told. */
  end(cause: unknown): StoreError {
    this.#isOver = true;
    if (!this.#hasWritten) return abortedError(cause);
    const message = 'the call ended when some of its writes had been sent: call again to finish what it began';
    return new StoreError('unknown', message, { cause });
  }
}
