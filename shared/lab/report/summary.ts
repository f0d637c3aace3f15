// The comparison in ratios: each layout against the others, cell by cell, and at the load where each was fastest.
import type { Coordinates } from '../load/coordinates.ts';
import { type Layout, LAYOUTS, PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/figure.ts';
import type { Best, Comparison, ReportCell, SummaryRow } from './schema.ts';

/** `container` against each other layout at the same load. */
export function comparisonsOf(cells: readonly ReportCell[]): Comparison[] {
  const containers = cells.filter(({ layout }) => layout === 'container');
  return containers.flatMap((cell) =>
    LAYOUTS.filter((layout) => layout !== 'container').flatMap((layout) => {
      const other = cells.find((one) => one.layout === layout && isSameLoad(one, cell));
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
    recordsPerSecond: ratioOf(cell.recordsPerSecond, other.recordsPerSecond),
    dollarsPerMillionRecords: ratioOf(cell.dollarsPerMillionRecords, other.dollarsPerMillionRecords),
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

/** A row for each provider and workload that has cells. A ratio is null where one side has none. */
export function summaryOf(cells: readonly ReportCell[]): SummaryRow[] {
  return PROVIDERS.flatMap((provider) =>
    WORKLOADS.flatMap((workload) => {
      const some = cells.filter((cell) => cell.provider === provider && cell.workload === workload);
      if (some.length === 0) return [];
      const best = {
        record: bestOf(some, 'record'),
        batch: bestOf(some, 'batch'),
        container: bestOf(some, 'container'),
      };
      return {
        provider,
        workload,
        best,
        containerToRecord: ratio(best.container, best.record),
        containerToBatch: ratio(best.container, best.batch),
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
  if (numerator === null || denominator === null) return null;
  return ratioOf(numerator.recordsPerSecond, denominator.recordsPerSecond);
}
