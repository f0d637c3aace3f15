// A modelled service in virtual time.
import { Mechanisms } from './mechanisms.ts';
import type { Describe, ModelRequest, Transaction } from './request.ts';
import { Transit } from './transit.ts';

/** https://cloud.google.com/datastore/docs/concepts/limits: idle expiration of a transaction. */
const TRANSACTION_IDLE_MS = 60_000;

export class ModelledService extends Mechanisms {
  /** `effect` runs at most once. Rejects with a ServiceFailure, or as the effect throws. */
  send<T>(request: ModelRequest, effect: () => T, describe?: Describe<T>): Promise<T> {
    this.counters.requests += 1;
    const transit = new Transit(this, request, effect, describe);
    return new Promise((resolve, reject) => {
      transit.start(resolve, reject);
    });
  }

  /** At once if it was rolled back, else when it was idle for a minute. */
  endUncommitted(transaction: Transaction, isRolledBack: boolean): void {
    const { locks, scheduler } = this;
    if (locks === undefined) return;
    if (isRolledBack) locks.end(transaction, false);
    else scheduler.quietlyAt(scheduler.nowMs + TRANSACTION_IDLE_MS, () => locks.end(transaction, false));
  }
}
