// Containers in memory, bounded in bytes; the least recently used go first. A snapshot enters only if a read showed it or the provider
// acknowledged it, and a later commit of a container is never replaced by an earlier one (rule 19).
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

  /** Takes a snapshot in, unless a later one is known, and returns the later one. A snapshot of which more pages became known is weighed anew. */
  offer(snapshot: Snapshot): Snapshot {
    const known = this.#snapshots.peek(snapshot.id);
    if (known !== undefined && known.header.commitCount > snapshot.header.commitCount) return known;
    if (known !== undefined && known.version === snapshot.version && known.seen.tick > snapshot.seen.tick)
      snapshot.seen = known.seen;
    // The cache weighs an object only when it enters.
    if (known === snapshot) this.#snapshots.delete(snapshot.id);
    this.#snapshots.set(snapshot.id, snapshot);
    return snapshot;
  }

  /** Forgets a container that is gone, or of which memory is out of date. */
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
