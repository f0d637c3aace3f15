// A process as its operations see it: its memory and its requests. An operation is a generator that
// yields requests, so that anything may happen between two.
import { type Answer, type Entry, type Id, type Leaf, type Repair, type Write } from './leaf.ts';
import { type Breach } from './mutants.ts';

export type Request =
  | { readonly kind: 'read'; readonly id: Id }
  | { readonly kind: 'read branch' }
  | { readonly kind: 'write'; readonly write: Write }
  /** It has no reply, and reaches the branch at any later time or never. */
  | Repair;

export type Reply = Leaf | readonly Entry[] | Answer | undefined;

export type Steps<T> = Generator<Request, T, Reply>;

/** A process's memory between operations. After a crash only `drawn` remains. */
export interface Memory {
  readonly leaves: Readonly<Record<Id, Leaf>>;
  readonly branch: readonly Entry[] | undefined;
  /** The number of ids drawn so far. */
  readonly drawn: number;
}

export interface Traits {
  readonly name: string;
  /** Links a copy of a retired leaf (rule 27) instead of taking in its records. */
  readonly copies: boolean;
  /** A put joins the commit that absorbs a retired leaf. */
  readonly carries: boolean;
  /** The rule that this process breaks. */
  readonly breach: Breach | undefined;
}

export class Self {
  readonly #traits: Traits;
  readonly #memory: Memory;
  /** The leaves that the operation has read; undefined for a missing one. */
  readonly #learned = new Map<Id, Leaf | undefined>();
  #branch: readonly Entry[] | undefined;
  #drawn: number;
  /** The value of the put under way. */
  put: string | undefined;
  /** Live leaves that this operation saw, the latest last. */
  readonly live: Leaf[] = [];

  constructor(traits: Traits, memory: Memory) {
    this.#traits = traits;
    this.#memory = memory;
    this.#branch = memory.branch;
    this.#drawn = memory.drawn;
  }

  get memory(): Memory {
    const leaves = { ...this.#memory.leaves };
    for (const [id, leaf] of this.#learned)
      if (leaf === undefined) delete leaves[id];
      else leaves[id] = leaf;
    return { leaves, branch: this.#branch, drawn: this.#drawn };
  }

  get copies(): boolean {
    return this.#traits.copies;
  }

  get carries(): boolean {
    return this.#traits.carries;
  }

  get branch(): readonly Entry[] | undefined {
    return this.#branch;
  }

  breaks(breach: Breach): boolean {
    return this.#traits.breach === breach;
  }

  drawId(): Id {
    this.#drawn += 1;
    return `${this.#traits.name}${this.#drawn}`;
  }

  known(id: Id): Leaf | undefined {
    return this.#learned.has(id) ? this.#learned.get(id) : this.#memory.leaves[id];
  }

  /** Memory of a leaf never goes back (rule 19). */
  remember(leaf: Leaf): void {
    const held = this.known(leaf.id);
    if (held === undefined || held.count <= leaf.count) this.#learned.set(leaf.id, leaf);
    if (leaf.state === 'live') this.live.push(leaf);
  }

  *read(id: Id): Steps<Leaf | undefined> {
    const leaf = (yield { kind: 'read', id }) as Leaf | undefined;
    if (leaf === undefined) this.#learned.set(id, undefined);
    else this.remember(leaf);
    return leaf;
  }

  *readBranch(): Steps<readonly Entry[]> {
    const branch = (yield { kind: 'read branch' }) as readonly Entry[];
    this.#branch = branch;
    return branch;
  }

  *write(write: Write): Steps<Answer> {
    return (yield { kind: 'write', write }) as Answer;
  }
}
