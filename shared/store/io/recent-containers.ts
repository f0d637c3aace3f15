// Hints about containers that were used recently, shared by all tables of a store. A hint that is lost costs a request, or a place in a batch.
import { LRUCache } from 'lru-cache';
import type { EntityId } from '../contract/driver.ts';

/** Containers remembered for each kind of hint. */
const CONTAINERS_MAX = 1_000;
/** After so many acknowledged commits in a row a container's commits may share a batch again. */
const SUCCESSES_TO_FORGET = 8;

export class RecentContainers {
  /** Containers of which a commit failed, with the commits acknowledged since. */
  readonly #successesSince = new LRUCache<EntityId, number>({ max: CONTAINERS_MAX });

  /** A commit of the container was refused, or its fate is unknown. */
  noteFailure(id: EntityId): void {
    this.#successesSince.set(id, 0);
  }

  /** A commit of the container was acknowledged. */
  noteSuccess(id: EntityId): void {
    const successes = this.#successesSince.get(id);
    if (successes === undefined) return;
    if (successes + 1 === SUCCESSES_TO_FORGET) this.#successesSince.delete(id);
    else this.#successesSince.set(id, successes + 1);
  }

  /** Whether the container's commits are to be sent alone: in a batch a refusal says nothing certain (rule 1). */
  failedRecently(id: EntityId): boolean {
    return this.#successesSince.has(id);
  }
}
