// All contests of one provider: the emulator, the proxy that makes it look far, and the two sides each run in a place of their own.
import { factor } from '../../../shared/lab/kit/format.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import { type ContestResult, type Rounds, runContest } from './contest/contest.ts';
import { CONTESTS, FAR_RTT_MS } from './contest/goals.ts';
import { startLatencyProxy } from './latency-proxy.ts';
import type { BenchProvider } from './providers.ts';
import { type SideProcess, startSide } from './side-process.ts';

const DATASET = 'bench';

export interface ContestOptions {
  readonly rounds: Rounds;
  /** Of each side before the first contest: so many puts and gets alone, and as many in company. */
  readonly warmUpOperations: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Runs the contests one after the other. Rejects if a side fails, and with the signal's reason. */
export async function contestsOf(
  { provider, backend, endpoint }: BenchProvider,
  { rounds, warmUpOperations, signal, log }: ContestOptions,
): Promise<ContestResult[]> {
  const opened: { close(): Promise<void> }[] = [];
  const opening = <T extends { close(): Promise<void> }>(one: T): T => (opened.push(one), one);
  const sidesAt = async (address: string, operations: number): Promise<Record<'ours' | 'theirs', SideProcess>> => {
    const setup = { provider, endpoint: address, dataset: DATASET, warmUpOperations: operations };
    const theirs = opening(await startSide({ side: 'theirs', ...setup }, signal));
    return { theirs, ours: opening(await startSide({ side: 'ours', ...setup }, signal)) };
  };
  try {
    log(`${PROVIDER_NAMES[provider]} on ${backend}: warming up ...`);
    const near = await sidesAt(endpoint, warmUpOperations);
    const { port } = new URL(endpoint);
    const proxy = opening(await startLatencyProxy(Number(port), FAR_RTT_MS));
    const far = await sidesAt(endpoint.replace(`:${port}`, `:${proxy.port}`), 0);
    const results: ContestResult[] = [];
    for (const contest of CONTESTS) {
      const result = await runContest(contest, provider, contest.isFar ? far : near, rounds);
      results.push(result);
      log(`  ${lineOf(result)}`);
    }
    return results;
  } finally {
    for (const one of opened.toReversed()) await one.close();
  }
}

function lineOf({ name, inFlight, isFar, rate, processor }: ContestResult): string {
  const far = isFar ? `, ${FAR_RTT_MS} ms away` : '';
  return `${name}, ${inFlight} in flight${far}: rate ${factor(rate.ratio)}, processor ${factor(processor.ratio)}`;
}
