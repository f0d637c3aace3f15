// Histories that random walks hardly ever find, step by step. The model gets through each without a
// violation; a mutant that lacks the rule does not.
import { check, historyOf, Violation } from './checks.ts';
import { type Id, type Operation } from './leaf.ts';
import { type Breach } from './mutants.ts';
import { type Judged } from './progress.ts';
import { beginning, type How, type Start, take, type Step } from './world.ts';

type Act =
  /** Runs an operation without faults: to its end, or for `requests` replies. */
  | { readonly by: number; readonly does: Operation; readonly requests?: number }
  /** Answers the process's request in this way. */
  | { readonly by: number; readonly answered: How }
  /** The operation under way runs to its end. */
  | { readonly by: number; readonly goesOn: true }
  /** The late insert arrives. */
  | { readonly arrives: 'insert' }
  | { readonly isRemoved: Id };

export interface Script {
  readonly name: string;
  readonly start: Start;
  readonly acts: readonly Act[];
}

const LOWS = { lows: [0, 1, 2], end: 3 };
const [COLD, WARM] = [{}, { remembers: true }];

export const SCRIPTS: readonly Script[] = [
  {
    name: 'vacuum comes between insert and link',
    start: { lows: [0], end: 2, processes: [WARM, COLD] },
    acts: [
      { by: 0, does: { kind: 'split', at: 1 }, requests: 1 },
      { by: 1, does: { kind: 'vacuum', id: 'p1' } },
      { by: 0, goesOn: true },
    ],
  },
  {
    name: 'a retired leaf links to one that is gone',
    start: { ...LOWS, unnamed: [2], processes: [COLD, COLD] },
    acts: [
      { by: 1, does: { kind: 'merge', low: 1 } },
      { by: 1, does: { kind: 'merge', low: 2 } },
      { by: 1, does: { kind: 'strip', id: 'C' } },
      { isRemoved: 'C' },
      { by: 0, does: { kind: 'get', key: 2 } },
    ],
  },
  {
    name: 'a remembered leaf links to a retired one',
    start: { ...LOWS, unnamed: [1], processes: [WARM, COLD] },
    acts: [
      { by: 1, does: { kind: 'merge', low: 1 } },
      { by: 1, does: { kind: 'put', key: 1, value: 'a' } },
      { by: 0, does: { kind: 'get', key: 1 } },
    ],
  },
  {
    name: 'two neighbours are retired, and both mergers are dead',
    start: { ...LOWS, processes: [COLD, COLD, COLD] },
    acts: [
      { by: 1, does: { kind: 'merge', low: 2 }, requests: 4 },
      { by: 2, does: { kind: 'merge', low: 1 }, requests: 4 },
      { by: 0, does: { kind: 'get', key: 2 } },
    ],
  },
  {
    name: 'two retired leaves on the way of a search are absorbed, and one is removed',
    start: { ...LOWS, processes: [COLD, COLD, COLD] },
    acts: [
      { by: 1, does: { kind: 'merge', low: 2 }, requests: 4 },
      { by: 2, does: { kind: 'merge', low: 1 }, requests: 4 },
      { by: 0, does: { kind: 'get', key: 2 }, requests: 6 },
      { by: 2, goesOn: true },
      { by: 1, goesOn: true },
      { by: 2, does: { kind: 'merge', low: 2 } },
      { by: 2, does: { kind: 'strip', id: 'C' } },
      { isRemoved: 'C' },
      { by: 0, goesOn: true },
    ],
  },
  {
    name: 'a leaf is stripped on the way of a get',
    start: { ...LOWS, unnamed: [1], processes: [COLD, COLD] },
    acts: [
      { by: 0, does: { kind: 'get', key: 1 }, requests: 2 },
      { by: 1, does: { kind: 'merge', low: 1 } },
      { by: 1, does: { kind: 'strip', id: 'B' } },
      { by: 0, goesOn: true },
    ],
  },
  {
    name: 'the leaf where a search began retires',
    start: { ...LOWS, processes: [COLD, COLD, COLD] },
    acts: [
      { by: 1, does: { kind: 'merge', low: 2 }, requests: 4 },
      { by: 0, does: { kind: 'put', key: 2, value: 'a' }, requests: 4 },
      { by: 2, does: { kind: 'merge', low: 1 }, requests: 4 },
      { by: 0, goesOn: true },
    ],
  },
  {
    name: 'the second copy of an insert arrives when all is over',
    start: { lows: [0], end: 2, processes: [WARM] },
    acts: [
      { by: 0, does: { kind: 'split', at: 1 }, requests: 0 },
      { by: 0, answered: 'doubled' },
      { by: 0, goesOn: true },
      { by: 0, does: { kind: 'merge', low: 1 } },
      { by: 0, does: { kind: 'strip', id: 'p1' } },
      { arrives: 'insert' },
    ],
  },
  {
    name: 'a put is not answered, and its leaf retires',
    start: { ...LOWS, processes: [WARM, COLD] },
    acts: [
      { by: 0, does: { kind: 'put', key: 1, value: 'a' }, requests: 0 },
      { by: 0, answered: 'reply lost' },
      { by: 1, does: { kind: 'merge', low: 1 } },
      { by: 0, goesOn: true },
    ],
  },
  {
    name: 'a put is falsely refused, and its leaf is gone',
    start: { ...LOWS, processes: [WARM, COLD] },
    acts: [
      { by: 0, does: { kind: 'put', key: 1, value: 'a' }, requests: 0 },
      { by: 0, answered: 'false refusal' },
      { by: 1, does: { kind: 'merge', low: 1 } },
      { by: 1, does: { kind: 'strip', id: 'B' } },
      { isRemoved: 'B' },
      { by: 0, goesOn: true },
    ],
  },
];

/** The violation in the script's history; undefined if there is none. */
export function play({ start, acts }: Script, breach?: Breach): string | undefined {
  const world = beginning({ ...start, breach });
  let at: Judged = { world, history: historyOf(world) };
  const step = (next: Step): void => {
    const effect = take(at.world, next);
    at = { world: effect.world, history: check(at.world, effect, at.history) };
  };
  const answer = (process: number, requestsMax: number): void => {
    for (
      let requests = 0;
      requests < requestsMax && at.world.processes[process]!.operation !== undefined;
      requests += 1
    )
      step({ kind: 'answer', process, how: 'truly' });
  };
  try {
    for (const act of acts)
      if ('does' in act) {
        step({ kind: 'begin', process: act.by, operation: act.does });
        answer(act.by, act.requests ?? Infinity);
      } else if ('goesOn' in act) answer(act.by, Infinity);
      else if ('answered' in act) step({ kind: 'answer', process: act.by, how: act.answered });
      else if ('isRemoved' in act) step({ kind: 'expire', id: act.isRemoved });
      else step({ kind: 'arrive', index: at.world.late.findIndex(({ kind }) => kind === act.arrives) });
    return undefined;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return error.message;
  }
}
