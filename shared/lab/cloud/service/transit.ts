// One request through limits, locks and service time to its effect, and back: each step an event.
import type { Happening } from '../../kit/scheduler.ts';
import { countServed } from './counters.ts';
import type { Claimant, EntityLocks } from './entity-locks.ts';
import type { Mechanisms } from './mechanisms.ts';
import { type Describe, FAILURES, type Failure, type ModelRequest, type Reply } from './request.ts';

type Step = 'arrive' | 'claim' | 'take-effect' | 'settle';

const NOTHING: Reply = { bytes: 0, entities: 0, isRefused: false };

export class Transit<T> implements Claimant, Happening {
  readonly #service: Mechanisms;
  readonly #request: ModelRequest;
  readonly #effect: () => T;
  readonly #describe: Describe<T> | undefined;
  readonly #deadlineMs: number;
  #resolve: ((result: T) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  blockedBy = 0;
  #step: Step = 'arrive';
  #isTimed = false;
  #isWaiting = false;
  #holds = false;
  #isReplyLost = false;
  #pace = 1;
  #serviceMs = 0;
  #result: T | undefined;
  #error: unknown;

  constructor(service: Mechanisms, request: ModelRequest, effect: () => T, describe: Describe<T> | undefined) {
    this.#service = service;
    this.#request = request;
    this.#effect = effect;
    this.#describe = describe;
    this.#deadlineMs = service.scheduler.nowMs + request.timeoutMs;
  }

  /** Sets out. One of the two is called, once. */
  start(resolve: (result: T) => void, reject: (error: unknown) => void): void {
    this.#resolve = resolve;
    this.#reject = reject;
    const { draws, times, lossOfRequests, lossOfReplies } = this.#service;
    const wayMs = times.wayMs();
    const fate = lossOfRequests + lossOfReplies === 0 ? 1 : draws.uniform();
    if (fate < lossOfRequests) return this.#lose(wayMs);
    this.#isReplyLost = fate < lossOfRequests + lossOfReplies;
    this.#after(wayMs, 'arrive');
  }

  happen(): void {
    switch (this.#step) {
      case 'arrive':
        return this.#arrive();
      case 'claim':
        return this.#claim(this.#service.locks!);
      case 'take-effect':
        return this.#takeEffect();
      case 'settle':
        return this.#settle();
      default:
        this.#step satisfies never;
    }
  }

  proceed(): void {
    const { transaction, accesses } = this.#request;
    this.#isWaiting = false;
    this.#holds = true;
    if (transaction !== undefined) transaction.held = accesses;
    this.#after(this.#holdMs * this.#service.effectShare, 'take-effect');
  }

  #arrive(): void {
    const { scheduler, counters, parameters, admission, times, locks, holdShare, effectShare } = this.#service;
    const waitMs = admission.waitMs(this.#request, scheduler.nowMs);
    if (waitMs === undefined) {
      counters.throttled += 1;
      return this.#fail('throttled', parameters.get('throttle.replyMs') + times.wayMs());
    }
    this.#pace = times.pace(this.#request.kind);
    this.#serviceMs = this.#pace * times.requestMs(this.#request);
    if (locks !== undefined && this.#isWrite) this.#after(waitMs + this.#serviceMs * (1 - holdShare), 'claim');
    else if (locks !== undefined && this.#request.transaction !== undefined) this.#after(waitMs, 'claim');
    else this.#after(waitMs + this.#serviceMs * effectShare, 'take-effect');
  }

  get #isWrite(): boolean {
    return this.#request.kind === 'commit' || this.#request.kind === 'transaction';
  }

  /** A read holds its entity from the beginning on. */
  get #holdMs(): number {
    return this.#serviceMs * (this.#isWrite ? this.#service.holdShare : 1);
  }

  #claim(locks: EntityLocks): void {
    const { accesses, transaction } = this.#request;
    if (transaction?.held !== undefined || locks.claim(accesses, this)) return this.proceed();
    const { scheduler, parameters } = this.#service;
    this.#isWaiting = true;
    this.#watchDeadline();
    scheduler.quietlyAt(scheduler.nowMs + parameters.get('contention.waitMaxMs'), () => this.#giveUp(locks));
  }

  #giveUp(locks: EntityLocks): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#service.counters.contended += 1;
    locks.abandon(this.#request.accesses, this);
    this.#fail('contended', this.#service.times.wayMs());
  }

  #takeEffect(): void {
    const { scheduler, parameters, counters, times, admission, effectShare } = this.#service;
    const reply = this.#describe === undefined ? NOTHING : { ...NOTHING };
    try {
      this.#result = this.#effect();
      this.#describe?.(this.#result, reply);
    } catch (error) {
      this.#error = error;
    }
    countServed(counters, parameters.data.provider, this.#request, reply);
    if (reply.bytes > 0) admission.charge(this.#request, reply.bytes, scheduler.nowMs);
    // A refused write need not be stored, so it is answered at once.
    const storingMs = reply.isRefused ? 0 : (this.#holds ? this.#holdMs : this.#serviceMs) * (1 - effectShare);
    if (this.#holds) this.#releaseAfter(storingMs, !reply.isRefused);
    const replyMs = this.#pace * times.replyMs(this.#request.kind, reply.bytes, reply.entities);
    this.#answer(storingMs + replyMs + times.wayMs());
  }

  #releaseAfter(ms: number, isWritten: boolean): void {
    const { locks, scheduler } = this.#service;
    const { accesses, transaction } = this.#request;
    if (transaction !== undefined && !this.#isWrite && !transaction.isOver) return;
    const release = (): void => {
      if (transaction === undefined) locks?.release(accesses, isWritten);
      else locks?.end(transaction, isWritten);
    };
    if (ms === 0) release();
    else scheduler.quietlyAt(scheduler.nowMs + ms, release);
  }

  #answer(ms: number): void {
    if (this.#isReplyLost) return this.#lose(ms);
    const { scheduler } = this.#service;
    const dueMs = scheduler.nowMs + ms;
    if (dueMs > this.#deadlineMs) return this.#watchDeadline();
    this.#step = 'settle';
    scheduler.at(dueMs, this);
  }

  /** The connection breaks after `ms`, or falls silent. */
  #lose(ms: number): void {
    const { draws, parameters, counters, scheduler } = this.#service;
    const isSilent = draws.uniform() < parameters.get('loss.silentShare');
    if (isSilent || scheduler.nowMs + ms > this.#deadlineMs) return this.#watchDeadline();
    counters.lost += 1;
    this.#fail('lost', ms);
  }

  #fail(failure: Failure, ms: number): void {
    this.#error = FAILURES[failure];
    this.#isReplyLost = false;
    this.#answer(ms);
  }

  /** The next step at the service. The deadline is watched as soon as a step lies beyond it. */
  #after(ms: number, step: Step): void {
    const { scheduler } = this.#service;
    const dueMs = scheduler.nowMs + ms;
    if (dueMs > this.#deadlineMs) this.#watchDeadline();
    this.#step = step;
    scheduler.quietlyAt(dueMs, this);
  }

  #watchDeadline(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    const { scheduler, counters } = this.#service;
    scheduler.at(this.#deadlineMs, () => {
      if (this.#reject === undefined) return;
      counters.timedOut += 1;
      this.#error = FAILURES['timed-out'];
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#error === undefined) this.#resolve?.(this.#result as T);
    else this.#reject?.(this.#error);
    this.#resolve = undefined;
    this.#reject = undefined;
  }
}
