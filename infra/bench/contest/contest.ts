// A contest: this store against the provider's plain SDK at one kind of work, both in this process, in alternating rounds, so that the
// machine's other load meets both. The result is the ratio of the medians; the spread of the rounds says how far to trust it.
import type { Provider } from '../../../shared/compare/dimensions.ts';
import { median } from '../../../shared/compare/plan/median.ts';

/** Does the work once; resolves, when the last reply has arrived, to the records it handled. */
export type Work = () => Promise<number>;

export interface Match {
  readonly name: string;
  readonly provider: Provider;
  /** Callers at a time, each waiting for its reply before it calls again. */
  readonly inFlight: number;
  /** Added to each round trip by a proxy; 0: none. */
  readonly rttMs: number;
  /** The ratio of ours to theirs that we want at least. */
  readonly goal: number;
  readonly ours: Work;
  readonly theirs: Work;
}

export interface ContestResult extends Pick<Match, 'name' | 'provider' | 'inFlight' | 'rttMs' | 'goal'> {
  /** Medians over the rounds, in `unit`. */
  readonly ours: number;
  readonly theirs: number;
  readonly unit: 'records/s' | 'bytes/record';
  /** Higher is better. */
  readonly ratio: number;
  /** The lowest and the highest ratio of a round. */
  readonly spread: readonly [number, number];
}

export interface Rounds {
  readonly count: number;
  /** Length of one side's turn; work under way at its end is finished and counted, its time too. */
  readonly turnMs: number;
  readonly signal: AbortSignal;
  /** A clock in milliseconds that never goes back. */
  readonly monotonicMs: () => number;
}

/** Runs the contest: a turn of each side to warm up, then the rounds, each side going first in turn. */
export async function runContest(contest: Match, rounds: Rounds): Promise<ContestResult> {
  const turn = (work: Work): Promise<number> => rateOf(work, contest.inFlight, rounds);
  await turn(contest.theirs);
  await turn(contest.ours);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds.count; round += 1) {
    if (round % 2 === 0) ours.push(await turn(contest.ours));
    theirs.push(await turn(contest.theirs));
    if (round % 2 === 1) ours.push(await turn(contest.ours));
  }
  const ratios = ours.map((rate, round) => rate / theirs[round]!);
  const { name, provider, inFlight, rttMs, goal } = contest;
  return {
    name,
    provider,
    inFlight,
    rttMs,
    goal,
    ours: median(ours),
    theirs: median(theirs),
    unit: 'records/s',
    ratio: median(ours) / median(theirs),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

/** Records a second in one turn, by callers in a closed loop. */
export async function rateOf(work: Work, inFlight: number, rounds: Omit<Rounds, 'count'>): Promise<number> {
  const begunMs = rounds.monotonicMs();
  let records = 0;
  const caller = async (): Promise<void> => {
    do {
      rounds.signal.throwIfAborted();
      const handled = await work();
      records += handled;
    } while (rounds.monotonicMs() - begunMs < rounds.turnMs);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return (records / (rounds.monotonicMs() - begunMs)) * 1_000;
}
