// The comparison in ratios: each layout against the others, cell by cell, and at the load where each was fastest.
import type { Coordinates } from '../load/coordinates.ts';
import { type Layout, LAYOUTS, PROVIDERS, type Workload, WORKLOADS } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/figure.ts';
import type { Best, Comparison, ReportCell, SummaryRow } from './schema.ts';

/** In `load` the driver writes many records at once, as `batch` does; else one, as `record` does. */
const sdkBeside = (workload: Workload): Layout => (workload === 'load' ? 'batch' : 'record');

/** Which layout is set against which: the store against what its users have else, and its driver against both, to tell what packing brings from the rest. */
function pairsOf(workload: Workload): readonly (readonly [numerator: Layout, denominator: Layout])[] {
  return [
    ['container', 'record'],
    ['container', 'batch'],
    ['container-batch', 'batch'],
    ['container', 'driver'],
    ['driver', sdkBeside(workload)],
  ];
}

/** The pairs at each load that both sides ran. */
export function comparisonsOf(cells: readonly ReportCell[]): Comparison[] {
  return cells.flatMap((cell) =>
    pairsOf(cell.workload).flatMap(([numerator, denominator]) => {
      if (numerator !== cell.layout) return [];
      const other = cells.find((one) => one.layout === denominator && isSameLoad(one, cell));
      return other === undefined ? [] : [comparisonOf(cell, other)];
    }),
  );
}

/** No ratio of calls that hand over other numbers of records: they are another kind of operation. */
function comparisonOf(cell: ReportCell, other: ReportCell): Comparison {
  const { layout: _, ...load } = coordinatesOf(cell);
  const isLikeWithLike = cell.recordsPerCall === other.recordsPerCall;
  return {
    ...load,
    numerator: cell.layout,
    denominator: other.layout,
    isLikeWithLike,
    recordsPerSecond: isLikeWithLike ? ratioOf(cell.recordsPerSecond, other.recordsPerSecond) : null,
    dollarsPerMillionRecords: isLikeWithLike
      ? ratioOf(cell.dollarsPerMillionRecords, other.dollarsPerMillionRecords)
      : null,
  };
}

function coordinatesOf(cell: ReportCell): Coordinates {
  const { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond } = cell;
  return { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond };
}

function isSameLoad(one: Coordinates, other: Coordinates): boolean {
  const names = ['provider', 'workload', 'recordBytes', 'instances', 'callers', 'ratePerSecond'] as const;
  return names.every((name) => one[name] === other[name]);
}

/** A ratio of the summary as text and page show it, and the sides whose figures it is of. */
export const SUMMARY_RATIOS = [
  { name: 'containerToRecord', title: 'container to record', sides: ['container', 'record'] },
  { name: 'containerToBatch', title: 'container to batch', sides: ['container', 'batch'] },
  { name: 'containerToDriver', title: 'container to driver', sides: ['container', 'driver'] },
  { name: 'driverToSdk', title: 'driver to SDK', sides: ['driver', 'record'] },
] as const;

/** Layouts and ratios of which there is a figure. */
export function shownIn(summary: readonly SummaryRow[]) {
  const layouts = LAYOUTS.filter((layout) => summary.some(({ best }) => best[layout] !== null));
  const ratios = SUMMARY_RATIOS.filter(({ sides }) => sides.every((side) => layouts.includes(side)));
  return { layouts, ratios };
}

/** A row for each provider and workload that has cells. A ratio is null where a side has none, or where their calls differ. */
export function summaryOf(cells: readonly ReportCell[]): SummaryRow[] {
  return PROVIDERS.flatMap((provider) =>
    WORKLOADS.flatMap((workload) => {
      const some = cells.filter((cell) => cell.provider === provider && cell.workload === workload);
      if (some.length === 0) return [];
      const best = Object.fromEntries(LAYOUTS.map((layout) => [layout, bestOf(some, layout)])) as SummaryRow['best'];
      const { container, batch, driver, record } = best;
      return {
        provider,
        workload,
        best,
        containerToRecord: ratio(container, record),
        containerToBatch: ratio(container, batch) ?? ratio(best['container-batch'], batch),
        containerToDriver: ratio(container, driver),
        driverToSdk: ratio(driver, best[sdkBeside(workload)]),
      };
    }),
  );
}

/** Of the cells with most repetitions: a cell of which some runs failed may owe its median to the ones that are missing. */
function bestOf(cells: readonly ReportCell[], layout: Layout): Best | null {
  const own = cells.filter((cell) => cell.layout === layout);
  const most = Math.max(...own.map(({ runs }) => runs.length));
  const whole = own.filter(({ runs }) => runs.length === most);
  const best = whole.toSorted((one, other) => other.recordsPerSecond.median - one.recordsPerSecond.median)[0];
  if (best === undefined) return null;
  const { recordsPerCall, recordsPerSecond } = best;
  return { ...coordinatesOf(best), recordsPerCall, recordsPerSecond };
}

function ratio(numerator: Best | null, denominator: Best | null): Ratio | null {
  if (numerator === null || numerator.recordsPerCall !== denominator?.recordsPerCall) return null;
  return ratioOf(numerator.recordsPerSecond, denominator.recordsPerSecond);
}
