// A modelled service in virtual time: the mechanisms that its provider's numbers switch on.
import type { ProviderParameters } from '../data/parameters.ts';
import type { Scheduler } from '../time/scheduler.ts';
import { Admission } from './admission.ts';
import { noCounts, type ServiceCounters } from './counters.ts';
import { Draws } from './draws.ts';
import { EntityLocks } from './entity-locks.ts';
import type { Describe, ModelRequest, Transaction } from './request.ts';
import { ServiceTimes } from './times.ts';
import { type ServiceParts, Transit } from './transit.ts';

/** https://cloud.google.com/datastore/docs/concepts/limits: idle expiration of a transaction. */
const TRANSACTION_IDLE_MS = 60_000;

export interface ServiceOptions {
  readonly scheduler: Scheduler;
  readonly parameters: ProviderParameters;
  /** Seed of all chance here; the scheduler has its own. */
  readonly seed: number;
}

export class ModelledService {
  readonly parameters: ProviderParameters;
  readonly scheduler: Scheduler;
  /** Running totals; whoever measures takes differences. */
  readonly counters: ServiceCounters = noCounts();
  readonly draws: Draws;
  readonly #parts: ServiceParts;

  constructor({ scheduler, parameters, seed }: ServiceOptions) {
    this.scheduler = scheduler;
    this.parameters = parameters;
    this.draws = new Draws(seed);
    const get = parameters.get.bind(parameters);
    const holdShare = get('contention.holdShare');
    this.#parts = {
      scheduler,
      parameters,
      counters: this.counters,
      draws: this.draws,
      times: new ServiceTimes(parameters, this.draws),
      admission: new Admission(parameters),
      locks: holdShare > 0 ? locksOf(parameters, scheduler) : undefined,
      holdShare,
      effectShare: get('effect.share'),
      lossOfRequests: get('loss.requestShare'),
      lossOfReplies: get('loss.replyShare'),
    };
  }

  /**
   * `effect` runs at most once. Default of `describe`: no bytes, nothing refused. Rejects with a
   * ServiceFailure, or as the effect throws.
   */
  send<T>(request: ModelRequest, effect: () => T, describe?: Describe<T>): Promise<T> {
    this.counters.requests += 1;
    const transit = new Transit(this.#parts, request, effect, describe);
    return new Promise((resolve, reject) => {
      transit.start(resolve, reject);
    });
  }

  /** At once if it was rolled back, else when it was idle for a minute. */
  endUncommitted(transaction: Transaction, isRolledBack: boolean): void {
    const { locks } = this.#parts;
    if (locks === undefined) return;
    const end = (): void => locks.end(transaction, false);
    if (isRolledBack) end();
    else this.scheduler.quietlyAt(this.scheduler.nowMs + TRANSACTION_IDLE_MS, end);
  }
}

function locksOf(parameters: ProviderParameters, scheduler: Scheduler): EntityLocks {
  return new EntityLocks({
    writesPerSecond: parameters.get('contention.writesPerSecond'),
    burstWrites: parameters.get('contention.burstWrites'),
    nowMs: () => scheduler.nowMs,
    at: (dueMs, fire) => scheduler.quietlyAt(dueMs, fire),
  });
}
