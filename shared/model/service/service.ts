// A modelled service in virtual time: when a request takes effect, when its reply arrives, and what goes wrong with it.
import { type Random, seededRandom } from '../../compare/data/random.ts';
import type { ProviderParameters } from '../data/parameters.ts';
import type { Scheduler } from '../time/scheduler.ts';
import { type ServiceCounters, emptyCounters } from './counters.ts';
import { type ModelRequest, ServiceFailure } from './request.ts';

export interface ServiceOptions {
  readonly scheduler: Scheduler;
  readonly parameters: ProviderParameters;
  readonly seed: number;
}

export class ModelledService {
  readonly parameters: ProviderParameters;
  readonly scheduler: Scheduler;
  /** Running totals; whoever measures takes differences. */
  readonly counters: ServiceCounters = emptyCounters();
  readonly #random: Random;

  constructor({ scheduler, parameters, seed }: ServiceOptions) {
    this.scheduler = scheduler;
    this.parameters = parameters;
    this.#random = seededRandom(seed);
  }

  /**
   * Sends one request. `effect` runs at its moment at the service, at most once; its result arrives after the network's time.
   * Rejects with a ServiceFailure.
   */
  send<T>(request: ModelRequest, effect: () => T): Promise<T> {
    const { scheduler, parameters: p } = this;
    const { kind, accesses, timeoutMs } = request;
    this.counters.requests += 1;
    const sentMs = scheduler.nowMs;
    const bytes = accesses.reduce((sum, access) => sum + access.bytes, 0);
    const wayMs = this.#lognormal(p.get('network.oneWayMs.median'), p.get('network.oneWayMs.sigma'));
    const medianMs =
      p.get(`${kind}.baseMs`) +
      p.get(`${kind}.perEntityMs`) * Math.max(0, accesses.length - 1) +
      (p.get(`${kind}.perKibMs`) * bytes) / 1_024;
    const serviceMs = this.#lognormal(medianMs, p.get(`${kind}.sigma`));
    const backMs = this.#lognormal(p.get('network.oneWayMs.median'), p.get('network.oneWayMs.sigma'));
    return new Promise((resolve, reject) => {
      scheduler.at(sentMs + wayMs + serviceMs, () => {
        const result = effect();
        if (wayMs + serviceMs + backMs <= timeoutMs)
          scheduler.at(sentMs + wayMs + serviceMs + backMs, () => resolve(result));
      });
      if (wayMs + serviceMs + backMs > timeoutMs)
        scheduler.at(sentMs + timeoutMs, () => reject(new ServiceFailure('timed-out')));
    });
  }

  #lognormal(median: number, sigma: number): number {
    const gaussian = Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    return median * Math.exp(sigma * gaussian);
  }
}
