// Asks a second time for a reply that may be lost (Dean, Barroso: The Tail at Scale, 2013).
import type { Deadlines } from './deadline.ts';
import { LOST_AFTER_MS, SLOW_BYTES_PER_MS } from './send.ts';

export class Hedge {
  readonly #deadlines: Deadlines;
  /** Whether a second request is not answered yet. There is only one at a time. */
  #isUnderWay = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /**
   * Calls `send`, and again after a second and the time of about so many bytes, unless the first
   * request is waiting because it was throttled. Returns the reply that comes first.
   */
  async ask<T>(send: () => Promise<T>, bytes: number, isThrottled: () => boolean): Promise<T> {
    const first = send();
    const reply = await this.#deadlines.within(LOST_AFTER_MS + bytes / SLOW_BYTES_PER_MS, first);
    if (reply !== undefined) return reply;
    if (this.#isUnderWay || this.#deadlines.isClosed || isThrottled()) return first;
    this.#isUnderWay = true;
    const second = send().finally(() => {
      this.#isUnderWay = false;
    });
    // If both fail, the first one's error is reported.
    return Promise.any([first, second]).catch(() => first);
  }
}
