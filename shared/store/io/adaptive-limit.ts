// The limit of requests in flight: twice or half as high where that helps.
import type { Runtime } from '../contract/runtime.ts';
import { RoundTrip } from '../traffic/round-trip.ts';
import { Pace } from './pace.ts';
import { Semaphore } from './semaphore.ts';

const IN_FLIGHT_LEAST = 2;
/** A limit is judged after so many round trips, and replies enough to even a tail out. */
const JUDGED_ROUND_TRIPS = 4;
const JUDGED_REPLIES_LEAST = 32;
/** A limit is better than another if it brings this many times its operations a second. */
const BETTER_RATIO = 1.1;
/** Requests waited if a limit was so full on average: a moment would be chance. */
const FULL_SHARE = 0.9;
/** Judgements without a trial after a useless one: trials then cost little. */
const RESTS = 16;

/** Lone round trips needed: one or two may have been quick by chance. */
const LONE_LEAST = 8;

/** How a request was answered. */
export interface Reply {
  /** Operations that waited for it. */
  readonly operations: number;
  /** Whether the provider turned it away as too much. */
  readonly isThrottled?: boolean;
  /** Whether it failed: how soon says nothing of the way. */
  readonly isFailed?: boolean;
}

/** The throughput under a limit. */
interface Judgement {
  readonly limit: number;
  readonly operationsPerMs: number;
}

export class AdaptiveLimit {
  readonly #runtime: Runtime;
  readonly #pace: Pace;
  readonly #inFlightMost: number;
  readonly #semaphore: Semaphore;
  /** Round trips of requests that had the way to themselves: others may have stood in line. */
  readonly #lone = new RoundTrip();
  readonly #all = new RoundTrip();
  #replies: Replies;
  /** The limit before the present one, while that is on trial. */
  #before: Judgement | undefined;
  #isUpNext: boolean;
  #rests = 0;

  /** `inFlightMost`: however well it goes; the driver's. */
  constructor(runtime: Runtime, inFlightMost: number, inFlightFirst = inFlightMost) {
    this.#runtime = runtime;
    this.#pace = new Pace(runtime);
    this.#inFlightMost = inFlightMost;
    const first = Math.min(inFlightFirst, inFlightMost);
    this.#semaphore = new Semaphore(first);
    this.#replies = new Replies(first);
    this.#isUpNext = first < inFlightMost;
  }

  /** Requests that may be in flight now. */
  get inFlightMax(): number {
    return this.#semaphore.max;
  }

  /** The time of a lone request, about; infinite until some were seen. */
  get loneRoundTripMs(): number {
    return this.#lone.count < LONE_LEAST ? Infinity : this.#lone.ms;
  }

  /** The time of a request in between others, about; infinite before the first. */
  get roundTripMs(): number {
    return this.#all.ms || Infinity;
  }

  /** A try was turned away as too much, and is sent again without another turn. */
  noteThrottledTry(): void {
    this.#pace.note(true);
  }

  /** Calls `send` when a request may go out. It never rejects; undefined: nothing to send. */
  async run(send: () => Promise<Reply | undefined>): Promise<void> {
    // Also where there is room: what comes in the same moment shares the request.
    await this.#semaphore.acquire();
    try {
      const turn = this.#pace.turn();
      if (turn !== undefined) await turn;
      const replies = this.#replies;
      const inFlight = this.#semaphore.active;
      const sentMs = this.#runtime.monotonicMs();
      const reply = await send();
      if (reply === undefined) return;
      const tookMs = this.#runtime.monotonicMs() - sentMs;
      this.#pace.note(reply.isThrottled === true);
      if (reply.isFailed !== true) {
        this.#all.note(tookMs);
        if (inFlight === 1) this.#lone.note(tookMs);
      }
      // A request that was sent under another limit says nothing of this one.
      if (replies === this.#replies) this.#note(reply, inFlight, tookMs);
    } finally {
      this.#semaphore.release();
    }
  }

  #note({ operations }: Reply, inFlight: number, tookMs: number): void {
    const replies = this.#replies;
    replies.add(operations, inFlight, tookMs);
    if (replies.areEnough) this.#judge({ limit: this.inFlightMax, operationsPerMs: replies.operationsPerMs });
  }

  #judge(now: Judgement): void {
    const before = this.#before;
    this.#before = undefined;
    if (before !== undefined && isInVain(before, now)) {
      this.#rests = RESTS;
      this.#isUpNext = before.limit > now.limit;
      this.#moveTo(before.limit);
    } else if (this.#rests > 0) {
      this.#rests -= 1;
      this.#replies = new Replies(now.limit);
    } else {
      this.#step(now);
    }
  }

  /** Tries twice as many, if requests wait, or half. A direction that brought more is kept. */
  #step(now: Judgement): void {
    const isFull = this.#semaphore.waiting > 0 || this.#replies.inFlight > FULL_SHARE * now.limit;
    const canRise = now.limit < this.#inFlightMost && isFull;
    const canFall = now.limit > IN_FLIGHT_LEAST && this.#replies.inFlight > now.limit / 2;
    if (this.#isUpNext ? canRise : canFall) {
      this.#before = now;
      this.#moveTo(this.#isUpNext ? now.limit * 2 : now.limit / 2);
    } else {
      this.#rests = RESTS;
      this.#isUpNext = !this.#isUpNext;
      this.#replies = new Replies(now.limit);
    }
  }

  #moveTo(limit: number): void {
    const inFlightMax = Math.min(this.#inFlightMost, Math.max(IN_FLIGHT_LEAST, limit));
    this.#replies = new Replies(inFlightMax);
    this.#semaphore.max = inFlightMax;
  }
}

/** A higher limit is in vain if it brought clearly less, a lower one unless more. */
function isInVain(before: Judgement, now: Judgement): boolean {
  return now.limit > before.limit
    ? before.operationsPerMs > BETTER_RATIO * now.operationsPerMs
    : now.operationsPerMs < BETTER_RATIO * before.operationsPerMs;
}

/** The replies to the requests that were sent under one limit. */
class Replies {
  readonly #enough: number;
  #count = 0;
  #operations = 0;
  #inFlight = 0;
  #tookMs = 0;

  constructor(limit: number) {
    this.#enough = Math.max(JUDGED_REPLIES_LEAST, JUDGED_ROUND_TRIPS * limit);
  }

  add(operations: number, inFlight: number, tookMs: number): void {
    this.#count += 1;
    this.#operations += operations;
    this.#inFlight += inFlight;
    this.#tookMs += tookMs;
  }

  get areEnough(): boolean {
    return this.#count >= this.#enough;
  }

  /** In flight on average, when a request was sent. */
  get inFlight(): number {
    return this.#inFlight / this.#count;
  }

  /** By Little's law, so that pauses between requests do not count. */
  get operationsPerMs(): number {
    return (this.#operations * this.inFlight) / Math.max(this.#tookMs, Number.MIN_VALUE);
  }
}
