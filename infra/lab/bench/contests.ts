// This store against the plain SDK of one provider, each in a process of its own, in turns.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { goalFinding } from '../../../shared/lab/report/chapters/goal.ts';
import {
  type Chapter,
  type FigureTable,
  type Finding,
  ratioOf,
  type Row,
} from '../../../shared/lab/report/chapters/schema.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import type { Experiment, ExperimentContext } from '../experiments/experiment.ts';
import { alternatingRuns, type Cells } from '../experiments/rounds.ts';
import type { BenchProvider } from '../providers.ts';
import { type Contest, CONTESTS, FAR_RTT_MS, STORED_GOAL } from './contest/goals.ts';
import { startLatencyProxy } from './latency-proxy.ts';
import { type SideProcess, startSide } from './side-process.ts';
import { storedTable } from './stored.ts';

const DATASET = 'bench';

export interface ContestOptions {
  readonly rounds: number;
  readonly turnMs: number;
  /** Puts and gets of each side before the first contest, alone and in company. */
  readonly warmUpOperations: number;
}

export function contestsOf(provider: Provider, options: ContestOptions): Experiment {
  return {
    id: provider,
    title: PROVIDER_NAMES[provider],
    question: 'What does whoever replaces the plain SDK by this store gain, and lose?',
    source: null,
    run: (context) => chapter(provider, options, context),
  };
}

async function chapter(provider: Provider, options: ContestOptions, context: ExperimentContext): Promise<Chapter> {
  const bench = await context.emulator(provider);
  const contests = await contestTable(bench, options, context);
  const stored = await storedTable(bench);
  const saved = ratioOf(stored, 'theirs', 'bytes') ?? null;
  return {
    tables: [contests, stored],
    wordTables: [],
    cannotShow: [],
    findings: [
      ...CONTESTS.flatMap((contest) => goalsOf(contest, contests, provider)),
      goalFinding("stored bytes, the plain SDK's to ours", saved, { atLeast: STORED_GOAL }),
    ],
  };
}

/** The ratio of rates is to be at least its goal, of processor time at most. */
export function goalsOf(contest: Contest, table: FigureTable, provider: Provider): Finding[] {
  const ratio = (column: string): number | null => ratioOf(table, rowOf(contest, 'ours'), column) ?? null;
  const { rate, processor } = contest;
  const rateGoal = goalFinding(`${nameOf(contest)}: rate`, ratio('rate'), { atLeast: rate[provider] });
  if (processor === undefined) return [rateGoal];
  const bounds = { atMost: processor[provider] };
  return [rateGoal, goalFinding(`${nameOf(contest)}: processor time`, ratio('processor'), bounds)];
}

const SIDES = { theirs: 'plain SDK', ours: 'Stowage' } as const;
type Sides = Readonly<Record<keyof typeof SIDES, Pick<SideProcess, 'turn'>>>;

export function nameOf({ name, inFlight, isFar }: Contest): string {
  return `${name}, ${inFlight} in flight${isFar ? `, ${FAR_RTT_MS} ms away` : ''}`;
}

function rowOf(contest: Contest, which: string): string {
  return `${nameOf(contest)}: ${which}`;
}

async function contestTable(
  { provider, backend, endpoint }: BenchProvider,
  options: ContestOptions,
  context: ExperimentContext,
): Promise<FigureTable> {
  const { signal } = context;
  const opened: { close(): Promise<void> }[] = [];
  const opening = <T extends { close(): Promise<void> }>(one: T): T => (opened.push(one), one);
  const sidesAt = async (address: string, warmUpOperations: number): Promise<Sides> => {
    const setup = { provider, endpoint: address, dataset: DATASET, warmUpOperations };
    const theirs = opening(await startSide({ side: 'theirs', ...setup }, signal));
    return { theirs, ours: opening(await startSide({ side: 'ours', ...setup }, signal)) };
  };
  try {
    context.log('warming up ...');
    const near = await sidesAt(endpoint, options.warmUpOperations);
    const { port } = new URL(endpoint);
    const proxy = opening(await startLatencyProxy(Number(port), FAR_RTT_MS));
    const far = await sidesAt(endpoint.replace(`:${port}`, `:${proxy.port}`), 0);
    const rows: Row[] = [];
    for (const contest of CONTESTS) {
      context.log(nameOf(contest));
      rows.push(...(await rowsOf(contest, contest.isFar ? far : near, options, signal)));
    }
    return tableOf(rows, backend, options.rounds);
  } finally {
    for (const one of opened.toReversed()) await one.close();
  }
}

type Size = Pick<ContestOptions, 'rounds' | 'turnMs'>;

export async function rowsOf(contest: Contest, sides: Sides, size: Size, signal: AbortSignal): Promise<Row[]> {
  const cells = await played(contest, sides, size, signal);
  return Object.entries(SIDES).map(([which, name]) => ({
    id: rowOf(contest, which),
    name: `${nameOf(contest)}: ${name}`,
    against: rowOf(contest, 'theirs'),
    figures: cells.get(which) ?? {},
  }));
}

/** A turn of each side to warm up, then the rounds, each side going first in turn. */
export function played(
  { name, inFlight }: Contest,
  sides: Readonly<Record<string, Pick<SideProcess, 'turn'>>>,
  { rounds, turnMs }: Size,
  signal: AbortSignal,
): Promise<Cells> {
  const variants = Object.entries(sides).map(([row, side]) => ({
    row,
    columns: ['rate', 'processor'],
    run: async () => {
      const { records, wallMs, processorUs } = await side.turn(name, { inFlight, turnMs });
      return { rate: (records / wallMs) * 1_000, processor: processorUs / records };
    },
  }));
  return alternatingRuns({ signal }, { rounds }, variants);
}

export function tableOf(rows: readonly Row[], where: string, rounds: number): FigureTable {
  return {
    id: 'contests',
    title: 'Contests',
    about: `Medians of ${rounds} rounds, the sides in turn. Processor time is that of the client's process, all threads.`,
    hasMedians: true,
    columns: [
      { id: 'rate', era: 'now', measure: 'records a second', where, unit: 'records/s', better: 'higher' },
      { id: 'processor', era: 'now', measure: 'processor time a record', where, unit: 'µs', better: 'lower' },
    ],
    rows,
  };
}
