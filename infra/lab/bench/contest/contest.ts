// A contest: this store against the provider's plain SDK at one kind of work, each in a process of its own, in alternating rounds, so that the
// machine's other load meets both. What counts are the medians; the spread of the rounds says how far to trust their ratio.
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { median } from '../../../../shared/lab/kit/median.ts';
import type { ContestName } from './goals.ts';
import type { Parts } from './parts.ts';
import { rateOf, type Turn, type TurnSize } from './turn.ts';

/** Whoever does a contest's work, one turn at a time. */
export interface Side {
  /** Rejects with what went wrong. */
  turn(contest: ContestName, size: TurnSize): Promise<Turn>;
}

/** This store's side. */
export interface OwnSide extends Side {
  /** Takes a turn that no rate comes of, and tells what its processor time went to. */
  parts(contest: ContestName, size: TurnSize): Promise<Parts>;
}

export interface Match {
  readonly name: ContestName;
  readonly provider: Provider;
  /** Callers at a time, each waiting for its reply before it calls again. */
  readonly inFlight: number;
  /** Added to each round trip by a proxy; 0: none. */
  readonly rttMs: number;
  /** The ratio of ours to theirs that we want: of records a second at least, of processor time a record at most. */
  readonly goals: { readonly rate?: number; readonly processor?: number };
}

/** Both sides of one measure. */
export interface Compared {
  /** Medians over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours to theirs. */
  readonly ratio: number;
  /** The lowest and the highest ratio of a round. */
  readonly spread: readonly [number, number];
  /** Of the ratio; undefined: none. */
  readonly goal: number | undefined;
}

export interface ContestResult extends Omit<Match, 'goals'> {
  /** Records a second: the more the better. */
  readonly rate: Compared;
  /** Microseconds of the client process a record: the fewer the better. */
  readonly processor: Compared;
  /** What ours of `processor` went to, in microseconds a record. */
  readonly parts: Parts;
}

export interface Rounds {
  readonly count: number;
  /** Length of one side's turn. */
  readonly turnMs: number;
}

/** Runs the contest: a turn of each side to warm up, then the rounds, each side going first in turn, then one of ours to be taken apart. */
export async function runContest(
  { goals, ...match }: Match,
  { ours, theirs }: { readonly ours: OwnSide; readonly theirs: Side },
  { count, turnMs }: Rounds,
): Promise<ContestResult> {
  const { name, inFlight } = match;
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
  const shares = await ours.parts(name, size);
  const processor = compared(own, plain, processorUsOf, goals.processor);
  const parts = {
    engine: shares.engine * processor.ours,
    driver: shares.driver * processor.ours,
    other: shares.other * processor.ours,
  };
  return { ...match, rate: compared(own, plain, rateOf, goals.rate), processor, parts };
}

function compared(
  own: readonly Turn[],
  plain: readonly Turn[],
  measure: (turn: Turn) => number,
  goal: number | undefined,
): Compared {
  const ours = own.map(measure);
  const theirs = plain.map(measure);
  const ratios = ours.map((value, round) => value / theirs[round]!);
  const [one, other] = [median(ours), median(theirs)];
  return { ours: one, theirs: other, ratio: one / other, spread: [Math.min(...ratios), Math.max(...ratios)], goal };
}

/** Microseconds a record. */
function processorUsOf({ records, processorUs }: Turn): number {
  return processorUs / records;
}
