// What happened to one record, and whether it could have happened one operation at a time (linearizability). Every write carries a value of its own,
// so a record's state is the id of the write that made it, or absent.

export type State = string | undefined;

/** What an operation did, or may have done, to a state: the state after it, or `impossible` where what it answered contradicts the state. */
export type Effect = (state: State) => State | typeof IMPOSSIBLE;

export const IMPOSSIBLE = Symbol('impossible');

export interface Operation {
  readonly name: string;
  /** Moments of a count that grows: when it was called, and when it answered (infinity: its fate is not known, it may take effect later, or never). */
  readonly calledAt: number;
  readonly answeredAt: number;
  readonly effect: Effect;
}

/** Whether some order explains all answers. At most 31 operations. */
export function isLinearizable(operations: readonly Operation[]): boolean {
  if (operations.length > 31) throw new RangeError(`too many operations to check: ${operations.length}`);
  const failed = new Set<string>();
  const certain = operations.reduce((mask, { answeredAt }, at) => (answeredAt < Infinity ? mask | (1 << at) : mask), 0);
  const search = (done: number, state: State): boolean => {
    if ((done & certain) === certain) return true;
    const name = `${done}/${state ?? ''}`;
    if (failed.has(name)) return false;
    const left = operations.map((operation, at) => ({ operation, at })).filter(({ at }) => (done & (1 << at)) === 0);
    const firstAnswer = Math.min(...left.map(({ operation }) => operation.answeredAt));
    for (const { operation, at } of left) {
      if (operation.calledAt > firstAnswer) continue;
      const next = operation.effect(state);
      if (next !== IMPOSSIBLE && search(done | (1 << at), next)) return true;
    }
    failed.add(name);
    return false;
  };
  return search(0, undefined);
}
