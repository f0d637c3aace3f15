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

/** Two words of bits say which operations took effect. */
export const OPERATIONS_MAX = 62;

/** Whether some order explains all answers. Throws a RangeError for more than 62 operations. */
export function isLinearizable(history: readonly Operation[]): boolean {
  if (history.length > OPERATIONS_MAX) throw new RangeError(`too many operations to check: ${history.length}`);
  return new Search(history).from(0, 0, undefined);
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #afters: readonly number[];
  readonly #failed = new Set<string>();
  readonly #certainLow: number;
  readonly #certainHigh: number;

  constructor(history: readonly Operation[]) {
    // The first to answer are tried first: that is the order in which most took effect.
    this.#operations = history.toSorted((a, b) => a.answeredAt - b.answeredAt || a.calledAt - b.calledAt);
    this.#afters = this.#operations.map(({ after }) => (after === undefined ? -1 : this.#operations.indexOf(after)));
    const certain = this.#operations.flatMap(({ answeredAt }, at) => (answeredAt < Infinity ? [at] : []));
    this.#certainLow = certain.reduce((bits, at) => (at < 31 ? bits | (1 << at) : bits), 0);
    this.#certainHigh = certain.reduce((bits, at) => (at < 31 ? bits : bits | (1 << (at - 31))), 0);
  }

  from(low: number, high: number, state: State): boolean {
    if ((low & this.#certainLow) === this.#certainLow && (high & this.#certainHigh) === this.#certainHigh) return true;
    const name = `${low}/${high}/${state ?? ''}`;
    if (this.#failed.has(name)) return false;
    let firstAnswer = Infinity;
    for (const [at, operation] of this.#operations.entries()) {
      if (isIn(low, high, at)) continue;
      if (operation.calledAt > firstAnswer) continue;
      firstAnswer = Math.min(firstAnswer, operation.answeredAt);
      const before = this.#afters[at]!;
      if (before >= 0 && !isIn(low, high, before)) continue;
      const [nextLow, nextHigh] = at < 31 ? [low | (1 << at), high] : [low, high | (1 << (at - 31))];
      for (const next of operation.effect(state)) if (this.from(nextLow, nextHigh, next)) return true;
    }
    this.#failed.add(name);
    return false;
  }
}

function isIn(low: number, high: number, at: number): boolean {
  return at < 31 ? (low & (1 << at)) !== 0 : (high & (1 << (at - 31))) !== 0;
}
