// When and with whom requests leave. Commits that wait at the same moment and lie in one lane (a
// partition, say) share a request. A limited number is in flight, paced once the provider throttles
// some, and reads and lists are tried again.
import {
  type Driver,
  type DriverCallOptions,
  type EntityId,
  partBytes,
  type Unknown,
  type Write,
  type WriteOutcome,
} from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { OperationTrace } from '../contract/trace.ts';
import { asBuffer } from '../format/bytes.ts';
import { currentOperation, noteEvent } from '../system/tracing.ts';
import { type RequestContext, sendWrites } from './send.ts';

interface Waiting {
  readonly write: Write;
  readonly bytes: number;
  readonly isAlone: boolean;
  readonly operation: OperationTrace | undefined;
  readonly departs: () => boolean;
  readonly outcome: PromiseWithResolvers<WriteOutcome | TakenBack>;
}

/** The write was not sent. */
export interface TakenBack {
  readonly kind: 'taken back';
}

export class WriteBatcher {
  readonly #context: RequestContext;
  readonly #limit: RequestLimit;
  /** Writes not sent yet, oldest first; at most one per container, which sends one at a time. */
  readonly #waiting = new Map<EntityId, Waiting>();

  constructor(context: RequestContext, limit: RequestLimit) {
    this.#context = context;
    this.#limit = limit;
  }

  /**
   * Sends the write once a request may leave. `isAlone` gives it a request to itself, in which a
   * refusal is certain (rule 1). `departs` is called just before the request leaves; if it returns
   * false, the write is taken back.
   */
  send(write: Write, isAlone: boolean, departs: () => boolean): Promise<WriteOutcome | TakenBack> {
    const outcome = Promise.withResolvers<WriteOutcome | TakenBack>();
    const bytes = partBytes(write.parts);
    this.#waiting.set(write.id, { write, bytes, isAlone, operation: currentOperation(), departs, outcome });
    void this.#limit.run(() => this.#depart());
    return outcome.promise;
  }

  async #depart(): Promise<Reply | undefined> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return undefined;
    const writes = batch.map(({ write }) => write);
    try {
      const outcomes = await sendWrites(this.#context, writes, batch[0]?.operation);
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(outcomes[index]!);
      const answeredMs = this.#limit.nowMs();
      const isThrottled = outcomes.some((each) => each.kind !== 'written' && each.reason === 'throttled');
      const isFailed = outcomes.some((each) => each.kind !== 'written' && each.reason !== 'condition');
      return { isThrottled, isFailed, answeredMs };
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error);
      return { isFailed: true };
    }
  }

  /** Takes the write that has waited longest, and those of its lane that fit into its request. */
  #nextBatch(): Waiting[] {
    const { limits } = this.#context.driver;
    const batch: Waiting[] = [];
    let lane: string | undefined;
    let bytes = 0;
    for (const [id, next] of this.#waiting) {
      const isApart = next.isAlone || limits.lane(id) !== lane || bytes + next.bytes > limits.writeBytesMax;
      if (batch.length > 0 && isApart) continue;
      this.#waiting.delete(id);
      if (!next.departs()) {
        next.outcome.resolve({ kind: 'taken back' });
        continue;
      }
      batch.push(next);
      lane = limits.lane(id);
      bytes += next.bytes;
      if (next.isAlone || batch.length === limits.writesMax) break;
    }
    return batch;
  }
}

/** Fewer lone round trips than this tell nothing: one or two may have been quick by chance. */
const LONE_MIN = 8;

/** How a request was answered. */
export interface Reply {
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
  async run(send: () => Promise<Reply | undefined>): Promise<void> {
    await this.#semaphore.acquire();
    try {
      const turn = this.#pace.turn();
      if (turn !== undefined) await turn;
      const isLone = this.#semaphore.active === 1;
      const sentMs = this.nowMs();
      const reply = await send();
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

const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 50;
/** No try begins later than this, so that a caller soon learns that a provider does not answer. */
const LAST_TRY_MS = 10_000;

/** Every so many answers the process yields: a driver that answers at once would starve timers. */
const ANSWERS_BETWEEN_YIELDS = 1_024;
/** The outcome of a write about which the driver said nothing. */
const NO_OUTCOME: Unknown = { kind: 'unknown', reason: 'other' };

/**
 * Wraps a driver so that reads and lists are tried again after retryable errors: 4 tries, and any
 * number after `throttled`, with doubling, jittered pauses and what the provider asks for on top.
 * No try begins after 10 s or the call's deadline. Writes and removals are sent once (rule 2).
 * `onThrottled` is called per throttled try, with the `requests` of a read or the options of a
 * list. `failure` returns the latest error of a call that is being tried again, if there is one.
 */
export function withRetry(driver: Driver, runtime: Runtime, onThrottled: (call: object) => void) {
  const failures = new Map<object, StoreError>();
  let answers = 0;
  const mustYield = (): boolean => (answers += 1) % ANSWERS_BETWEEN_YIELDS === 0;
  const retried = async <T>(
    options: DriverCallOptions,
    send: (options: DriverCallOptions) => Promise<T>,
    call: object = options,
  ): Promise<T> => {
    const begunMs = runtime.monotonicMs();
    const dueMs = begunMs + options.timeoutMs;
    const lastMs = Math.min(dueMs, begunMs + LAST_TRY_MS);
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          const answer = await send({ timeoutMs: Math.max(1, dueMs - runtime.monotonicMs()) });
          if (mustYield()) await runtime.nextTurn();
          return answer;
        } catch (error) {
          if (!(error instanceof StoreError && error.retryable)) throw error;
          if (error.code === 'throttled') onThrottled(call);
          failures.set(options, error);
          const jitter = 0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256;
          const pauseMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * jitter + (error.retryAfterMs ?? 0);
          const isLast = tries === TRIES_MAX && error.code !== 'throttled';
          if (isLast || runtime.monotonicMs() + pauseMs >= lastMs) throw error;
          await runtime.sleep(pauseMs);
        }
      }
    } finally {
      failures.delete(options);
    }
  };
  // Without `await`, a lone put makes fewer promises.
  const outcomes = <O>(asked: readonly unknown[], answering: Promise<readonly O[] | undefined>) =>
    answering.then((answer) => {
      const told = asked.map((_, index) => answer?.[index] ?? NO_OUTCOME);
      return mustYield() ? runtime.nextTurn().then(() => told) : told;
    });
  return {
    failure: (): StoreError | undefined => [...failures.values()].at(-1),
    driver: {
      limits: driver.limits,
      read: async (requests, options) => {
        const entities = await retried(options, (each) => driver.read(requests, each), requests);
        return checkComplete(entities, requests.length);
      },
      list: (prefix, cursor, count, options) => retried(options, (each) => driver.list(prefix, cursor, count, each)),
      write: (writes, options) => outcomes(writes, driver.write(writes, options)),
      remove: (removals, options) => outcomes(removals, driver.remove(removals, options)),
      close: () => driver.close(),
    } satisfies Driver as Driver,
  };
}

/** Throws if the driver left out an entity, which would otherwise be taken for absent. */
function checkComplete<E>(entities: readonly E[] | undefined, asked: number): readonly E[] {
  if (entities?.length === asked) return entities;
  const message = `the driver answered ${entities?.length ?? 'none'} of ${asked} reads: mend the driver`;
  throw new StoreError('unavailable', message, { retryable: false });
}

/** Weights in the average. A short time is the network's alone; a long one may include queueing. */
const WEIGHT_OF_SHORTER = 1 / 8;
const WEIGHT_OF_LONGER = 1 / 32;
/** The weight in the mean, small so that it follows some hundred round trips. */
const WEIGHT_IN_MEAN = 1 / 256;
/** Longer times count as this: the process was suspended, or the provider was in trouble. */
const ROUND_TRIP_MAX_MS = 500;

/** Two averages. In `ms` short times weigh more: about a fifth of the round trips take less. */
class RoundTrip {
  /** The weighted average; 0 before the first. */
  ms = 0;
  /** The mean of the last few hundred; 0 before the first. */
  meanMs = 0;
  count = 0;

  note(tookMs: number): void {
    this.count += 1;
    const ms = Math.min(tookMs, ROUND_TRIP_MAX_MS);
    this.meanMs += (ms - this.meanMs) * Math.max(WEIGHT_IN_MEAN, 1 / this.count);
    const off = ms - this.ms;
    if (this.ms === 0) this.ms = off;
    else this.ms += off * (off < 0 ? WEIGHT_OF_SHORTER : WEIGHT_OF_LONGER);
  }
}
