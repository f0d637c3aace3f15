// Containers in memory, bounded in bytes. A snapshot enters by a read or an acknowledgement alone,
// and never replaces a later commit (rule 19). Headers of leaves that went stay.
import { LRUCache } from 'lru-cache';
import {
  fromStoredHeader,
  memoryBytes,
  pageBytesOf,
  SMALL_BYTES,
  type Snapshot,
  type StoredHeader,
  storedHeaderOf,
} from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';

/** The share of the cache's bytes for headers of containers that had to go, beside it. */
const HEADERS_SHARE = 1 / 16;
const HEADERS_BYTES_LEAST = 256 * 1024;
/** The bytes of a kept header's objects, about. */
const OBJECTS_BYTES = 384;

export class ContainerCache {
  readonly #snapshots: LRUCache<EntityId, Snapshot>;
  /** Headers of leaves that had to go, as stored. */
  readonly #headers: LRUCache<EntityId, StoredHeader>;

  constructor(bytesMax: number) {
    this.#snapshots = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: memoryBytes,
      disposeAfter: (snapshot, _id, reason) => {
        if (reason === 'evict') this.#keepHeader(snapshot);
      },
    });
    this.#headers = new LRUCache({
      maxSize: Math.max(HEADERS_BYTES_LEAST, Math.ceil(bytesMax * HEADERS_SHARE)),
      sizeCalculation: ({ bytes }) => OBJECTS_BYTES + bytes.length,
    });
  }

  get(id: EntityId): Snapshot | undefined {
    return this.#snapshots.get(id);
  }

  /** A request can then ask for header and page at once. Undefined for one never here, or small. */
  recall(id: EntityId): Snapshot | undefined {
    const stored = this.#headers.get(id);
    return stored && this.offer(fromStoredHeader(stored));
  }

  /** Takes a snapshot in, and returns the later one. One with new pages is weighed anew. */
  offer(snapshot: Snapshot): Snapshot {
    const known = this.#snapshots.peek(snapshot.id);
    if (known !== undefined && known.header.commitCount > snapshot.header.commitCount) return known;
    if (known !== undefined && known.version === snapshot.version && known.seen.tick > snapshot.seen.tick)
      snapshot.seen = known.seen;
    // The cache weighs an object only when it enters.
    if (known === snapshot) this.#snapshots.delete(snapshot.id);
    this.#snapshots.set(snapshot.id, snapshot);
    if (!this.#snapshots.has(snapshot.id)) this.#keepHeader(snapshot);
    return snapshot;
  }

  #keepHeader(snapshot: Snapshot): void {
    const { id, version, header } = snapshot;
    const kept = this.#headers.get(id);
    // A reply that came late.
    if (kept !== undefined && kept.commitCount > header.commitCount) return;
    if (header.level > 0 || pageBytesOf(header) <= SMALL_BYTES) this.#headers.delete(id);
    else if (kept?.version !== version) this.#headers.set(id, storedHeaderOf(snapshot));
  }

  /** Forgets a container that is gone, or of which memory is out of date. */
  forget(id: EntityId): void {
    this.#snapshots.delete(id);
    this.#headers.delete(id);
  }

  /** Forgets the branches and the root of a table, so that the next descent reads them. */
  forgetBranches(prefix: string, root: EntityId): void {
    this.#snapshots.delete(root);
    for (const [id, snapshot] of this.#snapshots.entries()) {
      if (id.startsWith(prefix) && snapshot.header.level > 0) this.#snapshots.delete(id);
    }
  }
}
