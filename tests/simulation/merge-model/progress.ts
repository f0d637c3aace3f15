// That work goes on: whatever state a world was left in, a put and a get of each key end soon, and some ordinary work mends all that is crooked.
import { check, type History, chainOf, Violation } from './checks.ts';
import { type Operation } from './leaf.ts';
import { newcomer, take, type World } from './world.ts';

/** Requests of a put or a get that meets no faults and nobody else. */
const REQUESTS_MAX = 40;
/** So often is every key put and got, and every leaf swept, until all must be mended. */
const ROUNDS = 2;

/** A world and what the checks remember of it. */
export interface Judged {
  readonly world: World;
  readonly history: History;
}

/** Runs an operation alone, without faults. Throws a Violation if that takes too many requests. */
function runAlone(
  { world, history }: Judged,
  process: number,
  operation: Operation,
  requestsMax = REQUESTS_MAX,
): Judged {
  let at = take(world, { kind: 'begin', process, operation });
  let known = check(world, at, history);
  for (let requests = 0; at.ended === undefined; requests += 1) {
    if (requests >= requestsMax)
      throw new Violation(`${JSON.stringify(operation)} takes more than ${requestsMax} requests`);
    const next = take(at.world, { kind: 'answer', process, how: 'truly' });
    known = check(at.world, next, known);
    at = next;
  }
  return { world: at.world, history: known };
}

/** Every idle process with its memory, and a newcomer, puts and gets every key, each from this same state, as if all others had died. */
export function checkProgress(judged: Judged): void {
  const all = withNewcomer(judged);
  for (const [process, { operation }] of all.world.processes.entries()) {
    if (operation !== undefined) continue;
    for (const key of keysOf(all.world)) {
      runAlone(all, process, { kind: 'get', key });
      const { history } = runAlone(all, process, { kind: 'put', key, value: 'probe' });
      // Whoever remembers a leaf that was removed cannot know.
      if (!history.landed.includes('probe') && !history.hasRemoved) throw new Violation(`no put to ${key} is possible`);
    }
  }
}

/** Ordinary work by a newcomer, after everything late has arrived: then every leaf lives or is stripped, and every entry names who owns its separator. */
export function checkHealing(judged: Judged): void {
  let at = withNewcomer(allArrived(judged));
  const last = at.world.processes.length - 1;
  const run = (operation: Operation): void => {
    at = allArrived(runAlone(at, last, operation));
    // Whoever comes next knows nothing either.
    at = { ...at, world: take(at.world, { kind: 'crash', process: last }).world };
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const key of keysOf(at.world)) {
      run({ kind: 'put', key, value: `healing ${round}.${key}` });
      run({ kind: 'get', key });
    }
    run({ kind: 'drop entries' });
    for (const id of Object.keys(at.world.leaves)) {
      run({ kind: 'strip', id });
      run({ kind: 'vacuum', id });
    }
  }
  checkHealed(at.world);
  checkLearning(at);
}

/**
 * Whatever a process remembers, it is not led astray again and again: in the end a put is a commit alone. The first may meet a leaf that was removed,
 * and be of unknown fate; the next searches.
 */
function checkLearning(judged: Judged): void {
  const process = 0;
  let at = judged;
  const { world: idle } = take(at.world, { kind: 'give up', process });
  at = allArrived({ ...at, world: idle });
  for (const key of keysOf(at.world)) {
    at = runAlone(at, process, { kind: 'put', key, value: `first ${key}` });
    at = runAlone(at, process, { kind: 'put', key, value: `next ${key}` });
    at = runAlone(at, process, { kind: 'put', key, value: `last ${key}` }, 1);
    if (!at.history.landed.includes(`last ${key}`)) throw new Violation(`no put to ${key} is possible`);
  }
}

function checkHealed(world: World): void {
  const linked = chainOf(world).leaves;
  for (const leaf of Object.values(world.leaves)) {
    if (leaf.state === 'retired') throw new Violation(`${leaf.id} stays retired`);
    if (leaf.state === 'live' && !linked.includes(leaf)) throw new Violation(`${leaf.id} is an orphan for ever`);
  }
  for (const { separator, child } of world.branch)
    if (!linked.some(({ id, low }) => id === child && low === separator))
      throw new Violation(`the entry at ${separator} names ${child} for ever, which does not begin there`);
}

function allArrived({ world, history }: Judged): Judged {
  let at = { world, history };
  while (at.world.late.length > 0) {
    const effect = take(at.world, { kind: 'arrive', index: 0 });
    at = { world: effect.world, history: check(at.world, effect, at.history) };
  }
  return at;
}

function keysOf(world: World): number[] {
  return [...Array(chainOf(world).leaves.at(-1)!.high).keys()];
}

function withNewcomer({ world, history }: Judged): Judged {
  return {
    world: { ...world, processes: [...world.processes, newcomer()] },
    history: { ...history, seen: [...history.seen, []] },
  };
}
