// Carries out the searches of one table: reads the nodes that they ask for, and hands on what
// parents should be told. Nodes in memory take no promise.
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
  newSearchFromTheLeft,
  Search,
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

/** How a search looks at the node it is for, by memory or a read; undefined if it is missing. */
export type LookAtSought = (id: EntityId) => Promise<Snapshot | undefined>;

type StepOf<Kind extends TreeStep['kind']> = Extract<TreeStep, { readonly kind: Kind }>;

export class Tree {
  readonly #core: EngineCore;
  readonly #memory: Memory;
  readonly #hear: (entryRepairs: readonly EntryRepair[]) => void;

  /** `hear` takes what parents should be told. */
  constructor(core: EngineCore, hear: (entryRepairs: readonly EntryRepair[]) => void) {
    const { cache, clock, counters, table } = core;
    this.#core = core;
    this.#memory = { table, counters, get: (id) => cache.get(id), ageMs: (seen) => clock.ageMs(seen) };
    this.#hear = hear;
  }

  /** The root, from memory unless `isAnew`. Throws `not_found` if the table does not exist. */
  async root(isAnew = false): Promise<Snapshot> {
    const from = { position: ROOT_POSITION, level: 0, until: 'root' } as const;
    return (await this.end(new Search(from, { kind: 'root', isAnew }), 'found')).node;
  }

  /**
   * The leaf that owns `position`, as `look` sees it. It may be retired, since a retired leaf's
   * content counts until it is absorbed (rule 28).
   */
  async find(position: Position, look: LookAtSought): Promise<Snapshot> {
    return (await this.end(new Search({ position, level: 0, until: 'seen' }), 'found', look)).node;
  }

  /** Reads the owner of a position past every cache. Undefined if the table was created anew. */
  async leafFromTheLeft(incarnation: Id64, position: Position): Promise<FoundLeft | undefined> {
    return (await this.end(newSearchFromTheLeft(incarnation, position), 'left')).found;
  }

  /** Where the leaf of a position ends, according to branches in memory. */
  endOf(position: Position): UpperBound {
    return endInMemory(this.#memory, position);
  }

  /** The lows of up to `countMax` leaves after `low`, according to a branch in memory. */
  lowsAfter(low: Position, countMax: number): Position[] {
    return lowsInMemory(this.#memory, low, countMax);
  }

  /** Groups items by the node that owns them; `fail` takes those for which the search failed. */
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
      const search = new Search({ position, level, until: 'named' });
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

  /** The next step of a search. */
  next(search: Search): TreeStep {
    const step = nextTreeStep(search, this.#memory);
    if (search.entryRepairs.length > 0) this.#hear(search.entryRepairs.splice(0));
    return step;
  }

  /** Carries a search out, which must end as `kind`. Throws the error that it fails with. */
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
