// Takes all steps of a small configuration, breadth first: a violation is found by a shortest way.
import { check, historyOf, Violation } from './checks.ts';
import { type Id, type Operation } from './leaf.ts';
import { PlaceKeys } from './place-key.ts';
import { checkProgress, type Judged } from './progress.ts';
import { beginning, type How, isWriteUnderWay, type Start, type Step, take, type World } from './world.ts';

export interface Finding {
  readonly what: string;
  /** All steps from the beginning to the violation. */
  readonly steps: readonly Step[];
}

type Fault = Exclude<How, 'truly'>;

export interface Small {
  readonly name: string;
  readonly start: Start;
  /** Each process's operations, one after the other. */
  readonly scripts: readonly (readonly Operation[])[];
  /** The faults to try, and their largest number in one history. */
  readonly faults?: readonly (Fault | 'crash' | 'give up')[];
  readonly faultsMax?: number;
  /** Repairs may arrive at any time. Without this they are lost. */
  readonly repairs?: boolean;
  /** Stripped leaves may be removed. */
  readonly expires?: boolean;
}

interface Place extends Judged {
  /** The number of operations that each process has begun. */
  readonly begun: readonly number[];
  readonly faults: number;
  readonly from: Place | undefined;
  readonly steps: readonly Step[];
}

const WRITE_FAULTS: readonly Fault[] = ['reply lost', 'false refusal', 'refusal for nothing', 'late', 'doubled'];

/** Takes all steps. Gives the first violation, if any, and the number of different places. */
export function exhaust(small: Small): { readonly finding: Finding | undefined; readonly places: number } {
  const exhaustion = new Exhaustion(small);
  return { finding: exhaustion.run(), places: exhaustion.places };
}

class Exhaustion {
  readonly #small: Small;
  readonly #keys = new PlaceKeys();
  readonly #known = new Set<string>();
  /** Idle worlds from which work was seen to go on. */
  readonly #progressing = new Set<string>();

  constructor(small: Small) {
    this.#small = small;
  }

  get places(): number {
    return this.#known.size;
  }

  run(): Finding | undefined {
    const { start, scripts } = this.#small;
    const world = beginning(start);
    const begun = scripts.map(() => 0);
    let wave: Place[] = [{ world, history: historyOf(world), begun, faults: 0, from: undefined, steps: [] }];
    while (wave.length > 0) {
      const next: Place[] = [];
      for (const place of wave)
        for (const steps of this.#movesFrom(place)) {
          const after = this.#move(place, steps);
          if ('what' in after) return after;
          if (this.#isNew(after)) next.push(after);
        }
      wave = next;
    }
    return undefined;
  }

  #isNew({ world, history, begun, faults }: Place): boolean {
    const key = this.#keys.keyOf(world, [history, begun, faults]);
    const isNew = !this.#known.has(key);
    this.#known.add(key);
    return isNew;
  }

  #movesFrom({ world, begun, faults }: Place): Step[][] {
    const { scripts, faults: kinds = [], faultsMax = 0, expires = false } = this.#small;
    const allowed = faults < faultsMax ? kinds : [];
    const moves: Step[][] = [];
    for (const [process, { operation }] of world.processes.entries()) {
      const next = operation === undefined ? scripts[process]?.[begun[process]!] : undefined;
      if (next !== undefined) moves.push(...beginnings(world, { kind: 'begin', process, operation: next }, allowed));
      if (operation === undefined) continue;
      moves.push(...answersTo(world, process, allowed).map((step) => [step]));
      for (const kind of ['crash', 'give up'] as const) if (allowed.includes(kind)) moves.push([{ kind, process }]);
    }
    for (const index of world.late.keys()) moves.push([{ kind: 'arrive', index }]);
    if (expires) for (const id of expirable(world)) moves.push([{ kind: 'expire', id }]);
    return moves;
  }

  #move(from: Place, steps: readonly Step[]): Place | Finding {
    try {
      let { world, history }: Judged = from;
      let { begun, faults } = from;
      for (const step of steps) {
        const effect = take(world, step);
        history = check(world, effect, history);
        ({ world } = effect);
        if (step.kind === 'begin') begun = begun.with(step.process, begun[step.process]! + 1);
        if (isFault(step)) faults += 1;
      }
      if (this.#small.repairs !== true) world = { ...world, late: world.late.filter(({ kind }) => kind !== 'repair') };
      this.#checkProgress({ world, history });
      return { world, history, begun, faults, from, steps };
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return { what: error.message, steps: [...stepsTo(from), ...steps] };
    }
  }

  #checkProgress({ world, history }: Judged): void {
    if (world.processes.some(({ operation }) => operation !== undefined)) return;
    const key = this.#keys.keyOf({ ...world, late: [] });
    if (!this.#progressing.has(key)) checkProgress({ world, history });
    this.#progressing.add(key);
  }
}

/** Begins with the first request. An earlier beginning would let the checks accept more. */
function beginnings(world: World, begin: Step & { kind: 'begin' }, faults: readonly string[]): Step[][] {
  const { world: begun } = take(world, begin);
  // Memory may hold all that the operation needs, so that it makes no request.
  if (begun.processes[begin.process]!.request === undefined) return [[begin]];
  return answersTo(begun, begin.process, faults).map((step) => [begin, step]);
}

/** All ways to answer, the true one first. No insert of a fresh id is refused for nothing. */
export function answersTo(world: World, process: number, faults: readonly string[] = WRITE_FAULTS): Step[] {
  const { request } = world.processes[process]!;
  const hows: How[] = ['truly'];
  if (request?.kind === 'write')
    for (const how of WRITE_FAULTS)
      if (faults.includes(how) && (how !== 'refusal for nothing' || request.write.kind !== 'insert')) hows.push(how);
  return hows.map((how) => ({ kind: 'answer', process, how }));
}

/** The stripped leaves to which no write is under way. */
export function expirable(world: World): Id[] {
  return Object.values(world.leaves)
    .filter(({ id, state }) => state === 'merged' && !isWriteUnderWay(world, id))
    .map(({ id }) => id);
}

function isFault(step: Step): boolean {
  return step.kind === 'crash' || step.kind === 'give up' || (step.kind === 'answer' && step.how !== 'truly');
}

function stepsTo({ from, steps }: Place): Step[] {
  return from === undefined ? [] : [...stepsTo(from), ...steps];
}
