// When requests leave: at most so many are in flight, and once the provider throttles some, all of
// them are paced. It also measures how long requests take.
import type { Runtime } from '../contract/runtime.ts';
import { noteEvent } from '../system/tracing.ts';
import { RoundTrip } from './round-trip.ts';

/** Fewer lone round trips than this tell nothing: one or two may have been quick by chance. */
const LONE_MIN = 8;

/** How a request was answered. */
export interface Reply {
  /** Whether the provider throttled it. */
  readonly isThrottled?: boolean;
  /** Whether it failed. The time of a failure tells nothing about the network. */
  readonly isFailed?: boolean;
  /** Default: the moment at which the reply is returned. */
  readonly answeredMs?: number;
}

export class RequestLimit {
  readonly #runtime: Runtime;
  readonly #pace: Pace;
  readonly #semaphore: Semaphore;
  /** Round trips of requests that were alone in flight when they left, and queued behind none. */
  readonly #lone = new RoundTrip();
  readonly #all = new RoundTrip();
  /** Calls of which at least one try was throttled. */
  readonly #throttled = new WeakSet<object>();

  /** `inFlightMax`: the driver's. */
  constructor(runtime: Runtime, inFlightMax: number) {
    this.#runtime = runtime;
    this.#pace = new Pace(runtime);
    this.#semaphore = new Semaphore(inFlightMax);
  }

  nowMs(): number {
    return this.#runtime.monotonicMs();
  }

  /** The typical time of a request that is alone in flight; Infinity until 8 were measured. */
  get loneRoundTripMs(): number {
    return this.#lone.count < LONE_MIN ? Infinity : this.#lone.ms;
  }

  /** The typical time of a request among others; Infinity before the first. */
  get roundTripMs(): number {
    return this.#all.ms || Infinity;
  }

  /** The mean time of all requests; Infinity before the first. */
  get meanRoundTripMs(): number {
    return this.#all.meanMs || Infinity;
  }

  /** Slows the pace: a try of the call was throttled. Its next try does not pass through `run`. */
  noteThrottledTry(call: object): void {
    noteEvent('throttled', undefined);
    this.#throttled.add(call);
    this.#pace.note(true, this.nowMs());
  }

  wasThrottled(call: object): boolean {
    return this.#throttled.has(call);
  }

  /**
   * Calls `send` once a request may leave, and never rejects. `send` returns undefined if nothing
   * is left to send. Even if there is room it is called in a later microtask: what is asked for at
   * the same moment can then share the request.
   */
  async run(send: (sentMs: number) => Promise<Reply | undefined>): Promise<void> {
    await this.#semaphore.acquire();
    try {
      const turn = this.#pace.turn();
      if (turn !== undefined) await turn;
      const isLone = this.#semaphore.active === 1;
      const sentMs = this.nowMs();
      const reply = await send(sentMs);
      if (reply === undefined) return;
      const { answeredMs = this.nowMs() } = reply;
      this.#pace.note(reply.isThrottled === true, answeredMs);
      if (reply.isFailed === true) return;
      this.#all.note(answeredMs - sentMs);
      if (isLone) this.#lone.note(answeredMs - sentMs);
    } finally {
      this.#semaphore.release();
    }
  }
}

const RESOLVED = Promise.resolve();

/** Bounds how much work runs at a time. With room left it makes no promise; p-limit makes seven. */
export class Semaphore {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  /** How many hold a place. */
  active = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when the caller has a place, in the order of calls. The caller must `release` it. */
  acquire(): Promise<void> {
    if (this.active < this.#max) {
      this.active += 1;
      return RESOLVED;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.active -= 1;
    else next();
  }
}

/** Replies are judged together once both this time has passed and this many have come. */
const JUDGED_MS = 250;
const JUDGED_REPLIES = 16;
/** Replies spread over a longer time are not judged: the process was idle in between. */
const JUDGED_MAX_MS = 2_000;
/** A pace grows by this factor and, so that slow processes catch up, by this constant. */
const GROWTH = 1.02;
const GROWTH_PER_MS = 0.008;
/** A pace never falls below 50 requests per second. */
const PACE_MIN_PER_MS = 0.05;
/** A pace ends once it exceeds this multiple of what is sent: then it delays nothing. */
const IDLE_RATIO = 2;

/**
 * How fast a process sends after the provider throttled requests: at first as fast as the provider
 * accepted others, then a little faster after each interval without a throttled request.
 */
export class Pace {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
  #maxPerMs = Infinity;
  /** When the next request may leave. */
  #nextMs = 0;
  #begunMs = 0;
  #accepted = 0;
  #throttled = 0;

  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>) {
    this.#runtime = runtime;
  }

  /** Resolves when the next request may leave; undefined if it may leave at once. */
  turn(): Promise<void> | undefined {
    if (this.#maxPerMs === Infinity) return undefined;
    const nowMs = this.#runtime.monotonicMs();
    const leavesMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = leavesMs + 1 / this.#maxPerMs;
    return leavesMs > nowMs ? this.#runtime.sleep(leavesMs - nowMs) : undefined;
  }

  /** Counts the answer to a request, and adjusts the pace at the end of each interval. */
  note(isThrottled: boolean, nowMs: number): void {
    if (isThrottled) this.#throttled += 1;
    else this.#accepted += 1;
    const tookMs = nowMs - this.#begunMs;
    if (tookMs < JUDGED_MS || this.#accepted + this.#throttled < JUDGED_REPLIES) return;
    if (tookMs < JUDGED_MAX_MS) this.#judge(this.#accepted / tookMs);
    this.#begunMs = nowMs;
    this.#accepted = 0;
    this.#throttled = 0;
  }

  #judge(acceptedPerMs: number): void {
    if (this.#throttled > 0) this.#maxPerMs = Math.max(PACE_MIN_PER_MS, acceptedPerMs);
    else if (this.#maxPerMs > IDLE_RATIO * acceptedPerMs) this.#maxPerMs = Infinity;
    else this.#maxPerMs = GROWTH * this.#maxPerMs + GROWTH_PER_MS;
  }
}
