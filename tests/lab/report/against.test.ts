import { describe, expect, test } from 'vitest';
import type { Plan } from '../../../shared/lab/plan/plan.ts';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import { against } from '../../../shared/lab/report/against.ts';
import type { Report, ReportCell } from '../../../shared/lab/report/report-schema.ts';
import { CLOUD_PLACES, sampleCell, sampleReport } from './sample-report.ts';

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

  test('have a sentence for each other difference between them', () => {
    const now = sampleReport({ change: { places: [...CLOUD_PLACES] } });
    expect(against(now, sampleReport()).otherwise).toEqual([
      'places.platform: local before, azure-functions, google-cloud-run now.',
      expect.stringMatching(/^places\.backend: Azurite .*, embedded emulator before, Azure Table Storage, Google/),
      'places.isEmulator: true before, false now.',
      'places.region: unknown before, europe-west4, westeurope now.',
    ]);
    expect(against(now, now).otherwise).toEqual([]);
  });

  test.each<[Partial<Plan>, string]>([
    [{ keys: 'uniform' }, 'plan.keys: unknown before, uniform now.'],
    [{ warmup: { leastMs: 1, mostMs: 1_500, severalWritersMs: 10_000 } }, 'plan.warmup.leastMs: 300 before, 1 now.'],
    [{ isRamped: false }, 'plan.isRamped: true before, false now.'],
    [{ arrivals: 'equidistant' }, 'plan.arrivals: poisson before, equidistant now.'],
    [{ records: 7 }, 'plan.records: 10000 before, 7 now.'],
    [{ durationMs: 7 }, 'plan.durationMs: 1000 before, 7 now.'],
    [{ seed: 8 }, 'plan.seed: 7 before, 8 now.'],
  ])('name each change of the plan: %j', (change, sentence) => {
    const { plan } = sampleReport();
    const now = sampleReport({ change: { plan: { ...plan, ...change } } });
    expect(against(now, sampleReport()).otherwise).toEqual([sentence]);
  });

  test('name changed processors, versions, commits and prices, but no instance ids', () => {
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
    };
    expect(against(sampleReport({ change }), before).otherwise).toEqual([
      'places.processors: 2 before, 2, 4 now.',
      'places.versions.stowage: 0.1.0 before, 0.1.0, 0.2.0 now.',
      expect.stringMatching(/^places\.commit: 0123\w+ before, 0123\w+, abc\+ now\.$/),
      'prices.date: 2026-11 before, 2027-01 now.',
      expect.stringMatching(/^commit: 0123\w+ before, unknown now\.$/),
      'versions.azurite: none before, 4.0.0 now.',
    ]);
  });
});
