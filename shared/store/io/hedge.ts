// Hedged reads (Dean and Barroso, "The Tail at Scale", 2013): a reply that may be lost is not
// waited for alone.
import type { Runtime } from '../contract/runtime.ts';
import type { Deadlines } from './deadline.ts';
import { SLOW_BYTES_PER_MS } from './requests.ts';

/** A reply may be lost that takes longer than this, and than its bytes do. */
const LOST_AFTER_MS = 1_000;
/** Replies of so many bytes show the pace of the link, not only its round trip. */
const LARGE_BYTES = 16 * 1024;
/** Requests that may share the link that one had to itself. */
const SHARED_BY = 8;
/** The best pace fades by this with each large reply. */
const PACE_KEPT = 0.9;

export class Hedge {
  readonly #deadlines: Deadlines;
  readonly #runtime: Pick<Runtime, 'monotonicMs'>;
  /** Bytes a millisecond of the quickest large reply; it fades. */
  #bestPace = 0;
  /** One was sent a second time and is not answered: no other is. */
  #isUnderWay = false;

  constructor(deadlines: Deadlines, runtime: Pick<Runtime, 'monotonicMs'>) {
    this.#deadlines = deadlines;
    this.#runtime = runtime;
  }

  /** Calls `send`, once more if that takes long for about so many bytes. The first reply. */
  async ask<T>(send: () => Promise<T>, bytes: number): Promise<T> {
    const sentMs = this.#runtime.monotonicMs();
    const first = send();
    const pace = Math.max(SLOW_BYTES_PER_MS, this.#bestPace / SHARED_BY);
    const reply = await this.#deadlines.within(LOST_AFTER_MS + bytes / pace, first);
    if (bytes >= LARGE_BYTES) this.#notePace(bytes / Math.max(1, this.#runtime.monotonicMs() - sentMs));
    if (reply !== undefined || this.#isUnderWay || this.#deadlines.isClosed) return reply ?? first;
    this.#isUnderWay = true;
    const second = send().finally(() => {
      this.#isUnderWay = false;
    });
    // The first one's error, if both fail.
    return Promise.any([first, second]).catch(() => first);
  }

  #notePace(pace: number): void {
    this.#bestPace = Math.max(pace, this.#bestPace * PACE_KEPT);
  }
}
