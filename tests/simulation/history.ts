// Finds an order that explains one record's answers: Wing and Gong's search, with Lowe's dead ends.

/** The id of the write that made the record; undefined where there is none. */
export type State = string | undefined;

/** The states that it may leave, begun in `state`. None if its answer contradicts that state. */
export type Effect = (state: State) => readonly State[];

export interface Operation {
  readonly name: string;
  /** Moments count up. `answeredAt` Infinity: it may take effect at any later moment, or never. */
  readonly calledAt: number;
  readonly answeredAt: number;
  readonly effect: Effect;
  /** It leaves every state that it accepts as it is. */
  readonly isRead?: boolean | undefined;
  /** Of a write: the beginning of the ids that its records have. */
  readonly writes?: string | undefined;
  /** The version that a write gave its record. They rise: writes took effect in this order. */
  readonly version?: number | undefined;
  /** The batch's item before this one. It took effect earlier, whatever the moments say. */
  readonly after?: Operation | undefined;
}

/** Beyond this the search may take for ever. */
export const OPERATIONS_MAX = 200;
/** A search that met more dead ends would take for ever. */
const DEAD_ENDS_MAX = 200_000;

/**
 * Whether some order explains all answers; undefined if too many writes of unknown fate leave too
 * many orders to try. Throws a RangeError for more than 200 operations.
 */
export function isLinearizable(history: readonly Operation[]): boolean | undefined {
  if (history.length > OPERATIONS_MAX) throw new RangeError(`too many operations to check: ${history.length}`);
  const search = new Search(history);
  const isExplained = search.from(0n, undefined);
  return search.isGivenUp ? undefined : isExplained;
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #afters: readonly number[];
  readonly #failed = new Set<string>();
  /** Each operation's bit among those that took effect. */
  readonly #bits: readonly bigint[];
  readonly #certain: bigint;
  isGivenUp = false;

  constructor(history: readonly Operation[]) {
    this.#operations = inLikelyOrder(history);
    this.#afters = this.#operations.map(({ after }) => (after === undefined ? -1 : this.#operations.indexOf(after)));
    this.#bits = this.#operations.map((_, at) => 1n << BigInt(at));
    this.#certain = this.#operations.reduce(
      (all, one, at) => all | (one.answeredAt < Infinity ? this.#bits[at]! : 0n),
      0n,
    );
  }

  /** Whether some order explains the answers of all operations that are not `done`. */
  from(done: bigint, state: State): boolean {
    if (this.isGivenUp || (done & this.#certain) === this.#certain) return true;
    const name = `${done.toString(36)}/${state ?? ''}`;
    if (this.#failed.has(name)) return false;
    let firstAnswer = Infinity;
    for (const [at, { answeredAt }] of this.#operations.entries())
      if ((done & this.#bits[at]!) === 0n) firstAnswer = Math.min(firstAnswer, answeredAt);
    // A read that fits may come first in whatever order explains the rest.
    const read = this.#operations.findIndex(
      ({ isRead, calledAt, effect }, at) =>
        isRead === true && (done & this.#bits[at]!) === 0n && calledAt <= firstAnswer && effect(state).length > 0,
    );
    if (read >= 0) return this.from(done | this.#bits[read]!, state);
    let isVersionMet = false;
    for (const [at, operation] of this.#operations.entries()) {
      const bit = this.#bits[at]!;
      if ((done & bit) !== 0n) continue;
      const isLater = operation.version !== undefined && isVersionMet;
      isVersionMet ||= operation.version !== undefined;
      if (isLater || operation.calledAt > firstAnswer) continue;
      const before = this.#afters[at]!;
      if (before >= 0 && (done & this.#bits[before]!) === 0n) continue;
      for (const next of operation.effect(state)) if (this.from(done | bit, next)) return true;
    }
    this.isGivenUp ||= this.#failed.size === DEAD_ENDS_MAX;
    this.#failed.add(name);
    return false;
  }
}

/** Those that answer first, as most took effect in that order; writes among them by version. */
function inLikelyOrder(history: readonly Operation[]): readonly Operation[] {
  const answered = history.toSorted((a, b) => a.answeredAt - b.answeredAt || a.calledAt - b.calledAt);
  const versioned = answered.filter(({ version }) => version !== undefined);
  const inOrder = versioned.toSorted((a, b) => a.version! - b.version!).values();
  return answered.map((one) => (one.version === undefined ? one : inOrder.next().value!));
}
