// Containers in memory, bounded in bytes. Only a read or an acknowledgement adds a snapshot, and it
// never replaces that of a later commit (rule 19). The headers of evicted leaves are kept longer.
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

/** Memory for the headers of evicted leaves, as a share of the cache's bytes and on top of them. */
const HEADERS_SHARE = 1 / 16;
const HEADERS_BYTES_MIN = 256 * 1024;
/** About what the objects around a kept header take. */
const OBJECTS_BYTES = 384;

export class ContainerCache {
  readonly #snapshots: LRUCache<EntityId, Snapshot>;
  /** The headers of evicted leaves, encoded. */
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
      maxSize: Math.max(HEADERS_BYTES_MIN, Math.ceil(bytesMax * HEADERS_SHARE)),
      sizeCalculation: ({ bytes }) => OBJECTS_BYTES + bytes.length,
    });
  }

  get(id: EntityId): Snapshot | undefined {
    return this.#snapshots.get(id);
  }

  /**
   * The kept header of an evicted leaf as a snapshot without pages, so that the next request can
   * ask for header and page at once. Undefined for small leaves, which are read whole anyway.
   */
  recall(id: EntityId): Snapshot | undefined {
    const stored = this.#headers.get(id);
    return stored && this.offer(fromStoredHeader(stored));
  }

  /** Adds a snapshot unless a later commit is known, and returns the later of the two. */
  offer(snapshot: Snapshot): Snapshot {
    const known = this.#snapshots.peek(snapshot.id);
    if (known !== undefined && known.header.commitCount > snapshot.header.commitCount) return known;
    if (known !== undefined && known.version === snapshot.version && known.seen.tick > snapshot.seen.tick)
      snapshot.seen = known.seen;
    // The cache weighs an object only when it enters, and pages may have become known since.
    if (known === snapshot) this.#snapshots.delete(snapshot.id);
    this.#snapshots.set(snapshot.id, snapshot);
    if (!this.#snapshots.has(snapshot.id)) this.#keepHeader(snapshot);
    return snapshot;
  }

  #keepHeader(snapshot: Snapshot): void {
    const { id, version, header } = snapshot;
    const kept = this.#headers.get(id);
    // The reply came late: a newer header is kept already.
    if (kept !== undefined && kept.commitCount > header.commitCount) return;
    if (header.level > 0 || pageBytesOf(header) <= SMALL_BYTES) this.#headers.delete(id);
    else if (kept?.version !== version) this.#headers.set(id, storedHeaderOf(snapshot));
  }

  /** Forgets a container that is gone, or whose snapshot is out of date. */
  forget(id: EntityId): void {
    this.#snapshots.delete(id);
    this.#headers.delete(id);
  }

  /** Forgets the branches and the root of a table, so that the next search reads them. */
  forgetBranches(prefix: string, root: EntityId): void {
    this.#snapshots.delete(root);
    for (const [id, snapshot] of this.#snapshots.entries()) {
      if (id.startsWith(prefix) && snapshot.header.level > 0) this.#snapshots.delete(id);
    }
  }
}
