// How requests leave: with whom (the commits of one lane share one), when (a bound on those in
// flight, and a pace once the provider turns some away), and what is tried again (reads and lists).
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
import { RoundTrip } from '../traffic/round-trip.ts';
import { type Provider, sendWrites } from './send.ts';

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

/** Hears how long a request took that was answered at `nowMs`, and what it wrote to. */
type NoteRoundTrip = (ms: number, ids: readonly EntityId[], nowMs: number) => void;

export class WriteBatcher {
  readonly #provider: Provider;
  readonly #limit: RequestLimit;
  readonly #noteRoundTrip: NoteRoundTrip;
  /** Not sent yet, the oldest first: at most one a container, whose queue sends no other before. */
  readonly #waiting = new Map<EntityId, Waiting>();

  constructor(provider: Provider, limit: RequestLimit, noteRoundTrip: NoteRoundTrip) {
    this.#provider = provider;
    this.#limit = limit;
    this.#noteRoundTrip = noteRoundTrip;
  }

  /**
   * `isAlone`: only there a refusal is certain (rule 1). `departs` is asked once there is room, in
   * the turn in which the request leaves: false takes the write back.
   */
  send(write: Write, isAlone: boolean, departs: () => boolean): Promise<WriteOutcome | TakenBack> {
    const outcome = Promise.withResolvers<WriteOutcome | TakenBack>();
    const bytes = partBytes(write.parts);
    this.#waiting.set(write.id, { write, bytes, isAlone, operation: currentOperation(), departs, outcome });
    void this.#limit.run((sentMs) => this.#depart(sentMs));
    return outcome.promise;
  }

  /** Whether a write of the container was not sent yet. */
  isWaiting(id: EntityId): boolean {
    return this.#waiting.has(id);
  }

  async #depart(sentMs: number): Promise<Reply | undefined> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return undefined;
    const writes = batch.map(({ write }) => write);
    try {
      const outcomes = await sendWrites(this.#provider, writes, batch[0]?.operation);
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(outcomes[index]!);
      const answeredMs = this.#limit.nowMs();
      const isThrottled = outcomes.some((each) => each.kind !== 'written' && each.reason === 'throttled');
      const isFailed = outcomes.some((each) => each.kind !== 'written' && each.reason !== 'condition');
      const ids = writes.map(({ id }) => id);
      if (!isFailed) this.#noteRoundTrip(answeredMs - sentMs, ids, answeredMs);
      return { isThrottled, isFailed, answeredMs };
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error);
      return { isFailed: true };
    }
  }

  /** The write that waits longest, with those of its lane that fit into the same request. */
  #nextBatch(): Waiting[] {
    const { limits } = this.#provider.driver;
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

/** Lone round trips needed: one or two may have been quick by chance. */
const LONE_LEAST = 8;

/** How a request was answered. */
export interface Reply {
  /** Whether the provider turned it away as too much. */
  readonly isThrottled?: boolean;
  /** Whether it failed: how soon says nothing of the way. */
  readonly isFailed?: boolean;
  /** Default: when it is told. */
  readonly answeredMs?: number;
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

  nowMs(): number {
    return this.#runtime.monotonicMs();
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
    noteEvent('throttled', undefined);
    this.#throttled.add(call);
    this.#pace.note(true, this.nowMs());
  }

  /** Whether a try of the call was turned away as too much. */
  wasThrottled(call: object): boolean {
    return this.#throttled.has(call);
  }

  /** Calls `send` when a request may go out. It never rejects; undefined: nothing to send. */
  async run(send: (sentMs: number) => Promise<Reply | undefined>): Promise<void> {
    // Also where there is room: what comes in the same moment shares the request.
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

const AT_ONCE = Promise.resolve();

/** A bound on work at a time. It makes no promise if there is room; p-limit makes seven a call. */
export class Semaphore {
  readonly #max: number;
  readonly #line: (() => void)[] = [];
  /** How many work now, or were told that they may. */
  active = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Awaited before the work, which ends with `release`. */
  acquire(): Promise<void> {
    if (this.active < this.#max) {
      this.active += 1;
      return AT_ONCE;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  release(): void {
    const next = this.#line.shift();
    if (next === undefined) this.active -= 1;
    else next();
  }
}

/** Replies are judged together over so long, and so many of them, at least. */
const JUDGED_MS = 250;
const JUDGED_REPLIES = 16;
/** Spread over a longer time they came before and after a rest. */
const JUDGED_MOST_MS = 2_000;
/** The share and, for slow processes to catch up, the constant that a pace grows by. */
const GROWTH = 1.02;
const GROWTH_PER_MS = 0.008;
/** A pace never falls below this: 50 requests a second. */
const LEAST_PER_MS = 0.05;
/** A pace that is so many times what is sent holds nothing up, and ends. */
const IDLE_RATIO = 2;

/**
 * How fast a process sends after requests were turned away as too much: as fast as others were
 * taken, and a little faster after each time without a refusal.
 */
export class Pace {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
  #mostPerMs = Infinity;
  /** When the next request may leave. */
  #nextMs = 0;
  #begunMs = 0;
  #taken = 0;
  #refused = 0;

  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>) {
    this.#runtime = runtime;
  }

  /** Until the next request may leave; undefined: at once. */
  turn(): Promise<void> | undefined {
    if (this.#mostPerMs === Infinity) return undefined;
    const nowMs = this.#runtime.monotonicMs();
    const leavesMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = leavesMs + 1 / this.#mostPerMs;
    return leavesMs > nowMs ? this.#runtime.sleep(leavesMs - nowMs) : undefined;
  }

  /** A request was answered. */
  note(isRefused: boolean, nowMs: number): void {
    if (isRefused) this.#refused += 1;
    else this.#taken += 1;
    const tookMs = nowMs - this.#begunMs;
    if (tookMs < JUDGED_MS || this.#taken + this.#refused < JUDGED_REPLIES) return;
    if (tookMs < JUDGED_MOST_MS) this.#judge(this.#taken / tookMs);
    this.#begunMs = nowMs;
    this.#taken = 0;
    this.#refused = 0;
  }

  #judge(takenPerMs: number): void {
    if (this.#refused > 0) this.#mostPerMs = Math.max(LEAST_PER_MS, takenPerMs);
    else if (this.#mostPerMs > IDLE_RATIO * takenPerMs) this.#mostPerMs = Infinity;
    else this.#mostPerMs = GROWTH * this.#mostPerMs + GROWTH_PER_MS;
  }
}

const READ_TRIES_MAX = 4;
const READ_PAUSE_FIRST_MS = 50;
/** No try begins later: a caller hears soon of a provider that is silent. */
const READ_LAST_TRY_MS = 10_000;

/** After so many answers a turn ends: work on a driver that answers at once lets timers fire. */
const ANSWERS_A_TURN = 1_024;
/** Stands for an outcome that a driver left out: it said nothing of the write's fate. */
const NO_OUTCOME: Unknown = { kind: 'unknown', reason: 'other' };

/**
 * Up to 4 tries of reads and lists (rule 2) on retryable errors, more where throttled, with
 * doubling, jittered pauses, within 10 s and the call's time. `onThrottled` hears of such tries by
 * their requests. `failure`: why the last try failed of a call that goes on.
 */
export function withRetry(driver: Driver, runtime: Runtime, onThrottled: (call: object) => void) {
  const failures = new Map<object, StoreError>();
  let answers = 0;
  /** A turn to wait for, after so many answers. */
  const turn = (): Promise<void> | undefined => {
    answers += 1;
    return answers % ANSWERS_A_TURN === 0 ? runtime.nextTurn() : undefined;
  };
  type Try<T> = (options: DriverCallOptions) => Promise<T>;
  const retried = async <T>(options: DriverCallOptions, call: Try<T>, named: object = options): Promise<T> => {
    const begunMs = runtime.monotonicMs();
    const dueMs = begunMs + options.timeoutMs;
    const lastMs = Math.min(dueMs, begunMs + READ_LAST_TRY_MS);
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          const answer = await call({ timeoutMs: Math.max(1, dueMs - runtime.monotonicMs()) });
          const ended = turn();
          if (ended !== undefined) await ended;
          return answer;
        } catch (error) {
          if (!(error instanceof StoreError && error.retryable)) throw error;
          if (error.code === 'throttled') onThrottled(named);
          failures.set(options, error);
          const jitter = 0.5 + (asBuffer(runtime.random(1))[0] ?? 0) / 256;
          const pauseMs = READ_PAUSE_FIRST_MS * 2 ** (tries - 1) * jitter + (error.retryAfterMs ?? 0);
          const isLast = tries === READ_TRIES_MAX && error.code !== 'throttled';
          if (isLast || runtime.monotonicMs() + pauseMs >= lastMs) throw error;
          await runtime.sleep(pauseMs);
        }
      }
    } finally {
      failures.delete(options);
    }
  };
  const outcomes = <O>(asked: readonly unknown[], answering: Promise<readonly O[] | undefined>) =>
    answering.then((answer) => {
      const complete = asked.map((_, index) => answer?.[index] ?? NO_OUTCOME);
      return turn()?.then(() => complete) ?? complete;
    });
  return {
    failure: (): StoreError | undefined => [...failures.values()].at(-1),
    driver: {
      limits: driver.limits,
      read: (requests, options) =>
        retried(options, (each) => driver.read(requests, each), requests).then((entities) =>
          complete(entities, requests.length),
        ),
      list: (prefix, cursor, count, options) => retried(options, (each) => driver.list(prefix, cursor, count, each)),
      write: (writes, options) => outcomes(writes, driver.write(writes, options)),
      remove: (removals, options) => outcomes(removals, driver.remove(removals, options)),
      close: () => driver.close(),
    } satisfies Driver as Driver,
  };
}

/** Throws for a read that was not answered: it would pass for absence. */
function complete<E>(entities: readonly E[] | undefined, asked: number): readonly E[] {
  if (entities?.length === asked) return entities;
  const message = `the driver answered ${entities?.length ?? 'none'} of ${asked} reads: mend the driver`;
  throw new StoreError('unavailable', message, { retryable: false });
}
