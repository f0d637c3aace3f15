// How many requests may be in flight: one limit for the reads of a store, one for its writes. It rises while requests wait and replies come
// as quickly as ever, falls when replies slow down, for then they only wait elsewhere, and halves when the provider throttles. Fewer requests
// in flight cost no throughput: what waits meanwhile shares the next one. After TCP Vegas (Brakmo & Peterson 1995).
import pLimit, { type LimitFunction } from 'p-limit';
import type { Runtime } from './runtime.ts';

const IN_FLIGHT_LEAST = 2;
const IN_FLIGHT_FIRST = 8;
const IN_FLIGHT_MOST = 64;
/** A larger request takes its time, which says nothing of the way: it is not judged. */
const JUDGED_BYTES_MAX = 64 * 1024;
/** Replies that take this many times the quickest are slow. */
const SLOW_RATIO = 3;
/** Weight of the latest reply in the running mean. */
const SMOOTHING = 0.1;
/** With the least in flight, where replies wait for nobody, the quickest time follows a way to the provider that has become longer. */
const FORGETTING = 1.01;

/** What is known of a request when it has been answered. */
export interface Reply {
  /** Bytes sent or received. */
  readonly bytes: number;
  readonly isThrottled: boolean;
}

export class Pace {
  readonly #runtime: Runtime;
  readonly #limit: LimitFunction = pLimit(IN_FLIGHT_FIRST);
  #quickestMs = Infinity;
  #meanMs: number | undefined;
  /** Since the limit last moved: it moves once in as many replies as may be in flight. */
  #replies = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Requests that may be in flight now. */
  get inFlightMax(): number {
    return this.#limit.concurrency;
  }

  /** Sends a request when its turn comes; `send` resolves to what the reply was, never rejects, and says undefined if there was nothing to send. */
  async run(send: () => Promise<Reply | undefined>): Promise<void> {
    await this.#limit(async () => {
      const sentMs = this.#runtime.monotonicMs();
      const reply = await send();
      if (reply !== undefined) this.#observe(this.#runtime.monotonicMs() - sentMs, reply);
    });
  }

  #observe(tookMs: number, { bytes, isThrottled }: Reply): void {
    const limit = this.#limit;
    if (isThrottled) {
      this.#move(Math.floor(limit.concurrency / 2));
      return;
    }
    if (bytes > JUDGED_BYTES_MAX) return;
    const quickestMs = this.#quickestMs * (limit.concurrency === IN_FLIGHT_LEAST ? FORGETTING : 1);
    this.#quickestMs = Math.min(quickestMs, tookMs);
    this.#meanMs = this.#meanMs === undefined ? tookMs : this.#meanMs + SMOOTHING * (tookMs - this.#meanMs);
    this.#replies += 1;
    if (this.#replies < limit.concurrency) return;
    if (this.#meanMs > SLOW_RATIO * this.#quickestMs) this.#move(limit.concurrency - 1);
    else if (limit.pendingCount > 0) this.#move(limit.concurrency + 1);
  }

  #move(inFlightMax: number): void {
    this.#replies = 0;
    this.#limit.concurrency = Math.min(IN_FLIGHT_MOST, Math.max(IN_FLIGHT_LEAST, inFlightMax));
  }
}
