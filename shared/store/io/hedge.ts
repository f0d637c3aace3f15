// Hedged reads (Dean and Barroso, "The Tail at Scale", 2013): a reply that may be lost is not
// waited for alone.
import type { Deadlines } from './deadline.ts';
import { LOST_AFTER_MS, SLOW_BYTES_PER_MS } from './requests.ts';

export class Hedge {
  readonly #deadlines: Deadlines;
  /** One was sent a second time and is not answered: no other is. */
  #isUnderWay = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  /**
   * Calls `send`, once more if that takes long for about so many bytes, unless it was throttled and
   * waits. The first reply.
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
    // The first one's error, if both fail.
    return Promise.any([first, second]).catch(() => first);
  }
}
