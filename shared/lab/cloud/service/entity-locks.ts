// Locks, first come, first served. A request claims all at its arrival: no two wait for each other.
import type { ProviderParameters } from '../data/parameters.ts';
import type { Scheduler } from '../../kit/scheduler.ts';
import type { Access, Transaction } from './request.ts';

/** A request that waits for its entities, or holds them. */
export interface Claimant {
  /** Entities that others hold still. */
  blockedBy: number;
  /** Called when it holds all its entities after a wait. */
  proceed(): void;
}

interface Lock {
  /** The first holds the entity. */
  readonly queue: Claimant[];
  /** Nobody may have it yet: it was written more often than its rate allows. */
  isResting: boolean;
  /** Until when the writes so far use up the rate. */
  spentMs: number;
}

/** Recent locks stay, for their rate; those that are spent are swept from this many on. */
const SWEEP_FROM = 65_536;

export class EntityLocks {
  readonly #scheduler: Scheduler;
  /** Between an entity's writes in the long run; they are spaced when a burst has gone by. */
  readonly #spacingMs: number;
  readonly #burstMs: number;
  readonly #locks = new Map<string, Lock>();
  #sweepAt = SWEEP_FROM;

  constructor(parameters: ProviderParameters, scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#spacingMs = 1_000 / parameters.get('contention.writesPerSecond');
    this.#burstMs = parameters.get('contention.burstWrites') * this.#spacingMs;
  }

  /** True if it holds them all at once; else `proceed` tells. */
  claim(entities: readonly Access[], claimant: Claimant): boolean {
    claimant.blockedBy = 0;
    for (const { id } of entities) {
      let lock = this.#locks.get(id);
      if (lock === undefined) this.#locks.set(id, (lock = { queue: [], isResting: false, spentMs: 0 }));
      if (lock.queue.push(claimant) > 1 || lock.isResting) claimant.blockedBy += 1;
    }
    return claimant.blockedBy === 0;
  }

  /** Gives up what it waits for, and what it holds. */
  abandon(entities: readonly Access[], claimant: Claimant): void {
    for (const { id } of entities) {
      const lock = this.#locks.get(id)!;
      const place = lock.queue.indexOf(claimant);
      lock.queue.splice(place, 1);
      if (place === 0 && !lock.isResting) this.#passOn(id, lock);
    }
  }

  /** Ends the hold of the first in line. */
  release(entities: readonly Access[], isWritten: boolean): void {
    const { nowMs } = this.#scheduler;
    for (const { id } of entities) {
      const lock = this.#locks.get(id)!;
      lock.queue.shift();
      if (isWritten) lock.spentMs = Math.max(lock.spentMs, nowMs) + this.#spacingMs;
      const restsUntilMs = lock.spentMs - this.#burstMs;
      if (restsUntilMs <= nowMs) {
        this.#passOn(id, lock);
        continue;
      }
      lock.isResting = true;
      this.#scheduler.quietlyAt(restsUntilMs, () => {
        lock.isResting = false;
        this.#passOn(id, lock);
      });
    }
  }

  /** Ends a transaction, and the hold of what it has. */
  end(transaction: Transaction, isWritten: boolean): void {
    const { held } = transaction;
    transaction.held = undefined;
    transaction.isOver = true;
    if (held !== undefined) this.release(held, isWritten);
  }

  #passOn(id: string, lock: Lock): void {
    const [next] = lock.queue;
    if (next !== undefined) {
      next.blockedBy -= 1;
      if (next.blockedBy === 0) next.proceed();
      return;
    }
    if (lock.spentMs <= this.#scheduler.nowMs) this.#locks.delete(id);
    else if (this.#locks.size > this.#sweepAt) this.#sweep();
  }

  #sweep(): void {
    const { nowMs } = this.#scheduler;
    for (const [id, lock] of this.#locks) {
      if (lock.queue.length === 0 && !lock.isResting && lock.spentMs <= nowMs) this.#locks.delete(id);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#locks.size);
  }
}
