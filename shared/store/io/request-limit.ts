// How many requests are in flight, how fast they leave, and how soon they are answered.
import type { Runtime } from '../contract/runtime.ts';
import { RoundTrip } from '../traffic/round-trip.ts';
import { Pace } from './pace.ts';
import { Semaphore } from './semaphore.ts';

/** Lone round trips needed: one or two may have been quick by chance. */
const LONE_LEAST = 8;

/** How a request was answered. */
export interface Reply {
  /** Whether the provider turned it away as too much. */
  readonly isThrottled?: boolean;
  /** Whether it failed: how soon says nothing of the way. */
  readonly isFailed?: boolean;
}

export class RequestLimit {
  readonly #runtime: Runtime;
  readonly #pace: Pace;
  readonly #semaphore: Semaphore;
  /** Round trips of requests that had the way to themselves: others may have stood in line. */
  readonly #lone = new RoundTrip();
  readonly #all = new RoundTrip();
  /** Calls of which a try was turned away as too much. */
  readonly #throttled = new WeakSet<object>();

  /** `inFlightMax`: the driver's. */
  constructor(runtime: Runtime, inFlightMax: number) {
    this.#runtime = runtime;
    this.#pace = new Pace(runtime);
    this.#semaphore = new Semaphore(inFlightMax);
  }

  /** The time of a lone request, about; infinite until some were seen. */
  get loneRoundTripMs(): number {
    return this.#lone.count < LONE_LEAST ? Infinity : this.#lone.ms;
  }

  /** The time of a request in between others, about; infinite before the first. */
  get roundTripMs(): number {
    return this.#all.ms || Infinity;
  }

  /** A try of the call was turned away as too much, and is sent again without another turn. */
  noteThrottledTry(call: object): void {
    this.#throttled.add(call);
    this.#pace.note(true);
  }

  /** Whether a try of the call was turned away as too much. */
  wasThrottled(call: object): boolean {
    return this.#throttled.has(call);
  }

  /** Calls `send` when a request may go out. It never rejects; undefined: nothing to send. */
  async run(send: () => Promise<Reply | undefined>): Promise<void> {
    // Also where there is room: what comes in the same moment shares the request.
    await this.#semaphore.acquire();
    try {
      const turn = this.#pace.turn();
      if (turn !== undefined) await turn;
      const isLone = this.#semaphore.active === 1;
      const sentMs = this.#runtime.monotonicMs();
      const reply = await send();
      if (reply === undefined) return;
      this.#pace.note(reply.isThrottled === true);
      if (reply.isFailed === true) return;
      const tookMs = this.#runtime.monotonicMs() - sentMs;
      this.#all.note(tookMs);
      if (isLone) this.#lone.note(tookMs);
    } finally {
      this.#semaphore.release();
    }
  }
}
