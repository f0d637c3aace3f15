// All contests of one provider: the emulator, the proxy that makes it look far, and the two sides each run in a place of their own.
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import { type ContestResult, type Match, type Rounds, runContest } from './contest/contest.ts';
import { type Goal, GOALS } from './contest/goals.ts';
import { startLatencyProxy } from './latency-proxy.ts';
import type { BenchProvider } from './providers.ts';
import { type SideProcess, startSide } from './side-process.ts';

const DATASET = 'bench';
const FAR_RTT_MS = 10;

export interface ContestOptions {
  readonly rounds: Rounds;
  /** Of every contest; 0: none, and some contests are run again at a distance of 10 ms. */
  readonly rttMs: number;
  /** Of each side before the first contest: so many puts and gets alone, and as many in company. */
  readonly warmUpOperations: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Runs the contests one after the other. Rejects if a side fails, and with the signal's reason. */
export async function contestsOf(bench: BenchProvider, options: ContestOptions): Promise<ContestResult[]> {
  const { rttMs, warmUpOperations, log } = options;
  const opened: { close(): Promise<void> }[] = [];
  try {
    log(`${PROVIDER_NAMES[bench.provider]} on ${bench.backend}: warming up ...`);
    const near = await sidesAt(bench, rttMs, options, opened);
    for (const side of [near.theirs, near.ours]) await side.fill();
    for (const side of [near.theirs, near.ours]) await side.warmUp(warmUpOperations);
    // What lies far away anyway is not moved further.
    const far = rttMs > 0 ? undefined : await sidesAt(bench, FAR_RTT_MS, options, opened);
    const results: ContestResult[] = [];
    for (const goal of GOALS) {
      const sides = goal.isFar ? far : near;
      if (sides === undefined) continue;
      const result = await runContest(matchOf(goal, bench, goal.isFar ? FAR_RTT_MS : rttMs), sides, options.rounds);
      results.push(result);
      log(`  ${lineOf(result)}`);
    }
    return results;
  } finally {
    for (const one of opened.toReversed()) await one.close();
  }
}

/** Both sides, so far from the emulator. What is opened is added to `opened`. */
async function sidesAt(
  bench: BenchProvider,
  rttMs: number,
  { signal }: ContestOptions,
  opened: { close(): Promise<void> }[],
): Promise<{ readonly ours: SideProcess; readonly theirs: SideProcess }> {
  let { endpoint } = bench;
  if (rttMs > 0) {
    const url = new URL(endpoint);
    const proxy = await startLatencyProxy(Number(url.port), rttMs);
    opened.push(proxy);
    endpoint = endpoint.replace(`:${url.port}`, `:${proxy.port}`);
  }
  const start = async (side: 'ours' | 'theirs'): Promise<SideProcess> => {
    const started = await startSide({ side, provider: bench.provider, endpoint, dataset: DATASET }, signal);
    opened.push(started);
    return started;
  };
  return { theirs: await start('theirs'), ours: await start('ours') };
}

function matchOf({ name, inFlight, rate, processor }: Goal, { provider }: BenchProvider, rttMs: number): Match {
  const goals = {
    ...(rate === undefined ? {} : { rate: rate[provider] }),
    ...(processor === undefined ? {} : { processor: processor[provider] }),
  };
  return { name, provider, inFlight, rttMs, goals };
}

function lineOf({ name, inFlight, rttMs, rate, processor }: ContestResult): string {
  const far = rttMs > 0 ? `, ${rttMs} ms away` : '';
  return `${name}, ${inFlight} in flight${far}: rate ${rate.ratio.toFixed(2)}, processor ${processor.ratio.toFixed(2)}`;
}
