// The mechanisms of a modelled service, as far as its provider's numbers switch them on.
import type { ProviderParameters } from '../data/parameters.ts';
import type { Scheduler } from '../../kit/scheduler.ts';
import { Admission } from './admission.ts';
import { noCounts, type ServiceCounters } from './counters.ts';
import { Draws } from './draws.ts';
import { EntityLocks } from './entity-locks.ts';
import { ServiceTimes } from './times.ts';

export class Mechanisms {
  readonly scheduler: Scheduler;
  readonly parameters: ProviderParameters;
  /** Running totals; whoever measures takes differences. */
  readonly counters: ServiceCounters = noCounts();
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

  /** `seed`: of all chance here; the scheduler has its own. */
  constructor(scheduler: Scheduler, parameters: ProviderParameters, seed: number) {
    this.scheduler = scheduler;
    this.parameters = parameters;
    this.draws = new Draws(seed);
    this.times = new ServiceTimes(parameters, this.draws);
    this.admission = new Admission(parameters);
    this.holdShare = parameters.get('contention.holdShare');
    this.locks = this.holdShare > 0 ? new EntityLocks(parameters, scheduler) : undefined;
    this.effectShare = parameters.get('effect.share');
    this.lossOfRequests = parameters.get('loss.requestShare');
    this.lossOfReplies = parameters.get('loss.replyShare');
  }
}
