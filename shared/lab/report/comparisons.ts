// Cells against each other at the same load: this store against what a user would take otherwise,
// and one cloud against the other where both are real.
import type { Layout } from '../kit/dimensions.ts';
import { type Ratio, ratioOf } from '../kit/ratio.ts';
import { coordinatesOf } from './against.ts';
import type { Comparison, ReportCell } from './report-schema.ts';

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
  const wanted = { ...loadOf(cell), ...other };
  const found = cells.find((one) => {
    const load = loadOf(one);
    return (
      Object.entries(wanted).every(([name, value]) => load[name as keyof typeof load] === value) &&
      (one.containerKib === null || one.containerKib === cell.containerKib)
    );
  });
  return found === undefined ? [] : [comparisonOf(cell, found)];
}

function loadOf(cell: ReportCell) {
  const { containerKib: _, ...load } = coordinatesOf(cell);
  return load;
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
