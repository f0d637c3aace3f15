// A contest: this store against the provider's plain SDK at one kind of work, each in a process of its own, in alternating rounds, so that the
// machine's other load meets both. What counts are the medians; the spread of the rounds says how far to trust their ratio.
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { median } from '../../../../shared/lab/kit/median.ts';
import type { Contest, ContestName } from './goals.ts';
import type { Turn } from './turn.ts';

/** How long, and by how many callers at a time. */
export interface TurnSize {
  readonly inFlight: number;
  readonly turnMs: number;
}

/** Whoever does a contest's work, one turn at a time. */
export interface Side {
  /** Rejects with what went wrong. */
  turn(contest: ContestName, size: TurnSize): Promise<Turn>;
}

/** Both sides of one measure. */
export interface Compared {
  /** Medians over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours to theirs. */
  readonly ratio: number;
  /** The lowest and the highest ratio of a round. */
  readonly low: number;
  readonly high: number;
  /** Of the ratio; undefined: none. */
  readonly goal: number | undefined;
}

export interface ContestResult extends Pick<Contest, 'name' | 'inFlight' | 'isFar'> {
  readonly provider: Provider;
  /** Records a second: the more the better. */
  readonly rate: Compared;
  /** Microseconds of the client process a record: the fewer the better. */
  readonly processor: Compared;
}

export interface Rounds {
  readonly count: number;
  /** Length of one side's turn. */
  readonly turnMs: number;
}

/** Runs the contest: a turn of each side to warm up, then the rounds, each side going first in turn. */
export async function runContest(
  { name, inFlight, isFar, rate, processor }: Contest,
  provider: Provider,
  { ours, theirs }: { readonly ours: Side; readonly theirs: Side },
  { count, turnMs }: Rounds,
): Promise<ContestResult> {
  const size = { inFlight, turnMs };
  await theirs.turn(name, size);
  await ours.turn(name, size);
  const own: Turn[] = [];
  const plain: Turn[] = [];
  for (let round = 0; round < count; round += 1) {
    if (round % 2 === 0) own.push(await ours.turn(name, size));
    plain.push(await theirs.turn(name, size));
    if (round % 2 === 1) own.push(await ours.turn(name, size));
  }
  const compared = (measure: (turn: Turn) => number, goal: number | undefined): Compared => {
    const [us, them] = [own.map(measure), plain.map(measure)];
    const ratios = us.map((value, round) => value / them[round]!);
    const [one, other] = [median(us), median(them)];
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
    return { ours: one, theirs: other, ratio: one / other, low, high, goal };
  };
  return {
    name,
    inFlight,
    isFar,
    provider,
    rate: compared(({ records, wallMs }) => (records / wallMs) * 1_000, rate[provider]),
    processor: compared(({ records, processorUs }) => processorUs / records, processor?.[provider]),
  };
}
