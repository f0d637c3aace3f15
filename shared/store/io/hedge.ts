// Hedged reads (Dean and Barroso, "The Tail at Scale", 2013): a reply that may be lost is not
// waited for alone.
import type { Runtime } from '../contract/runtime.ts';
import type { Deadlines } from './deadline.ts';
import type { RequestLimit } from './request-limit.ts';
import { LOST_AFTER_MS, SLOW_BYTES_PER_MS } from './requests.ts';

/** Replies of so many bytes show the pace of the link, not only its round trip. */
const LARGE_BYTES = 16 * 1024;
/** Requests that may share the link that one had to itself. */
const SHARED_BY = 8;
/** The best pace fades by this with each large or late reply. */
const PACE_KEPT = 0.9;

export class Hedge {
  readonly #deadlines: Deadlines;
  readonly #runtime: Pick<Runtime, 'monotonicMs'>;
  readonly #limit: Pick<RequestLimit, 'throttledTries'>;
  /** Bytes a millisecond of the quickest large reply; it fades. */
  #bestPace = 0;
  /** One was sent a second time and is not answered: no other is. */
  #isUnderWay = false;

  constructor(
    deadlines: Deadlines,
    runtime: Pick<Runtime, 'monotonicMs'>,
    limit: Pick<RequestLimit, 'throttledTries'>,
  ) {
    this.#deadlines = deadlines;
    this.#runtime = runtime;
    this.#limit = limit;
  }

  /**
   * Calls `send`, once more if that takes long for about `bytes`, but not while the provider turns
   * tries away. The first reply, of `bytesIn` bytes.
   */
  async ask<T>(send: () => Promise<T>, bytes: number, bytesIn: (reply: T) => number): Promise<T> {
    const { throttledTries } = this.#limit;
    const sentMs = this.#runtime.monotonicMs();
    const first = send();
    const pace = Math.max(SLOW_BYTES_PER_MS, this.#bestPace / SHARED_BY);
    const reply = await this.#deadlines.within(LOST_AFTER_MS + bytes / pace, first);
    if (reply !== undefined) {
      this.#notePace(bytesIn(reply), this.#runtime.monotonicMs() - sentMs);
      return reply;
    }
    this.#bestPace *= PACE_KEPT;
    const isThrottled = this.#limit.throttledTries > throttledTries;
    if (isThrottled || this.#isUnderWay || this.#deadlines.isClosed) return first;
    this.#isUnderWay = true;
    const second = send().finally(() => {
      this.#isUnderWay = false;
    });
    // The first one's error, if both fail.
    return Promise.any([first, second]).catch(() => first);
  }

  #notePace(bytes: number, tookMs: number): void {
    if (bytes < LARGE_BYTES) return;
    this.#bestPace = Math.max(bytes / Math.max(1, tookMs), this.#bestPace * PACE_KEPT);
  }
}
