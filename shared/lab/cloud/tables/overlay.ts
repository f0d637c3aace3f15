// A cell's writes and removals over a base that it shares with the next cell.
import type { MemoryEntities, StoredEntity } from '../../../drivers/memory/effects.ts';
import type { EntityId } from '../../../store/contract/driver.ts';

type Base = Pick<MemoryEntities, 'get' | 'keys'>;

export class OverlayEntities implements MemoryEntities {
  readonly #base: Base;
  readonly #written = new Map<EntityId, StoredEntity>();
  readonly #removed = new Set<EntityId>();

  constructor(base: Base) {
    this.#base = base;
  }

  get(id: EntityId): StoredEntity | undefined {
    const written = this.#written.get(id);
    return written !== undefined || this.#removed.has(id) ? written : this.#base.get(id);
  }

  set(id: EntityId, entity: StoredEntity): this {
    this.#written.set(id, entity);
    this.#removed.delete(id);
    return this;
  }

  delete(id: EntityId): boolean {
    const wasThere = this.get(id) !== undefined;
    this.#written.delete(id);
    this.#removed.add(id);
    return wasThere;
  }

  *keys(): Generator<EntityId> {
    yield* this.#written.keys();
    for (const id of this.#base.keys()) if (!this.#written.has(id) && !this.#removed.has(id)) yield id;
  }
}
