// The way of one request: to the service, through its limits, locks and service time to its effect, and back. Each step is an event; what
// becomes of the caller is settled once, by the reply, a failure or the deadline.
import type { ProviderParameters } from '../data/parameters.ts';
import type { Scheduler } from '../time/scheduler.ts';
import type { Admission } from './admission.ts';
import { countServed, type ServiceCounters } from './counters.ts';
import type { Draws } from './draws.ts';
import type { Claimant, EntityLocks } from './entity-locks.ts';
import { type Describe, FAILURES, type Failure, type ModelRequest, type Reply } from './request.ts';
import type { ServiceTimes } from './times.ts';

/** What the requests of one service share. */
export interface ServiceParts {
  readonly scheduler: Scheduler;
  readonly parameters: ProviderParameters;
  readonly counters: ServiceCounters;
  readonly draws: Draws;
  readonly times: ServiceTimes;
  readonly admission: Admission;
  /** Undefined where nothing waits for an entity. */
  readonly locks: EntityLocks | undefined;
  /** For how much of its service time a write holds its entities. */
  readonly holdShare: number;
  /** How much of a service time, or of a hold, goes before the effect. */
  readonly effectShare: number;
  readonly lossOfRequests: number;
  readonly lossOfReplies: number;
}

/** What a request does, and what its result means. */
export interface Effect<T> {
  readonly run: () => T;
  readonly describe: Describe<T> | undefined;
}

/** How its caller learns. */
export interface Caller<T> {
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
}

export class Transit<T> implements Claimant {
  readonly #parts: ServiceParts;
  readonly #request: ModelRequest;
  readonly #effect: Effect<T>;
  readonly #caller: Caller<T>;
  readonly #deadlineMs: number;
  blockedBy = 0;
  #isSettled = false;
  #isTimed = false;
  #isWaiting = false;
  #holds = false;
  #isReplyLost = false;
  #pace = 1;
  #serviceMs = 0;

  constructor(parts: ServiceParts, request: ModelRequest, effect: Effect<T>, caller: Caller<T>) {
    this.#parts = parts;
    this.#request = request;
    this.#effect = effect;
    this.#caller = caller;
    this.#deadlineMs = parts.scheduler.nowMs + request.timeoutMs;
  }

  start(): void {
    const { draws, times, lossOfRequests, lossOfReplies } = this.#parts;
    const wayMs = times.wayMs();
    const fate = lossOfRequests + lossOfReplies === 0 ? 1 : draws.uniform();
    if (fate < lossOfRequests) return this.#lose(wayMs);
    this.#isReplyLost = fate < lossOfRequests + lossOfReplies;
    this.#after(wayMs, () => this.#arrive());
  }

  /** Called when it holds its entities. */
  proceed(): void {
    this.#isWaiting = false;
    this.#holds = true;
    this.#after(this.#holdMs * this.#parts.effectShare, () => this.#takeEffect());
  }

  #arrive(): void {
    const { scheduler, counters, parameters, admission, times, locks, holdShare, effectShare } = this.#parts;
    const waitMs = admission.waitMs(this.#request, scheduler.nowMs);
    if (waitMs === undefined) {
      counters.throttled += 1;
      return this.#fail('throttled', parameters.get('throttle.replyMs') + times.wayMs());
    }
    this.#pace = times.pace(this.#request.kind);
    this.#serviceMs = this.#pace * times.requestMs(this.#request);
    if (locks !== undefined && this.#isWrite()) {
      this.#after(waitMs + this.#serviceMs * (1 - holdShare), () => this.#claim(locks));
    } else {
      this.#after(waitMs + this.#serviceMs * effectShare, () => this.#takeEffect());
    }
  }

  #isWrite(): boolean {
    return this.#request.kind === 'commit' || this.#request.kind === 'transaction';
  }

  get #holdMs(): number {
    return this.#serviceMs * this.#parts.holdShare;
  }

  #claim(locks: EntityLocks): void {
    if (locks.claim(this.#request.accesses, this)) return this.proceed();
    this.#isWaiting = true;
    this.#watchDeadline();
    this.#after(this.#parts.parameters.get('contention.waitMaxMs'), () => this.#giveUp(locks));
  }

  #giveUp(locks: EntityLocks): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#parts.counters.contended += 1;
    locks.abandon(this.#request.accesses, this);
    this.#fail('contended', this.#parts.times.wayMs());
  }

  #takeEffect(): void {
    const { scheduler, parameters, counters, times, admission, effectShare } = this.#parts;
    const reply: Reply = { bytes: 0, entities: 0, isRefused: false };
    let settle: () => void;
    try {
      const result = this.#effect.run();
      this.#effect.describe?.(result, reply);
      settle = () => this.#caller.resolve(result);
    } catch (error) {
      settle = () => this.#caller.reject(error);
    }
    countServed(counters, parameters.data.provider, this.#request, reply);
    if (reply.bytes > 0) admission.charge(this.#request, reply.bytes, scheduler.nowMs);
    // What is refused need not be stored, so it is answered at once.
    const storingMs = reply.isRefused ? 0 : (this.#holds ? this.#holdMs : this.#serviceMs) * (1 - effectShare);
    if (this.#holds) this.#releaseAfter(storingMs, !reply.isRefused);
    const replyMs = this.#pace * times.replyMs(this.#request.kind, reply.bytes, reply.entities);
    this.#answer(storingMs + replyMs + times.wayMs(), settle);
  }

  #releaseAfter(ms: number, isWritten: boolean): void {
    const { locks, scheduler } = this.#parts;
    const release = (): void => locks?.release(this.#request.accesses, isWritten);
    if (ms === 0) release();
    else scheduler.quietlyAt(scheduler.nowMs + ms, release);
  }

  #answer(ms: number, settle: () => void): void {
    const { scheduler } = this.#parts;
    if (this.#isReplyLost) return this.#lose(ms);
    if (scheduler.nowMs + ms > this.#deadlineMs) return this.#watchDeadline();
    scheduler.at(scheduler.nowMs + ms, () => this.#settle(settle));
  }

  /** The connection breaks after `ms`, or falls silent. */
  #lose(ms: number): void {
    const { draws, parameters, counters } = this.#parts;
    if (draws.uniform() < parameters.get('loss.silentShare')) return this.#watchDeadline();
    counters.lost += 1;
    this.#fail('lost', ms);
  }

  #fail(failure: Failure, ms: number): void {
    const { scheduler } = this.#parts;
    if (scheduler.nowMs + ms > this.#deadlineMs) return this.#watchDeadline();
    scheduler.at(scheduler.nowMs + ms, () => this.#settle(() => this.#caller.reject(FAILURES[failure])));
  }

  /** The next step at the service. The deadline is watched as soon as a step lies beyond it. */
  #after(ms: number, step: () => void): void {
    const { scheduler } = this.#parts;
    const dueMs = scheduler.nowMs + ms;
    if (dueMs > this.#deadlineMs) this.#watchDeadline();
    scheduler.quietlyAt(dueMs, step);
  }

  #watchDeadline(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    const { scheduler, counters } = this.#parts;
    scheduler.at(this.#deadlineMs, () =>
      this.#settle(() => {
        counters.timedOut += 1;
        this.#caller.reject(FAILURES['timed-out']);
      }),
    );
  }

  #settle(how: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    how();
  }
}
