// What a terminal shows while a plan runs.
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { LivePlan } from '../../../infra/cli/live-table.ts';
import { showProgress } from '../../../infra/cli/progress.ts';
import type { CellResult } from '../../../shared/lab/load/cell.ts';
import { encodeHistogram, newHistogram, recordLatency } from '../../../shared/lab/kit/histogram.ts';
import type { PlanEvent } from '../../../shared/lab/plan/outcome.ts';
import { coordinatesOf } from '../../../shared/lab/report/against.ts';
import { result } from '../../lab/fakes.ts';
import { sampleCell } from '../../lab/report/sample-report.ts';

const cell = coordinatesOf(sampleCell({ workload: 'ycsb-a', callers: 8 }, { repetitions: 1 }));

function partOf(records: number): CellResult {
  const histogram = newHistogram();
  for (let at = 0; at < 20; at += 1) recordLatency(histogram, 4);
  return result({ records, durationMs: 500, histogram: encodeHistogram(histogram) });
}

const begun = (done: number): PlanEvent => ({ kind: 'begun', done, total: 10, cell, repetition: 2 });
const ended = (done: number, ...records: number[]): PlanEvent => ({
  kind: 'ended',
  done,
  total: 10,
  run: { cell, repetition: 1, parts: records.map(partOf) },
});
const failed: PlanEvent = {
  kind: 'failed',
  done: 4,
  total: 10,
  failure: { ...cell, repetition: 1, error: 'HTTP 503: no' },
};

test('the table has medians of all instances together, by layout and load', () => {
  const plan = new LivePlan(0);
  for (const event of [ended(1, 100, 200), ended(2, 400, 300), ended(3, 500), begun(3)]) plan.take(event);
  expect(plan.lines(3_000)).toEqual([
    '  records/s and p50                              8 callers',
    '  ycsb-a             datastore  record 500B  1,000 4.00 ms',
    '3 of 10 runs, about 7 s left: Datastore record, ycsb-a, 500 B, 8 callers, run 2',
  ]);
});

test('what failed is counted, and what goes on beside the runs is told', () => {
  const plan = new LivePlan(0);
  for (const event of [begun(3), failed, { kind: 'removing', what: '3 datasets' } as const]) plan.take(event);
  expect(plan.status(4_000)).toBe('4 of 10 runs, 1 failed, about 6 s left: removing 3 datasets');
});

function shown(isTTY: boolean, events: readonly PlanEvent[]): string {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: 60, rows: 24 });
  const take = showProgress(stream as unknown as NodeJS.WriteStream, () => 1_000);
  for (const event of events) take(event);
  return String(stream.read());
}

test('a terminal is drawn over, in lines that fit', () => {
  const text = shown(true, [begun(0), ended(1, 100), begun(1)]);
  expect(text).toContain('\u001B[3A');
  const lines = stripVTControlCharacters(text).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(60);
});

test('elsewhere there is a line for each tenth of the plan, and for each failure', () => {
  const events = [0, 0, 1, 1, 2].map(begun);
  const lines = shown(false, [...events, failed])
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => line.slice(0, 12))).toEqual([
    '0 of 10 runs',
    '1 of 10 runs',
    '2 of 10 runs',
    'failed: HTTP',
  ]);
});
