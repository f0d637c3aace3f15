// A provider's own SDK as a sender of requests: its patience, and what it sends again by itself.
import { power } from '../../kit/exact-math.ts';
import type { RequestKind } from '../data/parameters.ts';
import { type Access, type Describe, type Failure, ServiceFailure, type Transaction } from './request.ts';
import type { ModelledService } from './service.ts';

/** Datastore's client takes RESOURCE_EXHAUSTED and ABORTED for answers. */
const RETRIED: Readonly<Record<'datastore' | 'azure-tables', readonly Failure[]>> = {
  datastore: ['timed-out', 'lost'],
  'azure-tables': ['throttled', 'timed-out', 'lost'],
};

/** A request with its effect, and the meaning of its result. */
export interface SdkCall<T> {
  readonly kind: RequestKind;
  readonly accesses: readonly Access[];
  readonly effect: () => T;
  readonly describe?: Describe<T>;
  readonly transaction?: Transaction | undefined;
}

export class Sdk {
  readonly #service: ModelledService;
  readonly #retried: readonly Failure[];

  constructor(service: ModelledService) {
    this.#service = service;
    this.#retried = RETRIED[service.parameters.data.provider];
  }

  /** One request, and the SDK's retries. Rejects with a ServiceFailure when they are used up. */
  send<T>(call: SdkCall<T>): Promise<T> {
    return this.#attempt(call, 0);
  }

  #attempt<T>(call: SdkCall<T>, attempt: number): Promise<T> {
    const { kind, accesses, effect, describe, transaction } = call;
    const request = { kind, accesses, transaction, timeoutMs: this.#service.parameters.get('sdk.timeoutMs') };
    // 10,000 may be under way and nearly all succeed: a handler is less than a waiting function.
    return this.#service.send(request, effect, describe).catch(async (error: unknown) => {
      if (!this.#isRepeated(error, accesses, attempt)) throw error;
      await this.#pause(attempt);
      return this.#attempt(call, attempt + 1);
    });
  }

  #isRepeated(error: unknown, accesses: readonly Access[], attempt: number): boolean {
    if (!(error instanceof ServiceFailure) || !this.#retried.includes(error.code)) return false;
    const name = accesses[0]?.kind === 'read' ? 'sdk.readRetriesMax' : 'sdk.writeRetriesMax';
    return attempt < this.#service.parameters.get(name);
  }

  /** Grows with each attempt; half of it is left to chance. */
  #pause(attempt: number): Promise<void> {
    const { parameters, scheduler, draws } = this.#service;
    const grownMs = parameters.get('sdk.retryBaseMs') * power(parameters.get('sdk.retryFactor'), attempt);
    const delayMs = Math.min(parameters.get('sdk.retryDelayMaxMs'), grownMs);
    return scheduler.after(delayMs / 2 + (draws.uniform() * delayMs) / 2);
  }
}
