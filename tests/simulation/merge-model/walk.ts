// Random walks through the model, each from a seed. In the end all late messages arrive, and
// everything must heal.
import { Chance } from '../chance.ts';
import { chainOf, check, historyOf, Violation } from './checks.ts';
import { answersTo, expirable, type Finding } from './exhaust.ts';
import { type Operation } from './leaf.ts';
import { type Breach } from './mutants.ts';
import { checkHealing, checkProgress, type Judged } from './progress.ts';
import { beginning, type Step, take, type World } from './world.ts';

const STEPS_MAX = 160;

export interface Walks {
  /** The first seed. */
  readonly from: number;
  readonly count: number;
  readonly breach?: Breach;
}

/** The first walk that finds a violation; undefined if none does. */
export function firstFinding({ from, count, breach }: Walks): (Finding & { readonly seed: number }) | undefined {
  for (let seed = from; seed < from + count; seed += 1) {
    const finding = walk(seed, breach);
    if (finding !== undefined) return { seed, ...finding };
  }
  return undefined;
}

function walk(seed: number, breach: Breach | undefined): Finding | undefined {
  const chance = new Chance(seed);
  const habits = habitsFrom(chance);
  const world = beginning({
    lows: chance.of([
      [0, 1, 3],
      [0, 1, 2],
      [0, 3],
      [0, 1, 2, 3],
    ]),
    end: 4 + chance.below(3),
    processes: Array.from({ length: 2 + chance.below(4) }, () => ({
      copies: chance.is(0.4),
      carries: chance.is(0.4),
      remembers: chance.is(0.4),
    })),
    breach,
  });
  let at: Judged = { world, history: historyOf(world) };
  const steps: Step[] = [];
  try {
    for (let count = 0; count < STEPS_MAX; count += 1) {
      const step = draw(at.world, chance, habits, count);
      steps.push(step);
      const effect = take(at.world, step);
      at = { world: effect.world, history: check(at.world, effect, at.history) };
      if (chance.is(0.004)) checkProgress(at);
    }
    checkHealing(at);
    return undefined;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { what: error.message, steps };
  }
}

/** How often each thing happens in one walk. If everything fails, little happens. */
function habitsFrom(chance: Chance) {
  return {
    faults: chance.of([0, 0.05, 0.2]),
    breaksOff: chance.of([0, 0, 0.03]),
    arrives: chance.of([0.05, 0.2]),
    expires: chance.of([0, 0, 0.1]),
    /** 0: processes take turns. 0.6: a busy process often goes on. */
    stays: chance.of([0, 0.6]),
    operations: {
      put: 3,
      get: 3,
      split: chance.below(3),
      merge: 1 + chance.below(4),
      strip: 1,
      vacuum: 1,
      'drop entries': chance.share(),
    },
  };
}

type Habits = ReturnType<typeof habitsFrom>;

function draw(world: World, chance: Chance, habits: Habits, count: number): Step {
  const { late, processes } = world;
  if (late.length > 0 && chance.is(habits.arrives)) return { kind: 'arrive', index: chance.below(late.length) };
  const process = chance.below(processes.length);
  if (chance.is(habits.breaksOff)) return { kind: chance.of(['crash', 'give up']), process };
  const expired = expirable(world);
  if (expired.length > 0 && chance.is(habits.expires)) return { kind: 'expire', id: chance.of(expired) };
  const busy = processes.findIndex(({ request }) => request !== undefined);
  const turn = busy !== -1 && chance.is(habits.stays) ? busy : process;
  if (processes[turn]!.request === undefined)
    return { kind: 'begin', process: turn, operation: drawOperation(world, chance, habits, count) };
  const [truly, ...faulty] = answersTo(world, turn);
  return faulty.length > 0 && chance.is(habits.faults) ? chance.of(faulty) : truly!;
}

function drawOperation(world: World, chance: Chance, habits: Habits, count: number): Operation {
  const leaves = Object.values(world.leaves);
  const linked = chainOf(world).leaves;
  const key = chance.below(linked.at(-1)!.high);
  const kind = chance.weighted(habits.operations);
  switch (kind) {
    case 'put':
      return { kind, key, value: `put ${count}` };
    case 'get':
      return { kind, key };
    case 'split':
      return { kind, at: key };
    case 'merge':
      return { kind, low: chance.of(linked).low };
    case 'strip': {
      const retired = leaves.filter(({ state }) => state === 'retired');
      return { kind, id: chance.of(retired.length > 0 ? retired : leaves).id };
    }
    case 'vacuum': {
      const unlinked = leaves.filter((leaf) => leaf.state === 'live' && !linked.includes(leaf));
      return { kind, id: chance.of(unlinked.length > 0 && chance.is(0.8) ? unlinked : leaves).id };
    }
    case 'drop entries':
      return { kind };
    default:
      return kind satisfies never;
  }
}
