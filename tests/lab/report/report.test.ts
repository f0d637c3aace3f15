// From an outcome to a report, with known answers.
import { describe, expect, test } from 'vitest';
import type { CellResult } from '../../../shared/lab/load/cell.ts';
import type { Layout } from '../../../shared/lab/kit/dimensions.ts';
import type { CellRun, PlanOutcome } from '../../../shared/lab/plan/outcome.ts';
import { planSchema } from '../../../shared/lab/plan/plan.ts';
import { reportOf } from '../../../shared/lab/report/report.ts';
import { circumstancesSchema, type Report, reportSchema } from '../../../shared/lab/report/schema.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { PLACE, result } from '../fakes.ts';
import { encodedOf } from '../histogram-of.ts';
import { COORDINATES, sampleReport } from './sample-report.ts';

const PLAN = planSchema.parse({ workloads: ['load'], callers: [8] });

const CIRCUMSTANCES = circumstancesSchema.strip().parse(sampleReport());

function runOf(layout: Layout, repetition: number, change: Partial<CellResult> = {}): CellRun {
  return { cell: { ...COORDINATES, layout, callers: 8 }, repetition, parts: [result({ layout, ...change })] };
}

const runsOf = (layout: Layout, rates: readonly number[]): CellRun[] =>
  rates.map((records, at) => runOf(layout, at + 1, { records }));

/** Four runs, with this many records a call. */
const callsOf = (layout: Layout, recordsPerCall: number): CellRun[] =>
  [1, 2, 3, 4].map((repetition) => {
    const run = runOf(layout, repetition, { recordsPerCall });
    return { ...run, cell: { ...run.cell, workload: 'ycsb-a' } };
  });

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

  test('has a percentile only where every run bears it', () => {
    const many = [1, 2].map((repetition) => runOf('record', repetition, { histogram: encodedOf(1_000, 3) }));
    expect(reported(many).cells[0]!.latency).toMatchObject({ p99Ms: { median: expect.closeTo(3, 2) }, p999Ms: null });
    const few = [...many, runOf('record', 3, { histogram: encodedOf(999, 3) })];
    expect(reported(few).cells[0]!.latency).toMatchObject({ p95Ms: { median: expect.closeTo(3, 2) }, p99Ms: null });
  });

  test('is charged for what the whole run spent, by the record', () => {
    const [cell] = reported(runsOf('record', [1_000])).cells;
    const { dollarsPerRead, dollarsPerWrite, dollarsPerDelete } = reported([]).prices.providers.datastore;
    // 2,000 records were written for 200 requests and 100, 200 and 100 billable operations.
    expect(cell!.requestsPer1000Records.median).toBeCloseTo(100);
    expect(cell!.billableOperationsPer1000Records.median).toBeCloseTo(200);
    const dollars = 100 * dollarsPerRead + 200 * dollarsPerWrite + 100 * dollarsPerDelete;
    expect(cell!.dollarsPerMillionRecords.median).toBeCloseTo(dollars * 500, 10);
  });

  test('adds up its errors and retries by code; retries that the SDK hides are unknown', () => {
    const usage = { ...result().usage, retries: { '503': 2 } };
    const runs = [runOf('record', 1, { usage, errors: { '409': 1 } }), runOf('record', 2, { usage })];
    expect(reported(runs).cells[0]).toMatchObject({ errors: { '409': 1 }, retries: { '503': 4 } });
    expect(reported(runsOf('record', [1])).cells[0]!.retries).toBeNull();
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
    ['all is well', {}, true],
    ['an instance was cold', { isCold: true }, false],
    ['a load was not steady', { warmup: { durationMs: 300, steadiness: 'unsteady', errors: 0 } }, false],
    ['nobody knows of a load', { warmup: { durationMs: 300, steadiness: 'not known', errors: 0 } }, false],
    ['a ramp held it', { isHeldByRamp: true }, false],
    ['a window opened a tenth of its length later', { openedAtMs: result().openedAtMs + 100 }, true],
    ['a window opened still later', { openedAtMs: result().openedAtMs + 101 }, false],
  ] as const)('is sound or not: %s', (_what, change, isSound) => {
    expect(reported([onTwo(change)]).cells[0]!.runs[0]!.isSound).toBe(isSound);
  });
});

describe('the report', () => {
  test('tells layouts apart where the ratios within their blocks leave out 1', () => {
    const { comparisons, summary } = reported([
      ...runsOf('record', [100, 110, 120, 130, 140, 150]),
      ...runsOf('batch', [990, 1_000, 1_010, 1_020, 1_000, 1_010]),
      ...runsOf('container', [980, 1_000, 1_000, 1_010, 1_010, 1_020]),
    ]);
    expect(comparisons.map(({ denominator, recordsPerSecond }) => [denominator, recordsPerSecond?.verdict])).toEqual([
      ['record', 'higher'],
      ['batch', 'undecided'],
    ]);
    const verdicts = { containerToRecord: { verdict: 'higher' }, containerToBatch: { verdict: 'undecided' } };
    expect(summary).toMatchObject([{ provider: 'datastore', workload: 'load', ...verdicts }]);
  });

  test('pairs runs by their block, whichever of them is missing', () => {
    const rates = [10, 200, 3_000, 40, 500, 6_000, 70];
    const faster = rates.map((rate) => 1.1 * rate);
    const container = runsOf('container', faster);
    const { comparisons } = reported([...runsOf('record', rates), ...container.toSpliced(2, 1)]);
    const wanted = { pairs: 6, verdict: 'higher', low: expect.closeTo(1.1, 2) as number };
    expect(comparisons[0]!.recordsPerSecond).toMatchObject(wanted);
  });

  test('judges no run that was cold, unsteady or held', () => {
    const rates = [10, 11, 12, 13, 14, 15];
    const cold = runsOf('container', [90, 91, 92, 93, 94]).concat(runOf('container', 6, { records: 95, isCold: true }));
    const { comparisons } = reported([...runsOf('record', rates), ...cold]);
    expect(comparisons[0]!.recordsPerSecond).toMatchObject({ pairs: 6, verdict: 'too-few-sound-runs' });
  });

  test('says how many verdicts there are, and how many of them chance alone would give', () => {
    const rates = [10, 11, 12, 13, 14, 15];
    const faster = rates.map((rate) => 2 * rate);
    const { notes } = reported([...runsOf('record', rates), ...runsOf('batch', rates), ...runsOf('container', faster)]);
    expect(notes.join(' ')).toContain(
      '2 of 4 ratios between layouts at the same load differ. By chance alone about 1 of 4 would, were nothing different.',
    );
    expect(reported(runsOf('record', [1])).notes.join(' ')).not.toContain('By chance');
  });

  test('has a row for each size of records', () => {
    const large = runOf('record', 1, { records: 1 });
    const { summary } = reported([runOf('record', 1), { ...large, cell: { ...large.cell, recordBytes: 4_096 } }]);
    expect(summary.map(({ recordBytes, best }) => [recordBytes, best.record?.recordBytes])).toEqual([
      [500, 500],
      [4_096, 4_096],
    ]);
  });

  test('has a ratio only of calls that hand over equally many records', () => {
    const single = (['record', 'driver', 'container'] as const).flatMap((layout) => callsOf(layout, 1));
    const alone = [...single, ...callsOf('batch', 500)];
    const { comparisons, summary } = reported([...alone, ...callsOf('container-batch', 500)]);
    const has = comparisons.map(({ numerator, denominator, isLikeWithLike, ...ratios }) => {
      const { recordsPerSecond, dollarsPerMillionRecords } = ratios;
      return [`${numerator}/${denominator}`, isLikeWithLike, recordsPerSecond?.ratio, dollarsPerMillionRecords?.ratio];
    });
    expect(has).toEqual([
      ['driver/record', true, 1, 1],
      ['container/record', true, 1, 1],
      ['container/batch', false, undefined, undefined],
      ['container/driver', true, 1, 1],
      ['container-batch/batch', true, 1, 1],
    ]);
    expect(summary[0]!.containerToBatch?.ratio).toBe(1);
    const { containerToBatch, containerToDriver, driverToSdk } = reported(alone).summary[0]!;
    expect([containerToBatch, containerToDriver?.ratio, driverToSdk?.ratio]).toEqual([null, 1, 1]);
  });

  test('sets the driver against what writes as many at once: in load the batches of the SDK', () => {
    const runs = [...runsOf('record', [1]), ...runsOf('batch', [50]), ...runsOf('driver', [100])];
    const { comparisons, summary } = reported(runs);
    expect(comparisons).toMatchObject([{ numerator: 'driver', denominator: 'batch', recordsPerSecond: { ratio: 2 } }]);
    expect(summary[0]!.driverToSdk?.ratio).toBe(2);
  });

  test('takes the best of the cells that have all their repetitions', () => {
    const lucky = { ...runOf('record', 1, { records: 9_000 }), cell: { ...runOf('record', 1).cell, callers: 64 } };
    const { summary } = reported([...runsOf('record', [100, 110]), lucky]);
    expect(summary[0]!.best.record).toMatchObject({ callers: 8, recordsPerSecond: { median: 105 } });
  });

  test('of a comparison that ended early says why, and has what there is', () => {
    expect(reported([], { endedEarly: 'Ctrl-C' })).toMatchObject({ endedEarly: 'Ctrl-C', cells: [] });
  });
});
