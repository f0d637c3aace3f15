// Two reports against each other, cell by cell: repetitions are ranked against repetitions, so that
// one slow run cannot decide.
import type { Coordinates } from '../load/cell.ts';
import { type Figure, figureOf, SIGNIFICANCE } from '../kit/figure.ts';
import { type Against, type Change, COMPARED_NAMES, type Report, type ReportCell } from './report-schema.ts';
import { wilcoxonRankSum } from 'simple-statistics';
import { sum } from '../kit/numbers.ts';

interface Compared {
  /** Null if the cell has too few operations for it. */
  readonly of: (cell: ReportCell) => Figure | null;
  readonly unit: string;
  /** The unit behind a bound in a condition. */
  readonly sign: string;
}

export const COMPARED: Readonly<Record<Change['figure'], Compared>> = {
  throughput: { of: (cell) => cell.recordsPerSecond, unit: 'records/s', sign: '/s' },
  p50: { of: (cell) => latency(cell, 'p50Ms'), unit: 'ms', sign: 'ms' },
  p99: { of: (cell) => latency(cell, 'p99Ms'), unit: 'ms', sign: 'ms' },
  cost: { of: (cell) => cell.dollarsPerMillionRecords, unit: 'dollars per million records', sign: '$' },
  processor: { of: (cell) => cell.processorUsPerRecord, unit: 'microseconds per record', sign: 'us' },
};

/** One value per run if each run has the percentile; else one value, of all runs together. */
function latency({ runs, latency }: ReportCell, name: 'p50Ms' | 'p99Ms'): Figure | null {
  const values = runs.flatMap((run) => run.latency[name] ?? []);
  if (values.length === runs.length) return figureOf(values);
  const pooled = latency[name];
  return pooled === null ? null : figureOf([pooled]);
}

type Comparable = Pick<
  Report,
  'cells' | 'startedAt' | 'places' | 'plan' | 'prices' | 'versions' | 'commit' | 'network'
>;

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
  return COMPARED_NAMES.flatMap((figure) => {
    const { of } = COMPARED[figure];
    const [now, before] = [of(cell), of(old)];
    if (now === null || before === null || before.median <= 0) return [];
    const p = mannWhitneyP(before.values, now.values);
    const isHigher = now.median > before.median;
    const verdict = p >= SIGNIFICANCE || now.median === before.median ? 'undecided' : isHigher ? 'higher' : 'lower';
    return { ...coordinatesOf(cell), figure, before, now, ratio: now.median / before.median, p, verdict };
  });
}

export function coordinatesOf(cell: Coordinates): Coordinates {
  const { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond } = cell;
  return { provider, layout, workload, recordBytes, containerKib, instances, callers, ratePerSecond };
}

/** The same for the same cell. */
function nameOf(cell: Coordinates): string {
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

/** Cells are compared only with cells of the same coordinates; an instance's id says nothing. */
const NO_CIRCUMSTANCES: ReadonlySet<string> = new Set([
  ...['name', 'workloads', 'layouts', 'recordBytes', 'containerKib', 'instances', 'callers', 'ratesPerSecond'].map(
    (name) => `plan.${name}`,
  ),
  'places.provider',
  'places.instanceId',
]);

/** By the names of the report's fields; fields of places have one value per place. */
function circumstancesOf({
  plan,
  places,
  prices,
  versions,
  commit,
  network,
}: Comparable): ReadonlyMap<string, string[]> {
  const all = [
    ...leavesOf(plan, 'plan'),
    ...places.flatMap((place) => leavesOf(place, 'places')),
    ...leavesOf({ date: prices.date }, 'prices'),
    ...leavesOf(versions, 'versions'),
    ...leavesOf(commit, 'commit'),
    ...leavesOf(network?.name ?? 'none', 'network'),
  ].filter(([name]) => !NO_CIRCUMSTANCES.has(name.split('.', 2).join('.')));
  return new Map([...Map.groupBy(all, ([name]) => name)].map(([name, some]) => [name, some.map(([, text]) => text)]));
}

function leavesOf(value: unknown, path: string): (readonly [path: string, text: string])[] {
  if (value === null) return [[path, 'unknown']];
  if (typeof value !== 'object') return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`));
}

/**
 * The probability of ranks at least as far apart by chance, ties exact. 1 where a side is empty.
 * Effort grows with the fourth power of the values.
 */
export function mannWhitneyP(one: readonly number[], other: readonly number[]): number {
  if (one.length === 0 || other.length === 0) return 1;
  const pooled = [...one, ...other];
  // The average rank of equal values may end in a half: doubled, all are whole.
  const ranks = pooled.map((value, at) => 2 * wilcoxonRankSum([value], pooled.toSpliced(at, 1)));
  const seen = sum(ranks.slice(0, one.length));
  const expected = one.length * (pooled.length + 1);
  const ways = waysToSum(ranks, one.length);
  const atLeastAsFar = [...ways].filter(([own]) => Math.abs(own - expected) >= Math.abs(seen - expected));
  return total(atLeastAsFar) / total([...ways]);
}

/** In how many ways `count` of the ranks add up to each sum. */
function waysToSum(ranks: readonly number[], count: number): ReadonlyMap<number, number> {
  const byCount = Array.from({ length: count + 1 }, () => new Map<number, number>());
  byCount[0]!.set(0, 1);
  for (const rank of ranks) {
    for (let taken = count; taken > 0; taken -= 1) {
      const into = byCount[taken]!;
      for (const [below, ways] of byCount[taken - 1]!) into.set(below + rank, (into.get(below + rank) ?? 0) + ways);
    }
  }
  return byCount[count]!;
}

function total(ways: readonly (readonly [sum: number, ways: number])[]): number {
  return sum(ways.map(([, count]) => count));
}
