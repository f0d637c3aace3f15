// What a store remembers of single containers for a while: hints, shared by all tables, whose loss costs a request or a shared train.
import { LRUCache } from 'lru-cache';
import type { EntityId } from '../contract/driver.ts';

/** Containers remembered for each of the reasons. */
const CONTAINERS_MAX = 1_000;
/** Commits in a row without trouble after which a container may ride with others again. */
const QUIET_COMMITS = 8;

export class RecentContainers {
  /** Containers whose last check met a foreign commit: there header and page are asked for at once. */
  readonly foreign = new LRUCache<EntityId, true>({ max: CONTAINERS_MAX });
  /** Containers that met trouble, with their commits since. */
  readonly #troubled = new LRUCache<EntityId, number>({ max: CONTAINERS_MAX });

  /** A commit of the container was refused, or its fate is unknown. */
  noteFailure(id: EntityId): void {
    this.#troubled.set(id, 0);
  }

  /** A commit of the container was acknowledged. */
  noteSuccess(id: EntityId): void {
    const quietCommits = this.#troubled.get(id);
    if (quietCommits === undefined) return;
    if (quietCommits + 1 === QUIET_COMMITS) this.#troubled.delete(id);
    else this.#troubled.set(id, quietCommits + 1);
  }

  /** Whether the container's commits are to travel alone. */
  failedRecently(id: EntityId): boolean {
    return this.#troubled.has(id);
  }
}
