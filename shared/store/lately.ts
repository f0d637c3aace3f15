// What a store remembers of single containers for a while: hints, shared by all tables, whose loss costs a request or a shared train.
import { LRUCache } from 'lru-cache';
import type { EntityId } from './driver.ts';

/** Containers remembered for each of the reasons. */
const CONTAINERS_MAX = 1_000;

export class Lately {
  /** Containers whose last check met a foreign commit: there header and page are asked for at once. */
  readonly foreign = new LRUCache<EntityId, true>({ max: CONTAINERS_MAX });
  /** Containers that met trouble, with their commits since: they travel alone. */
  readonly troubled = new LRUCache<EntityId, number>({ max: CONTAINERS_MAX });
  /** When containers were committed to, by the monotonic clock; kept only where commits are capped. */
  readonly committedMs = new LRUCache<EntityId, number>({ max: CONTAINERS_MAX });
}
