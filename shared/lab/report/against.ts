// Two reports against each other, cell by cell: what changed by more than chance. Repetitions are ranked against repetitions (significance.ts). That
// tells a change from the scatter of runs within each comparison; what moved between them beside the code, such as the machine, it cannot tell.
import type { Coordinates } from '../load/coordinates.ts';
import type { Figure } from '../kit/figure.ts';
import { type Against, type Change, COMPARED_NAMES, type Report, type ReportCell } from './schema.ts';
import { mannWhitneyP, SIGNIFICANCE } from './significance.ts';

const COMPARED: Readonly<Record<Change['figure'], (cell: ReportCell) => Figure | null>> = {
  throughput: (cell) => cell.recordsPerSecond,
  p50: (cell) => cell.latency.p50Ms,
  p95: (cell) => cell.latency.p95Ms,
  p99: (cell) => cell.latency.p99Ms,
  cost: (cell) => cell.dollarsPerMillionRecords,
};

type Compared = Pick<Report, 'cells' | 'startedAt' | 'places' | 'plan'>;

/** Every figure that both reports have, in the order of the newer one. */
export function against(now: Compared, before: Compared): Against {
  const earlier = new Map(before.cells.map((cell) => [nameOf(cell), cell]));
  const later = new Set(now.cells.map(nameOf));
  const changes = now.cells.flatMap((cell) => {
    const old = earlier.get(nameOf(cell));
    return old === undefined ? [] : changesOf(cell, old);
  });
  return {
    startedAt: before.startedAt,
    significance: SIGNIFICANCE,
    changes,
    onlyBefore: before.cells.filter((cell) => !later.has(nameOf(cell))).length,
    onlyNow: now.cells.filter((cell) => !earlier.has(nameOf(cell))).length,
    otherwise: otherwise(now, before),
  };
}

function changesOf(cell: ReportCell, old: ReportCell): Change[] {
  return COMPARED_NAMES.flatMap((figure) => {
    const [after, before] = [COMPARED[figure](cell), COMPARED[figure](old)];
    if (after === null || before === null || before.median <= 0) return [];
    const p = mannWhitneyP(before.values, after.values);
    const isHigher = after.median > before.median;
    const verdict = p >= SIGNIFICANCE || after.median === before.median ? 'undecided' : isHigher ? 'higher' : 'lower';
    return { ...coordinatesOf(cell), figure, before, now: after, ratio: after.median / before.median, p, verdict };
  });
}

/** The coordinates alone, of what has them among other fields. */
export function coordinatesOf(cell: Coordinates): Coordinates {
  const { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond } = cell;
  return { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond };
}

/** The same for the same cell. */
function nameOf(cell: Coordinates): string {
  return Object.values(coordinatesOf(cell)).join(' ');
}

/** What makes the two less comparable than the test can know. */
function otherwise(now: Compared, before: Compared): string[] {
  const sides = (what: string, of: (report: Compared) => readonly unknown[]): string[] => {
    const [one, other] = [before, now].map((report) => [...new Set(of(report).map(String))].toSorted().join(', '));
    return one === other ? [] : [`${what}: ${one || 'none'} before, ${other || 'none'} now.`];
  };
  return [
    ...sides('Backend', ({ places }) => places.map(({ backend }) => backend)),
    ...sides('Region', ({ places }) => places.map(({ region }) => region ?? 'unknown')),
    ...sides('Runtime', ({ places }) => places.map(({ runtime }) => runtime)),
    ...sides('Processor', ({ places }) => places.map(({ processorModel }) => processorModel)),
    ...sides('Memory of an instance, bytes', ({ places }) => places.map(({ memoryBytes }) => memoryBytes ?? 'unknown')),
    ...sides('Length of a window, ms', ({ plan }) => [plan.durationMs]),
    ...sides('Records in a dataset', ({ plan }) => [plan.records]),
    ...sides('Form of records', ({ plan }) => [plan.recordForm]),
    ...sides('Seed', ({ plan }) => [plan.seed]),
  ];
}
