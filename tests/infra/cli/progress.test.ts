// A terminal shows how far a plan is.
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { showProgress } from '../../../infra/cli/progress.ts';
import type { PlanEvent } from '../../../shared/lab/plan/outcome.ts';
import { coordinatesOf } from '../../../shared/lab/report/against.ts';
import { sampleCell } from '../../lab/report/sample-report.ts';

const cell = coordinatesOf(sampleCell({ workload: 'ycsb-a', callers: 8 }, { repetitions: 1 }));

const begun = (done: number): PlanEvent => ({ kind: 'begun', done, total: 10, cell, repetition: 2 });
const failed: PlanEvent = {
  kind: 'failed',
  done: 4,
  total: 10,
  failure: { ...cell, repetition: 1, error: 'HTTP 503: no\u{9b}' },
};

/** Each event takes a second. */
function shown(isTTY: boolean, events: readonly PlanEvent[]): string {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: 60, rows: 24 });
  let nowMs = 0;
  const take = showProgress(stream as unknown as NodeJS.WriteStream, () => nowMs);
  for (const event of events) {
    nowMs += 1_000;
    take(event);
  }
  return String(stream.read());
}

test('a terminal has one line, which is drawn over and fits', () => {
  const text = shown(true, [begun(0), begun(1), failed, { kind: 'removing', what: '3 datasets' }]);
  const lines = text.split('\u001B[1G').map(stripVTControlCharacters);
  expect(lines).toEqual([
    '',
    '0 of 10 runs: Datastore record, ycsb-a, 500 B, 8 callers, r',
    '1 of 10 runs, about 18 s left: Datastore record, ycsb-a, 50\nfailed: HTTP 503: no\\u009b\n',
    '4 of 10 runs, 1 failed, about 6 s left: removing 3 datasets',
  ]);
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

test('a reader that leaves ends nothing', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: false });
  showProgress(stream as unknown as NodeJS.WriteStream);
  expect(() => stream.emit('error', new Error('EPIPE'))).not.toThrow();
});
