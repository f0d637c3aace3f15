// The comparison in ratios: each layout against the others, cell by cell, and at the load where each was fastest.
import type { Coordinates } from '../load/coordinates.ts';
import { type Layout, LAYOUTS, PROVIDERS } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/ratio.ts';
import { coordinatesOf } from './against.ts';
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
    recordsPerSecond: ratioBetween(cell, other, 'recordsPerSecond'),
    dollarsPerMillionRecords: ratioBetween(cell, other, 'dollarsPerMillionRecords'),
  };
}

/** Of the runs that both cells have in one block. */
function ratioBetween(
  cell: ReportCell,
  other: ReportCell,
  figure: 'recordsPerSecond' | 'dollarsPerMillionRecords',
): Ratio | null {
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

/** A row for each provider, workload and size of records that has cells. A ratio is null where one side has none. */
export function summaryOf(cells: readonly ReportCell[]): SummaryRow[] {
  const inOrder = PROVIDERS.flatMap((provider) => cells.filter((cell) => cell.provider === provider));
  const rows = Map.groupBy(inOrder, ({ provider, workload, recordBytes }) => `${provider} ${workload} ${recordBytes}`);
  return [...rows.values()].map((some) => {
    const { provider, workload, recordBytes } = some[0]!;
    const best = {
      record: bestOf(some, 'record'),
      batch: bestOf(some, 'batch'),
      container: bestOf(some, 'container'),
    };
    const toContainer = (other: ReportCell | undefined): Ratio | null =>
      best.container === undefined || other === undefined
        ? null
        : ratioBetween(best.container, other, 'recordsPerSecond');
    return {
      provider,
      workload,
      recordBytes,
      best: { record: asBest(best.record), batch: asBest(best.batch), container: asBest(best.container) },
      containerToRecord: toContainer(best.record),
      containerToBatch: toContainer(best.batch),
    };
  });
}

/** Of the cells with most repetitions: a cell of which some runs failed may owe its median to the ones that are missing. */
function bestOf(cells: readonly ReportCell[], layout: Layout): ReportCell | undefined {
  const own = cells.filter((cell) => cell.layout === layout);
  const most = Math.max(...own.map(({ runs }) => runs.length));
  const whole = own.filter(({ runs }) => runs.length === most);
  return whole.toSorted((one, other) => other.recordsPerSecond.median - one.recordsPerSecond.median)[0];
}

function asBest(cell: ReportCell | undefined): Best | null {
  if (cell === undefined) return null;
  return {
    ...coordinatesOf(cell),
    recordsPerCall: cell.recordsPerCall,
    recordsPerSecond: cell.recordsPerSecond,
  };
}
