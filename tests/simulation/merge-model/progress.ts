// From any state, a put and a get of each key end soon, and some ordinary work mends every defect.
import { check, type History, chainOf, Violation } from './checks.ts';
import { type Operation } from './leaf.ts';
import { newcomer, take, type World } from './world.ts';

/** The most requests of a put or a get without faults and without others. */
const REQUESTS_MAX = 40;
/** In each round every key is put and got, and every leaf swept. After this many all is mended. */
const ROUNDS = 2;

/** A world, with the checks' memory of it. */
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

/** Each idle process and a newcomer put and get each key from this state, as if alone. */
export function checkProgress(judged: Judged): void {
  const all = withNewcomer(judged);
  for (const [process, { operation }] of all.world.processes.entries()) {
    if (operation !== undefined) continue;
    for (const key of keysOf(all.world)) {
      runAlone(all, process, { kind: 'get', key });
      const { history } = runAlone(all, process, { kind: 'put', key, value: 'probe' });
      // A process that remembers a removed leaf cannot know the fate of its put.
      if (!history.landed.includes('probe') && !history.hasRemoved) throw new Violation(`no put to ${key} is possible`);
    }
  }
}

/**
 * A newcomer does ordinary work after all late messages came. Then each leaf lives or is stripped,
 * and each entry names its separator's owner.
 */
export function checkHealing(judged: Judged): void {
  let at = withNewcomer(allArrived(judged));
  const last = at.world.processes.length - 1;
  const run = (operation: Operation): void => {
    at = allArrived(runAlone(at, last, operation));
    // The next operation starts without memory too.
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
 * No memory leads a process astray again and again: the third put is one commit. The first may meet
 * a removed leaf and be `unknown`; the second searches.
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
