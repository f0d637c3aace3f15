// From an outcome to a report, with known answers.
import { describe, expect, test } from 'vitest';
import type { CellResult } from '../../../shared/lab/load/cell.ts';
import type { Layout, Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { CellRun, PlanOutcome } from '../../../shared/lab/plan/outcome.ts';
import { planSchema } from '../../../shared/lab/plan/plan.ts';
import { reportOf } from '../../../shared/lab/report/report.ts';
import { circumstancesSchema, type Report, reportSchema } from '../../../shared/lab/report/report-schema.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { encodedOf, PLACE, result } from '../fakes.ts';
import { CLOUD_PLACES, COORDINATES, sampleReport } from './sample-report.ts';

const PLAN = planSchema.parse({ workloads: ['load'], callers: [8] });

const CIRCUMSTANCES = circumstancesSchema.strip().parse(sampleReport());

function runOf(layout: Layout, repetition: number, change: Partial<CellResult> = {}): CellRun {
  return { cell: { ...COORDINATES, layout, callers: 8 }, repetition, parts: [result({ layout, ...change })] };
}

/** Runs of so many records in their second, half of them in the first half, by as many replies. */
const runsOf = (layout: Layout, rates: readonly number[], change: Partial<CellResult> = {}): CellRun[] =>
  rates.map((records, at) =>
    runOf(layout, at + 1, {
      records,
      recordsFirstHalf: records / 2,
      histogram: encodedOf(Math.round(records), 2),
      ...change,
    }),
  );

function reported(runs: readonly CellRun[], change: Partial<PlanOutcome> = {}): Report {
  const outcome = { runs, searches: [], failures: [], leftOut: [], leftovers: [], endedEarly: null, ...change };
  const report = reportOf(outcome, PLAN, PRICES_2026_11, CIRCUMSTANCES);
  return reportSchema.parse(JSON.parse(JSON.stringify(report)));
}

/** A run on two instances; `change` goes to the second. */
const onTwo = (change: Partial<CellResult>): CellRun => {
  const run = runOf('record', 1);
  const later = { ...result(change), place: { ...PLACE, instanceId: 'two' } };
  return { ...run, cell: { ...run.cell, instances: 2 }, parts: [result(), later] };
};

describe('a cell of the report', () => {
  test('has the median of its runs, with its interval and all of them', () => {
    const { cells } = reported(runsOf('record', [900, 1_100, 1_000, 1_050]));
    const interval = { median: 1_025, low: 900, high: 1_100, confidence: 0.875 };
    expect(cells[0]!.recordsPerSecond).toEqual({ ...interval, values: [900, 1_100, 1_000, 1_050] });
    expect(cells[0]!.runs.map(({ repetition }) => repetition)).toEqual([1, 2, 3, 4]);
  });

  test('has a percentile if its runs together have enough operations for it', () => {
    const some = [1, 2].map((repetition) => runOf('record', repetition, { histogram: encodedOf(499, 3) }));
    expect(reported(some).cells[0]!.latency).toMatchObject({ p95Ms: expect.closeTo(3, 2) as number, p99Ms: null });
    const enough = [...some, runOf('record', 3, { histogram: encodedOf(2, 3) })];
    expect(reported(enough).cells[0]!.latency).toMatchObject({ p99Ms: expect.closeTo(3, 2) as number, p999Ms: null });
  });

  test('is charged per record for all operations of the whole runs', () => {
    const [cell] = reported(runsOf('record', [1_000])).cells;
    const { dollarsPerRead, dollarsPerWrite, dollarsPerDelete } = reported([]).prices.providers.datastore;
    // 2,000 records were written for 200 requests, 100, 200 and 100 billable operations, and a
    // second of a processor.
    expect(cell!.requestsPer1000Records.median).toBeCloseTo(100);
    expect(cell!.billableOperationsPer1000Records.median).toBeCloseTo(200);
    expect(cell!.processorUsPerRecord.median).toBeCloseTo(500);
    const dollars = 100 * dollarsPerRead + 200 * dollarsPerWrite + 100 * dollarsPerDelete;
    expect(cell!.dollarsPerMillionRecords.median).toBeCloseTo(dollars * 500, 10);
  });

  test('adds up its errors and retries by code; retries that the SDK hides are unknown', () => {
    const usage = { ...result().usage, retries: { '503': 2 } };
    const runs = [runOf('record', 1, { usage, errors: { '409': 1 } }), runOf('record', 2, { usage })];
    expect(reported(runs).cells[0]).toMatchObject({ errors: { '409': 1 }, retries: { '503': 4 } });
    expect(reported(runsOf('record', [1])).cells[0]!.retries).toBeNull();
  });

  test('is limited by the machine where a thread was full in most of its runs', () => {
    const full = { processor: { wait: 0, stolen: 0, busy: 0.5, emulatorBusy: 0.95 } };
    const runs = (count: number) => [1, 2, 3].map((one) => runOf('record', one, one <= count ? full : {}));
    expect(reported(runs(1)).cells[0]!.isMachineLimited).toBe(false);
    expect(reported(runs(2)).cells[0]!.isMachineLimited).toBe(true);
  });
});

describe('a run of the report', () => {
  test('adds up its parts, and names the place of each once', () => {
    const { cells, places } = reported([onTwo({ records: 500 }), { ...onTwo({}), repetition: 2 }]);
    expect(cells[0]!.runs[0]!.recordsPerSecond).toBe(1_500);
    expect(places.map(({ instanceId }) => instanceId)).toEqual(['one', 'two']);
    expect(cells[0]!.runs[0]!.parts.map(({ place }) => place)).toEqual([0, 1]);
  });

  test.each([
    ['all was well', {}, []],
    ['an instance was cold', { isCold: true }, ['cold']],
    ['a load was not steady', { warmup: { durationMs: 300, steadiness: 'unsteady', errors: 0 } }, ['unsteady']],
    ['nobody knows of a load', { warmup: { durationMs: 300, steadiness: 'not known', errors: 0 } }, []],
    ['a ramp held it', { isHeldByRamp: true }, ['ramp']],
    ['a window opened a tenth of its length later', { openedAtMs: result().openedAtMs + 100 }, []],
    ['a window opened still later', { openedAtMs: result().openedAtMs + 101 }, ['skewed']],
    [
      'its thread was full',
      { processor: { wait: 0.3, stolen: 0, busy: 0.9, emulatorBusy: null } },
      ['waited', 'thread full'],
    ],
    ['nothing is told', { processor: { wait: null, stolen: null, busy: null, emulatorBusy: null } }, []],
  ] as const)('is marked: %s', (_what, change, marks) => {
    const { cells, warnings } = reported([onTwo(change)]);
    expect(cells[0]!.runs[0]!.marks).toEqual(marks);
    expect(warnings).toHaveLength(marks.length);
  });
});

const verdictsOf = ({ comparisons }: Report) =>
  comparisons.map(({ numerator, denominator, recordsPerSecond }) => [
    `${numerator.layout}/${denominator.layout}`,
    recordsPerSecond?.verdict,
  ]);

/** Six runs of a cloud's containers; the second cloud is twice as fast. */
const on = (provider: Provider, at: number, isReal: boolean): CellRun[] =>
  [1, 2, 3, 4, 5, 6].map((repetition) => {
    const run = runOf('container', repetition, { provider, records: 100 * (at + 1) });
    const place = isReal ? CLOUD_PLACES[at]! : run.parts[0]!.place;
    return { ...run, cell: { ...run.cell, provider }, parts: [{ ...run.parts[0]!, place }] };
  });

const both = (isReal: boolean): Report => reported([...on('datastore', 0, isReal), ...on('azure-tables', 1, isReal)]);

describe('the report', () => {
  test('tells layouts apart where the ratios within their blocks leave out 1', () => {
    const report = reported([
      ...runsOf('record', [100, 110, 120, 130, 140, 150]),
      ...runsOf('batch', [990, 1_000, 1_010, 1_020, 1_000, 1_010]),
      ...runsOf('container', [980, 1_000, 1_000, 1_010, 1_010, 1_020]),
      ...runsOf('container-sdk', [500, 500, 510, 500, 510, 500]),
    ]);
    expect(verdictsOf(report)).toEqual([
      ['container/record', 'higher'],
      ['container/batch', 'undecided'],
      ['container/container-sdk', 'higher'],
      ['container-sdk/record', 'higher'],
    ]);
  });

  test('pairs runs by their block even if some are missing', () => {
    const rates = [10, 200, 3_000, 40, 500, 6_000, 70];
    const container = runsOf(
      'container',
      rates.map((rate) => 1.1 * rate),
    );
    const { comparisons } = reported([...runsOf('record', rates), ...container.toSpliced(2, 1)]);
    const wanted = { pairs: 6, verdict: 'higher', low: expect.closeTo(1.1, 2) as number };
    expect(comparisons[0]!.recordsPerSecond).toMatchObject(wanted);
  });

  test('judges cold and unsteady runs, unless their drift explains the ratio', () => {
    const record = runsOf('record', [100, 101, 102, 103, 104, 105]);
    const rates = [200, 202, 204, 206, 208, 210];
    expect(verdictsOf(reported([...record, ...runsOf('container', rates, { isCold: true })]))[0]![1]).toBe('higher');
    const rising = rates.map((records, at) =>
      runOf('container', at + 1, { records, recordsFirstHalf: records / 5, histogram: encodedOf(records, 2) }),
    );
    expect(verdictsOf(reported([...record, ...rising]))[0]![1]).toBe('drifting');
  });

  test('compares the clouds with each other where both are real', () => {
    expect(both(false).comparisons).toEqual([]);
    expect(both(true).comparisons).toMatchObject([
      {
        numerator: { provider: 'datastore' },
        denominator: { provider: 'azure-tables' },
        recordsPerSecond: { ratio: expect.closeTo(0.5) },
      },
    ]);
  });
});
