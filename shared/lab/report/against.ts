// Two reports against each other, cell by cell: sound repetitions are ranked against sound ones.
import type { Coordinates } from '../load/coordinates.ts';
import { type Figure, figureOf, SIGNIFICANCE } from '../kit/figure.ts';
import { type Against, type Change, COMPARED_NAMES, type Report, type ReportCell } from './schema.ts';
import { mannWhitneyP } from './significance.ts';

interface Compared {
  /** Null where the cell does not bear it. */
  readonly of: (cell: ReportCell) => Figure | null;
  readonly unit: string;
  /** The unit behind a bound in a condition. */
  readonly sign: string;
}

export const COMPARED: Readonly<Record<Change['figure'], Compared>> = {
  throughput: { of: (cell) => cell.recordsPerSecond, unit: 'records/s', sign: '/s' },
  p50: { of: (cell) => cell.latency.p50Ms, unit: 'ms', sign: 'ms' },
  p95: { of: (cell) => cell.latency.p95Ms, unit: 'ms', sign: 'ms' },
  p99: { of: (cell) => cell.latency.p99Ms, unit: 'ms', sign: 'ms' },
  cost: { of: (cell) => cell.dollarsPerMillionRecords, unit: 'dollars a million records', sign: '$' },
};

type Comparable = Pick<Report, 'cells' | 'startedAt' | 'places' | 'plan' | 'prices' | 'versions' | 'commit'>;

export function against(now: Comparable, before: Comparable): Against {
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
  const areSound = [cell, old].every(({ runs }) => runs.some(({ isSound }) => isSound));
  return COMPARED_NAMES.flatMap((figure) => {
    const { of } = COMPARED[figure];
    const [now, before] = [soundOf(of(cell), cell), soundOf(of(old), old)];
    if (now === null || before === null || before.median <= 0) return [];
    const p = areSound ? mannWhitneyP(before.values, now.values) : 1;
    const isHigher = now.median > before.median;
    const verdict = p >= SIGNIFICANCE || now.median === before.median ? 'undecided' : isHigher ? 'higher' : 'lower';
    return { ...coordinatesOf(cell), figure, before, now, ratio: now.median / before.median, p, verdict };
  });
}

/** The figure of the sound runs alone, or of all where none is sound. */
function soundOf(figure: Figure | null, { runs }: ReportCell): Figure | null {
  const values = figure?.values.filter((_, at) => runs[at]!.isSound) ?? [];
  return values.length === 0 ? figure : figureOf(values);
}

export function coordinatesOf(cell: Coordinates): Coordinates {
  const { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond } = cell;
  return { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond };
}

/** The same for the same cell. */
export function nameOf(cell: Coordinates): string {
  return Object.values(coordinatesOf(cell)).join(' ');
}

/** Circumstances that differ: they make the two less comparable than the test can know. */
function otherwise(now: Comparable, before: Comparable): string[] {
  const [earlier, later] = [circumstancesOf(before), circumstancesOf(now)];
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((name) => {
    const [one, other] = [earlier, later].map((all) => [...new Set(all.get(name))].toSorted().join(', '));
    return one === other ? [] : [`${name}: ${one || 'none'} before, ${other || 'none'} now.`];
  });
}

/** Names of a cell are compared with their like, and an instance's name says nothing. */
const NO_CIRCUMSTANCES: ReadonlySet<string> = new Set([
  ...['name', 'workloads', 'layouts', 'recordBytes', 'containerKib', 'instances', 'callers', 'ratesPerSecond'].map(
    (name) => `plan.${name}`,
  ),
  'places.provider',
  'places.instanceId',
]);

/** By the names of the report's fields; a place's have a value for each place. */
function circumstancesOf({ plan, places, prices, versions, commit }: Comparable): ReadonlyMap<string, string[]> {
  const all = [
    ...leavesOf(plan, 'plan'),
    ...places.flatMap((place) => leavesOf(place, 'places')),
    ...leavesOf({ date: prices.date }, 'prices'),
    ...leavesOf(versions, 'versions'),
    ...leavesOf(commit, 'commit'),
  ].filter(([name]) => !NO_CIRCUMSTANCES.has(name.split('.', 2).join('.')));
  return new Map([...Map.groupBy(all, ([name]) => name)].map(([name, some]) => [name, some.map(([, text]) => text)]));
}

function leavesOf(value: unknown, path: string): (readonly [path: string, text: string])[] {
  if (value === null) return [[path, 'unknown']];
  if (typeof value !== 'object') return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`));
}
