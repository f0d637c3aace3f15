// Works on a range leaf by leaf, several at a time. Branches only tell where to begin: each step
// says how far it got, so that no split or merge hides anything (rule 33).
import type { Range } from '../container/layers.ts';
import type { Engine } from '../engine/engine.ts';
import type { Id64 } from '../format/bytes.ts';
import { beforeBound, type Position, type UpperBound } from '../format/position.ts';
import { checkIncarnation } from './bounds.ts';

/** Leaves worked on at a time: all of them may be in memory. */
const LEAVES_AT_ONCE = 16;

/** A step's result, for the positions up to `reached`, exclusive; undefined: to the last. */
export interface Step {
  readonly count: number;
  readonly reached: UpperBound;
  readonly incarnation: Id64;
}

/** Does the part of a range that lies in its first leaf. `incarnation`: undefined at first. */
export type DoStep = (range: Range, incarnation: Id64 | undefined) => Promise<Step>;

/** The sum of the counts. After a failure nothing begins, and what is under way ends. */
export function sumOverLeaves(engine: Engine, range: Range, doStep: DoStep): Promise<number> {
  return new LeafRanges(engine, doStep).sum(range);
}

class LeafRanges {
  readonly #engine: Engine;
  readonly #doStep: DoStep;
  #incarnation: Id64 | undefined;
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(engine: Engine, doStep: DoStep) {
    this.#engine = engine;
    this.#doStep = doStep;
  }

  async sum({ from, end }: Range): Promise<number> {
    for (let at: UpperBound = from; at !== undefined && beforeBound(at, end);) {
      const starts: Position[] = [at, ...this.#lowsAfter(at, end)];
      const walks = starts.slice(1).map((next, index) => this.#walk({ from: starts[index]!, end: next }));
      // The last one tells where to go on, as a branch does not name all leaves.
      const reached = this.#step({ from: starts.at(-1)!, end });
      await Promise.all(walks);
      at = await reached;
      if (this.#failure !== undefined) throw this.#failure.error;
    }
    return this.#count;
  }

  #lowsAfter(position: Position, end: UpperBound): Position[] {
    // The first leaf alone tells the incarnation.
    if (this.#incarnation === undefined) return [];
    const lows = this.#engine.tree.hints.lowsAfter(position, LEAVES_AT_ONCE - 1);
    return lows.filter((low) => beforeBound(low, end));
  }

  async #walk({ from, end }: Range): Promise<void> {
    for (let at: UpperBound = from; at !== undefined && beforeBound(at, end);) at = await this.#step({ from: at, end });
  }

  /** Gives its `reached`; undefined also if something failed. Never rejects. */
  async #step(range: Range): Promise<UpperBound> {
    if (this.#failure !== undefined) return undefined;
    try {
      const { count, reached, incarnation } = await this.#doStep(range, this.#incarnation);
      checkIncarnation(this.#incarnation, incarnation, this.#engine.table);
      this.#incarnation = incarnation;
      this.#count += count;
      return reached;
    } catch (error) {
      this.#failure ??= { error };
      return undefined;
    }
  }
}
