// What happened to one record, and whether it could have happened one operation at a time (linearizability; the search is Wing and Gong's,
// with Lowe's memory of what failed). Every write carries a value of its own, so a record's state is the id of the write that made it.

/** The id of the write that made the record; undefined where there is none. */
export type State = string | undefined;

/** The states that an operation with this answer may leave, begun in `state`; none where its answer contradicts the state. */
export type Effect = (state: State) => readonly State[];

export interface Operation {
  readonly name: string;
  /** Moments of a count that grows: when it was called, and when it answered (infinity: it may take effect at any later time, or never). */
  readonly calledAt: number;
  readonly answeredAt: number;
  readonly effect: Effect;
  /** An operation that took effect before this one, whatever the moments say: the item before it in its batch. */
  readonly after?: Operation | undefined;
}

/** Beyond this the search may take for ever. */
export const OPERATIONS_MAX = 200;

/** Whether some order explains all answers. Throws a RangeError for more than 200 operations. */
export function isLinearizable(history: readonly Operation[]): boolean {
  if (history.length > OPERATIONS_MAX) throw new RangeError(`too many operations to check: ${history.length}`);
  return new Search(history).from(0n, undefined);
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #afters: readonly number[];
  readonly #failed = new Set<string>();
  /** Each operation's bit among those that took effect. */
  readonly #bits: readonly bigint[];
  readonly #certain: bigint;

  constructor(history: readonly Operation[]) {
    // The first to answer are tried first: that is the order in which most took effect.
    this.#operations = history.toSorted((a, b) => a.answeredAt - b.answeredAt || a.calledAt - b.calledAt);
    this.#afters = this.#operations.map(({ after }) => (after === undefined ? -1 : this.#operations.indexOf(after)));
    this.#bits = this.#operations.map((_, at) => 1n << BigInt(at));
    this.#certain = this.#operations.reduce(
      (all, one, at) => all | (one.answeredAt < Infinity ? this.#bits[at]! : 0n),
      0n,
    );
  }

  /** Whether some order explains the answers of those that are not `done`. */
  from(done: bigint, state: State): boolean {
    if ((done & this.#certain) === this.#certain) return true;
    const name = `${done.toString(36)}/${state ?? ''}`;
    if (this.#failed.has(name)) return false;
    let firstAnswer = Infinity;
    for (const [at, operation] of this.#operations.entries()) {
      const bit = this.#bits[at]!;
      if ((done & bit) !== 0n) continue;
      if (operation.calledAt > firstAnswer) continue;
      firstAnswer = Math.min(firstAnswer, operation.answeredAt);
      const before = this.#afters[at]!;
      if (before >= 0 && (done & this.#bits[before]!) === 0n) continue;
      for (const next of operation.effect(state)) if (this.from(done | bit, next)) return true;
    }
    this.#failed.add(name);
    return false;
  }
}
