// Two reports against each other, the test behind that, and conditions on the outcome.
import { describe, expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import { against, mannWhitneyP } from '../../../shared/lab/report/against.ts';
import type { Against, Change, Report, ReportCell } from '../../../shared/lab/report/report-schema.ts';
import { COORDINATES, sampleCell, sampleReport } from './sample-report.ts';
import { conditionsOf, idleAmong, metBy, unclearAmong } from '../../../shared/lab/report/fail-conditions.ts';

function withRates(rates: readonly number[]): ReportCell {
  return { ...sampleCell({ layout: 'container' }, { repetitions: 4 }), recordsPerSecond: figureOf(rates) };
}

const of = (...cells: readonly ReportCell[]): Report => sampleReport({ cells });
const throughputOf = (now: Report, before: Report) =>
  against(now, before).changes.find(({ figure }) => figure === 'throughput');

describe('two reports', () => {
  test('differ where all runs of one are above all runs of the other', () => {
    const change = throughputOf(of(withRates([80, 81, 82, 83])), of(withRates([100, 101, 102, 103])));
    expect(change).toMatchObject({ verdict: 'lower', p: 2 / 70, ratio: 81.5 / 101.5 });
  });

  test('do not differ where chance may be the cause, however far apart the medians are', () => {
    const before = of(withRates([10, 100, 1_000, 10_000]));
    expect(throughputOf(of(withRates([20, 300, 2_000, 20_000])), before)).toMatchObject({ verdict: 'undecided' });
    expect(throughputOf(of(withRates([1, 2, 3])), of(withRates([7, 8, 9])))).toMatchObject({
      verdict: 'undecided',
      p: 0.1,
    });
  });

  test('are compared cell by cell in any order, and cells of only one report are counted', () => {
    const load = sampleCell({ layout: 'container' }, { repetitions: 4 });
    const reads = sampleCell({ workload: 'ycsb-c' }, { repetitions: 4 });
    const sized = sampleCell({ layout: 'container', containerKib: 64 }, { repetitions: 4 });
    const result = against(of(reads, load), of(load, sized));
    expect(result).toMatchObject({ onlyBefore: 1, onlyNow: 1 });
    expect(new Set(result.changes.map(({ workload }) => workload))).toEqual(new Set(['load']));
    expect(result.changes.every(({ verdict }) => verdict === 'undecided')).toBe(true);
  });

  test('are not compared by percentiles that one of them lacks', () => {
    const cell = sampleCell({ callers: 8 }, { repetitions: 4 });
    const runs = cell.runs.map((run) => ({ ...run, latency: { ...run.latency, p99Ms: null } }));
    const without = { ...cell, runs, latency: { ...cell.latency, p99Ms: null } };
    const figures = against(of(cell), of(without)).changes.map(({ figure }) => figure);
    expect(figures).toEqual(['throughput', 'p50', 'cost', 'processor']);
    // All runs together bear it, though none does alone: one value, which proves no change.
    const pooled = { ...without, latency: { ...without.latency, p99Ms: 7 } };
    const [p99] = against(of(cell), of(pooled)).changes.filter(({ figure }) => figure === 'p99');
    expect(p99).toMatchObject({ before: { values: [7] }, verdict: 'undecided' });
  });

  test('have a sentence for each difference of the plan, the places and the versions, but of no instance ids', () => {
    const before = sampleReport();
    const [one, ...others] = before.places;
    const { versions, ...machine } = one!;
    const place = {
      ...machine,
      processors: 4,
      versions: { ...versions, stowage: '0.2.0' },
      commit: 'abc+',
      instanceId: 'another',
    };
    const change = {
      places: [place, ...others],
      prices: { ...before.prices, date: '2027-01' },
      versions: { stowage: '0.1.0', azurite: '4.0.0' },
      commit: null,
      plan: { ...before.plan, seed: 8, warmup: { ...before.plan.warmup, leastMs: 1 } },
    };
    expect(against(before, before).otherwise).toEqual([]);
    expect(against(sampleReport({ change }), before).otherwise).toEqual([
      'plan.warmup.leastMs: 300 before, 1 now.',
      'plan.seed: 7 before, 8 now.',
      'places.processors: 2 before, 2, 4 now.',
      'places.versions.stowage: 0.1.0 before, 0.1.0, 0.2.0 now.',
      expect.stringMatching(/^places\.commit: 0123\w+ before, 0123\w+, abc\+ now\.$/),
      'prices.date: 2026-11 before, 2027-01 now.',
      expect.stringMatching(/^commit: 0123\w+ before, unknown now\.$/),
      'versions.azurite: none before, 4.0.0 now.',
    ]);
  });
});

/** 1 to n, and n values that all lie above them. */
const apart = (n: number): [number[], number[]] => [
  Array.from({ length: n }, (_, at) => at + 1),
  Array.from({ length: n }, (_, at) => at + 101),
];

describe('the Mann-Whitney test', () => {
  // Two ways of all to deal out the values are this far apart: 2 / (2n over n).
  test.each([
    [1, 2 / 2],
    [4, 2 / 70],
    [10, 2 / 184_756],
  ])('gives samples of %i that do not overlap the smallest possible probability', (n, p) => {
    const [low, high] = apart(n);
    expect(mannWhitneyP(low, high)).toBeCloseTo(p, 12);
    expect(mannWhitneyP(high, low)).toBeCloseTo(p, 12);
  });

  // R's documented example on the permeability of membranes: wilcox.test(at, later). Its one-sided
  // p is .1272, so ours is twice that.
  test("agrees with R's documented example", () => {
    const at = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const later = [1.15, 0.88, 0.9, 0.74, 1.21];
    expect(mannWhitneyP(at, later)).toBeCloseTo(0.2544, 4);
  });

  test('is exact with ties: equal samples differ by nothing but chance', () => {
    expect(mannWhitneyP([3, 3, 3], [3, 3, 3])).toBe(1);
    // The ranks are 1.5 1.5 3.5 3.5. Two of the six ways are this far apart.
    expect(mannWhitneyP([1, 1], [2, 2])).toBeCloseTo(2 / 6, 12);
  });
});

const CHANGE: Change = {
  ...COORDINATES,
  layout: 'container',
  workload: 'ycsb-a',
  figure: 'throughput',
  before: figureOf([10]),
  now: figureOf([8]),
  ratio: 0.8,
  p: 0.01,
  verdict: 'lower',
};

const changed = (...changes: Partial<Change>[]): Against => ({
  startedAt: '2026-11-22T10:00:00.000Z',
  significance: 0.05,
  changes: changes.map((change) => ({ ...CHANGE, ...change })),
  onlyBefore: 0,
  onlyNow: 0,
  otherwise: [],
});

describe('a condition', () => {
  test.each<[string, number, ...Partial<Change>[]]>([
    ['ycsb-a.throughput<0.9x', 1, {}],
    ['ycsb-a.throughput<.9x', 0, { verdict: 'undecided', p: 0.2 }],
    ['throughput<0.9x', 2, {}, { layout: 'record' }],
    ['ycsb-a.azure-tables.throughput<0.9x', 0, {}],
    ['record.container.throughput<0.9x', 2, {}, { layout: 'record' }, { layout: 'batch' }],
    ['p99 > 1.2x, throughput < 0.5x', 1, { figure: 'p99', ratio: 1.5, verdict: 'higher' }],
  ])('%s is met by %i of these changes that are not chance', (text, times, ...changes) => {
    expect(metBy({ cells: [], against: changed(...changes) }, conditionsOf(text))).toHaveLength(times);
  });

  test('without an x is about the figure itself, in its unit, and needs no earlier report', () => {
    const cells = [{ layout: 'container' as const, callers: 8 }, {}].map((one) => sampleCell(one, { repetitions: 1 }));
    const median = 9;
    const linesOf = (text: string): string[] => metBy({ cells }, conditionsOf(text));
    expect(linesOf(`container.p99>${median - 0.01}`)).toEqual([
      `--fail-if container.p99>${median - 0.01}: Datastore container, load, 500 B, 8 callers has ${Number(median.toPrecision(3))} ms`,
    ]);
    expect(linesOf(`p99>${median + 0.01}`)).toEqual([]);
    expect(linesOf('throughput<1000')).toEqual([
      '--fail-if throughput<1000: Datastore record, load, 500 B, 1 caller has 291 records/s',
    ]);
    expect(linesOf('cost > 0.1')).toEqual([
      '--fail-if cost>0.1: Datastore record, load, 500 B, 1 caller has 0.873 dollars per million records',
    ]);
  });

  test('may name its unit, and must do so with an earlier report', () => {
    expect(unclearAmong(conditionsOf('p99>50ms,throughput<0.9x,throughput<100/s,cost>1$'))).toBeUndefined();
    expect(unclearAmong(conditionsOf('p99>1.2x,throughput<0.9'))).toBe(
      'throughput<0.9 is unclear beside an earlier report: throughput<0.9x is now to before, throughput<0.9/s the figure itself',
    );
  });

  test.each([
    ['put.throughput<0.9', '"put" is none of datastore, azure-tables, record, '],
    ['speed<0.9', '"speed" is none of throughput, p50, p99, cost, processor'],
    ['throughput=0.9', 'is no condition; write one like ycsb-c.p99>50 (ms) or, '],
    ['throughput<50ms', 'throughput is in /s, or against an earlier report in x'],
    ['', 'is no condition'],
  ])('%j is refused', (text, message) => {
    expect(() => conditionsOf(text)).toThrow(message);
  });

  test('that no cell has a figure for is reported', () => {
    const [cell] = [sampleCell({}, { repetitions: 1 })];
    const run = cell.runs[0]!;
    const bare = {
      ...cell,
      latency: { ...cell.latency, p99Ms: null },
      runs: [{ ...run, latency: { ...run.latency, p99Ms: null } }],
    };
    const report = { cells: [bare], against: changed({}) };
    const conditions = conditionsOf('batch.throughput<0.9x,throughput<0.9x,p99>1,p50>1');
    expect(idleAmong(report, conditions)).toEqual([
      '--fail-if batch.throughput<0.9x: no cell of both reports has this figure',
      '--fail-if p99>1: no cell has this figure',
    ]);
  });
});
