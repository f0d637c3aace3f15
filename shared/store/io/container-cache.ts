// Containers in memory, bounded in bytes, least recently used first out. Only snapshots of what the provider showed or acknowledged
// enter, and a container's snapshot never goes back to an earlier commit.
import { LRUCache } from 'lru-cache';
import { memoryBytes, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';

export class ContainerCache {
  readonly #snapshots: LRUCache<EntityId, Snapshot>;

  constructor(bytesMax: number) {
    this.#snapshots = new LRUCache({ maxSize: bytesMax, sizeCalculation: memoryBytes });
  }

  get(id: EntityId): Snapshot | undefined {
    return this.#snapshots.get(id);
  }

  /** Takes a snapshot in unless a later one is known; returns the one to use from now on. Also accounts for pages that became known. */
  offer(snapshot: Snapshot): Snapshot {
    const known = this.#snapshots.peek(snapshot.id);
    if (known !== undefined && known.header.commitCount > snapshot.header.commitCount) return known;
    if (known !== undefined && known.version === snapshot.version && known.seen.tick > snapshot.seen.tick)
      snapshot.seen = known.seen;
    // The same object may hold more by now, and is weighed only as a new entry.
    if (known === snapshot) this.#snapshots.delete(snapshot.id);
    this.#snapshots.set(snapshot.id, snapshot);
    return snapshot;
  }

  /** What was read of a container no longer holds, or the container is gone. */
  forget(id: EntityId): void {
    this.#snapshots.delete(id);
  }

  /** Forgets the branches and the root of a table, so that the next descent reads them. */
  forgetBranches(prefix: string, root: EntityId): void {
    this.#snapshots.delete(root);
    for (const [id, snapshot] of this.#snapshots.entries()) {
      if (id.startsWith(prefix) && snapshot.header.level > 0) this.#snapshots.delete(id);
    }
  }
}
