// Cells against each other at the same load: this store against what a user would take otherwise,
// and one cloud against the other where both are real. The plan `bench` has goals, whose miss is no
// failure.
import type { Layout, Provider, Workload } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/figure.ts';
import { coordinatesOf } from './against.ts';
import type { Comparison, Report, ReportCell } from './report-schema.ts';
import { factor } from '../kit/figure-format.ts';
import { loadWords, PROVIDER_SHORT_NAMES } from './names.ts';

/** The store against the SDK, and against itself over the SDK's transport. */
const PAIRS: readonly (readonly [numerator: Layout, denominator: Layout])[] = [
  ['container', 'record'],
  ['container', 'batch'],
  ['container', 'container-sdk'],
  ['container-sdk', 'record'],
];

/** `areBothReal`: a cloud is compared with the other only where no emulator stands for either. */
export function comparisonsOf(cells: readonly ReportCell[], areBothReal: boolean): Comparison[] {
  return cells.flatMap((cell) => [
    ...PAIRS.filter(([numerator]) => numerator === cell.layout).flatMap(([, layout]) =>
      beside(cell, { layout }, cells),
    ),
    ...(areBothReal && cell.provider === 'datastore' ? beside(cell, { provider: 'azure-tables' }, cells) : []),
  ]);
}

/** Compares with the cell that differs in `other` alone. Some layouts have no container size. */
function beside(
  cell: ReportCell,
  other: Partial<Pick<ReportCell, 'provider' | 'layout'>>,
  cells: readonly ReportCell[],
): Comparison[] {
  const { containerKib, ...wanted } = { ...coordinatesOf(cell), ...other };
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  const found = cells.find(
    (one) =>
      names.every((name) => one[name] === wanted[name]) &&
      (one.containerKib === null || one.containerKib === containerKib),
  );
  return found === undefined ? [] : [comparisonOf(cell, found)];
}

function comparisonOf(cell: ReportCell, other: ReportCell): Comparison {
  const { provider, layout, ...load } = coordinatesOf(cell);
  // Bills and processor time are of whole runs, warm-up included: no drift moves them as a rate.
  const drift = (cell.drift ?? Infinity) * (other.drift ?? Infinity);
  return {
    ...load,
    numerator: { provider, layout },
    denominator: { provider: other.provider, layout: other.layout },
    recordsPerSecond: ratioBetween(cell, other, 'recordsPerSecond', drift),
    dollarsPerMillionRecords: ratioBetween(cell, other, 'dollarsPerMillionRecords'),
    processorUsPerRecord: ratioBetween(cell, other, 'processorUsPerRecord'),
    isMachineLimited: cell.isMachineLimited || other.isMachineLimited,
  };
}

type Compared = 'recordsPerSecond' | 'dollarsPerMillionRecords' | 'processorUsPerRecord';

/** Over the blocks in which both ran. */
function ratioBetween(cell: ReportCell, other: ReportCell, figure: Compared, drift = 1): Ratio | null {
  const pairs = cell.runs.flatMap(({ repetition }, at) => {
    const beside = other.runs.findIndex((run) => run.repetition === repetition);
    if (beside < 0) return [];
    return [{ numerator: cell[figure].values[at]!, denominator: other[figure].values[beside]! }];
  });
  return ratioOf(pairs, drift);
}

/** The SDK's layout, the load, and bounds of the store's figure to the SDK's on both clouds. */
type Goal = readonly [
  workload: Workload,
  against: Layout,
  callers: number,
  /** At least so many times the records per second. */
  rate: Readonly<Record<Provider, number>>,
  /** At most so many times the client's processor time per record. */
  processor: Readonly<Record<Provider, number>>,
];

const on = (datastore: number, azure: number): Goal[3] => ({ datastore, 'azure-tables': azure });

const GOALS: readonly Goal[] = [
  ['load', 'batch', 1, on(5, 10), on(0.35, 0.3)],
  ['update', 'record', 1, on(1.1, 1), on(0.9, 0.9)],
  ['update', 'record', 32, on(3, 2), on(0.4, 0.5)],
  ['ycsb-c', 'record', 1, on(1.5, 1.2), on(0.9, 0.9)],
  ['ycsb-c', 'record', 32, on(10, 3), on(0.15, 0.35)],
  ['read-together', 'batch', 1, on(4, 4), on(0.2, 0.2)],
  ['read-together', 'record', 1, on(20, 20), on(0.05, 0.05)],
  ['ycsb-e', 'record', 1, on(2, 2), on(0.3, 0.3)],
];

type Judged = Report['goals'][number];

/** Judges the goals that the comparisons have a ratio for. */
export function goalsOf(comparisons: readonly Comparison[]): Judged[] {
  return comparisons.flatMap((one) => {
    const { numerator, denominator, workload, callers } = one;
    const found = GOALS.find((goal) => goal[0] === workload && goal[1] === denominator.layout && goal[2] === callers);
    const isOwn = numerator.layout === 'container' && numerator.provider === denominator.provider;
    if (found === undefined || !isOwn || one.ratePerSecond !== null || one.instances !== 1) return [];
    const { provider } = numerator;
    const [, , , rate, processor] = found;
    const of = `${PROVIDER_SHORT_NAMES[provider]} ${workload}, ${loadWords(one)}, container to ${denominator.layout}`;
    return [
      ...judged(`${of}: rate`, one.recordsPerSecond?.ratio, 'at least', rate[provider]),
      ...judged(`${of}: processor`, one.processorUsPerRecord?.ratio, 'at most', processor[provider]),
    ];
  });
}

function judged(what: string, ratio: number | undefined, bound: 'at least' | 'at most', goal: number): Judged[] {
  if (ratio === undefined) return [];
  const isMet = bound === 'at least' ? ratio >= goal : ratio <= goal;
  return [{ text: `${what} ${factor(ratio)}, ${bound} ${factor(goal)}`, ratio, goal, isMet }];
}
