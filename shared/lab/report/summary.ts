// The comparison in ratios: layouts against each other, cell by cell and each at its best load.
import type { Coordinates } from '../load/coordinates.ts';
import { type Layout, LAYOUTS, type Workload } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/ratio.ts';
import { coordinatesOf } from './against.ts';
import type { Best, Comparison, ReportCell, SummaryRow } from './schema.ts';

/** In `load` the driver writes many records at once, as `batch` does; else one, as `record`. */
const sdkBeside = (workload: Workload): Layout => (workload === 'load' ? 'batch' : 'record');

/** The store against what its users have else, its driver against both: what does packing bring? */
function pairsOf(workload: Workload): readonly (readonly [numerator: Layout, denominator: Layout])[] {
  return [
    ['container', 'record'],
    ['container', 'batch'],
    ['container-batch', 'batch'],
    ['container', 'driver'],
    ['driver', sdkBeside(workload)],
  ];
}

export function comparisonsOf(cells: readonly ReportCell[]): Comparison[] {
  return cells.flatMap((cell) =>
    pairsOf(cell.workload).flatMap(([numerator, denominator]) => {
      if (numerator !== cell.layout) return [];
      const other = cells.find((one) => one.layout === denominator && isSameLoad(one, cell));
      return other === undefined ? [] : [comparisonOf(cell, other)];
    }),
  );
}

function comparisonOf(cell: ReportCell, other: ReportCell): Comparison {
  const { layout: _, ...load } = coordinatesOf(cell);
  return {
    ...load,
    numerator: cell.layout,
    denominator: other.layout,
    isLikeWithLike: cell.recordsPerCall === other.recordsPerCall,
    recordsPerSecond: ratioBetween(cell, other, 'recordsPerSecond'),
    dollarsPerMillionRecords: ratioBetween(cell, other, 'dollarsPerMillionRecords'),
  };
}

/** Over runs that both have in one block. Null where calls hand over other numbers of records. */
function ratioBetween(
  cell: ReportCell,
  other: ReportCell,
  figure: 'recordsPerSecond' | 'dollarsPerMillionRecords',
): Ratio | null {
  if (cell.recordsPerCall !== other.recordsPerCall) return null;
  const pairs = cell.runs.flatMap(({ repetition, isSound }, at) => {
    const beside = other.runs.findIndex((run) => run.repetition === repetition);
    if (beside < 0) return [];
    const [numerator, denominator] = [cell[figure].values[at]!, other[figure].values[beside]!];
    return { numerator, denominator, isSound: isSound && other.runs[beside]!.isSound };
  });
  return ratioOf(pairs);
}

function isSameLoad(one: Coordinates, other: Coordinates): boolean {
  const names = ['provider', 'workload', 'recordBytes', 'instances', 'callers', 'ratePerSecond'] as const;
  return names.every((name) => one[name] === other[name]);
}

export interface SummaryRatio {
  readonly name: 'containerToRecord' | 'containerToBatch' | 'containerToDriver' | 'driverToSdk';
  readonly title: string;
  /** The layouts whose figures it is of. */
  readonly sides: (workload: Workload) => readonly Layout[];
}

const SUMMARY_RATIOS: readonly SummaryRatio[] = [
  { name: 'containerToRecord', title: 'container to record', sides: () => ['container', 'record'] },
  { name: 'containerToBatch', title: 'container to batch', sides: () => ['container', 'batch'] },
  { name: 'containerToDriver', title: 'container to driver', sides: () => ['container', 'driver'] },
  { name: 'driverToSdk', title: 'driver to SDK', sides: (workload) => ['driver', sdkBeside(workload)] },
];

/** Whether both layouts of the ratio ran: without a ratio, their calls differ. */
export function hasSides({ best, workload }: SummaryRow, { sides }: SummaryRatio): boolean {
  return sides(workload).every((side) => best[side] !== null);
}

export function shownIn(summary: readonly SummaryRow[]) {
  const layouts = LAYOUTS.filter((layout) => summary.some(({ best }) => best[layout] !== null));
  const ratios = SUMMARY_RATIOS.filter((ratio) => summary.some((row) => hasSides(row, ratio)));
  return { layouts, ratios };
}

/** A row for each provider, workload and size of records. A side without cells has no ratio. */
export function summaryOf(cells: readonly ReportCell[]): SummaryRow[] {
  const rows = Map.groupBy(cells, ({ provider, workload, recordBytes }) => `${provider} ${workload} ${recordBytes}`);
  return [...rows.values()].map((some) => {
    const { provider, workload, recordBytes } = some[0]!;
    const best = new Map(LAYOUTS.map((layout) => [layout, bestOf(some, layout)]));
    const ratio = (numerator: Layout, denominator: Layout): Ratio | null => {
      const [one, other] = [best.get(numerator), best.get(denominator)];
      return one === undefined || other === undefined ? null : ratioBetween(one, other, 'recordsPerSecond');
    };
    return {
      provider,
      workload,
      recordBytes,
      best: Object.fromEntries(LAYOUTS.map((layout) => [layout, asBest(best.get(layout))])) as SummaryRow['best'],
      containerToRecord: ratio('container', 'record'),
      containerToBatch: ratio('container', 'batch') ?? ratio('container-batch', 'batch'),
      containerToDriver: ratio('container', 'driver'),
      driverToSdk: ratio('driver', sdkBeside(workload)),
    };
  });
}

/** The best of the cells with most repetitions: failed runs may flatter a median. */
function bestOf(cells: readonly ReportCell[], layout: Layout): ReportCell | undefined {
  const own = cells.filter((cell) => cell.layout === layout);
  const most = Math.max(...own.map(({ runs }) => runs.length));
  const whole = own.filter(({ runs }) => runs.length === most);
  return whole.toSorted((one, other) => other.recordsPerSecond.median - one.recordsPerSecond.median)[0];
}

function asBest(cell: ReportCell | undefined): Best | null {
  if (cell === undefined) return null;
  const { recordsPerCall, recordsPerSecond } = cell;
  return { ...coordinatesOf(cell), recordsPerCall, recordsPerSecond };
}
