// Carries out the searches of one table: reads what they ask for, and hands on what the parents are
// to be told. What is in memory takes no promise.
import { byPosition } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Id64 } from '../format/bytes.ts';
import { incarnationPrefix, rootId } from '../format/entity-ids.ts';
import { beforeBound, type Position, type UpperBound } from '../format/position.ts';
import type { EntryRepair } from '../machine/leaf.ts';
import {
  endInMemory,
  type FoundLeft,
  lowsInMemory,
  type Memory,
  newSearch,
  newSearchFromTheLeft,
  type Search,
  shown,
  type TreeStep,
} from '../machine/search.ts';
import { nextTreeStep } from '../machine/tree.ts';
import type { EngineCore } from './core.ts';

export interface Routable {
  readonly position: Position;
  /** The level of the node that is sought: 0 for a leaf. */
  readonly level: number;
}

/** How a search looks at what it is for: from memory or by a read; undefined if it is missing. */
export type LookAtSought = (id: EntityId) => Promise<Snapshot | undefined>;

type StepOf<Kind extends TreeStep['kind']> = Extract<TreeStep, { readonly kind: Kind }>;

export class Tree {
  readonly #core: EngineCore;
  readonly #memory: Memory;
  readonly #hear: (hints: readonly EntryRepair[]) => void;

  /** `hear`: of what the parents are to be told. */
  constructor(core: EngineCore, hear: (hints: readonly EntryRepair[]) => void) {
    const { cache, clock, counters, table } = core;
    this.#core = core;
    this.#memory = { table, counters, get: (id) => cache.get(id), ageMs: (seen) => clock.ageMs(seen) };
    this.#hear = hear;
  }

  /** From memory unless `isAnew`. Throws `not_found` if the table does not exist. */
  async root(isAnew = false): Promise<Snapshot> {
    const from = { position: ROOT_POSITION, level: 0, until: 'root' } as const;
    return (await this.end(newSearch(from, { kind: 'root', isAnew }), 'found')).node;
  }

  /**
   * The leaf that owns `position`, as `look` sees it. Walks right, searches to the left, restarts,
   * repairs. It may be retired: its content counts until it is absorbed (rule 28).
   */
  async find(position: Position, look: LookAtSought): Promise<Snapshot> {
    return (await this.end(newSearch({ position, level: 0, until: 'seen' }), 'found', look)).node;
  }

  /** Reads the owner of a position from the provider. Undefined if the table was made anew. */
  async leafFromTheLeft(incarnation: Id64, position: Position): Promise<FoundLeft | undefined> {
    return (await this.end(newSearchFromTheLeft(incarnation, position), 'left')).found;
  }

  /** Where the leaf of a position ends, as branches in memory have it. */
  endOf(position: Position): UpperBound {
    return endInMemory(this.#memory, position);
  }

  /** The lows of up to `countMax` leaves after `low`, as a branch in memory has them. */
  lowsAfter(low: Position, countMax: number): Position[] {
    return lowsInMemory(this.#memory, low, countMax);
  }

  /** By the id of the node that owns them; `fail` hears of the others. */
  async group<T extends Routable>(
    items: readonly T[],
    fail: (item: T, error: unknown) => void,
  ): Promise<Map<EntityId, T[]>> {
    const { turns } = this.#core;
    const groups = new Map<EntityId, T[]>();
    const sorted = items.length > 1 ? await turns.sort(items, byPosition) : items;
    for (let first = 0; first < sorted.length;) {
      if (first > 0 && turns.isLong) await turns.pause();
      const { position, level } = sorted[first]!;
      const search = newSearch({ position, level, until: 'named' });
      let next = first + 1;
      try {
        const step = this.next(search);
        const { id, end } = step.kind === 'named' ? step : await this.end(search, 'named', undefined, step);
        while (next < sorted.length && sorted[next]!.level === level && beforeBound(sorted[next]!.position, end))
          next += 1;
        const group = groups.get(id);
        if (group === undefined) groups.set(id, sorted.slice(first, next));
        else for (let index = first; index < next; index += 1) group.push(sorted[index]!);
      } catch (error) {
        fail(sorted[first]!, error);
      }
      first = next;
    }
    return groups;
  }

  /** What a search needs next. */
  next(search: Search): TreeStep {
    const step = nextTreeStep(search, this.#memory);
    if (search.hints.length > 0) this.#hear(search.hints.splice(0));
    return step;
  }

  /** Carries a search out from `step`. Throws what it fails with. */
  async end<Kind extends TreeStep['kind']>(
    search: Search,
    kind: Kind,
    sought?: LookAtSought,
    first = this.next(search),
  ): Promise<StepOf<Kind>> {
    let step = first;
    while (step.kind === 'look') {
      shown(search, await this.#look(step, sought));
      step = this.next(search);
    }
    if (step.kind === 'failed') throw step.error;
    if (step.kind !== kind) throw new Error(`a search until ${search.until} ended as ${step.kind}`);
    return step as StepOf<Kind>;
  }

  #look({ id, what, forgets, mayFail }: StepOf<'look'>, sought?: LookAtSought): Promise<Snapshot | undefined> {
    const { cache, reader, table } = this.#core;
    if (forgets !== undefined) cache.forgetBranches(incarnationPrefix(table, forgets), rootId(table));
    if (what === 'sought') return sought!(id);
    if (what === 'intact') return reader.readIntact(id);
    const reading = what === 'whole' ? reader.readWhole(id) : reader.readPages(id, what);
    return mayFail === true ? reading.catch(() => undefined) : reading;
  }
}

const ROOT_POSITION: Position = new Uint8Array(0);
