// What the processor time of this store's side went to, engine or driver, by sampling its main thread while it works (V8's CPU profiler). A
// sample belongs to the innermost frame that is the store's, a driver's or the contest's own; one without such a frame, Node's sockets and
// timers, to the driver. Garbage is collected on account of whoever ran before.
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';

/** Parts of processor time: shares of 1, or microseconds. */
export interface Parts {
  /** `shared/store`, with the packages that it alone uses. */
  readonly engine: number;
  /** The rest of the main thread: the driver, what lies beneath it, and the process's sockets. */
  readonly driver: number;
  /** Other threads, which compress, compile and collect garbage, and the contest's own code. */
  readonly other: number;
}

/** Often enough for 1,400 samples in a turn of 0.7 s, seldom enough that sampling costs little. */
const INTERVAL_US = 500;
/** A thread that had to wait for its processor is not sampled meanwhile: that time is not its own. */
const SAMPLE_MAX_US = 2 * INTERVAL_US;

const ENGINE = /\/shared\/store\/|\/node_modules\/(lru-cache|msgpackr|p-limit|xxhash-wasm)\//;
const DRIVER = /\/shared\/drivers\/|\/node_modules\//;
const CONTEST = /\/(infra\/bench|shared\/compare)\//;

type Party = 'engine' | 'driver' | 'contest';

/** Samples this process while `work` runs. Gives shares of the processor time that passed meanwhile. */
export async function partsOf(work: () => Promise<void>): Promise<Parts> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
    await work();
    const spent = { allUs: sumOf(process.cpuUsage(all)), mainUs: sumOf(process.threadCpuUsage(main)) };
    const { profile } = await session.post('Profiler.stop');
    return sharesIn(profile, spent);
  } finally {
    session.disconnect();
  }
}

function sumOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

/** Processor time that passed while a profile was taken, in microseconds: of all threads, and of the main one. */
export interface Spent {
  readonly allUs: number;
  readonly mainUs: number;
}

/** Where the samples say more than the processor gave, as on a busy machine, they are taken for shares of what it gave. */
export function sharesIn(profile: Profiler.Profile, { allUs, mainUs }: Spent): Parts {
  const sampled = sampledUs(profile);
  const scale = Math.min(1, mainUs / (sampled.engine + sampled.driver + sampled.contest));
  const engine = (sampled.engine * scale) / allUs;
  const other = (allUs - mainUs + sampled.contest * scale) / allUs;
  return { engine, driver: Math.max(0, 1 - engine - other), other };
}

function sampledUs({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Record<Party, number> {
  const partyOfNode = partiesOf(nodes);
  const us = { engine: 0, driver: 0, contest: 0 };
  let before: Party = 'driver';
  for (const [index, id] of samples.entries()) {
    const party: Party | 'idle' = partyOfNode.get(id) ?? before;
    if (party === 'idle') continue;
    us[party] += Math.min(timeDeltas[index]!, SAMPLE_MAX_US);
    before = party;
  }
  return us;
}

/** By node; none for the collector of garbage. */
function partiesOf(nodes: readonly Profiler.ProfileNode[]): Map<number, Party | 'idle'> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parties = new Map<number, Party | 'idle'>();
  const visit = (node: Profiler.ProfileNode, above: Party): void => {
    const { functionName, url } = node.callFrame;
    const party = partyIn(url) ?? above;
    if (functionName === '(idle)') parties.set(node.id, 'idle');
    else if (functionName !== '(garbage collector)') parties.set(node.id, party);
    for (const child of node.children ?? []) visit(byId.get(child)!, party);
  };
  if (nodes[0] !== undefined) visit(nodes[0], 'driver');
  return parties;
}

function partyIn(url: string): Party | undefined {
  if (ENGINE.test(url)) return 'engine';
  if (DRIVER.test(url)) return 'driver';
  return CONTEST.test(url) ? 'contest' : undefined;
}
