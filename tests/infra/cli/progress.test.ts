// How far a plan or a command has come, on a terminal and in a file.
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { draw, erase, warn } from '../../../infra/cli/print.ts';
import { progress, showProgress } from '../../../infra/cli/progress.ts';
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

test('a terminal shows the plan’s progress in one line, which is drawn over and fits its width', () => {
  const text = shown(true, [begun(0), begun(1), failed, { kind: 'removing', what: '3 datasets' }]);
  const lines = text.split('\u001B[1G').map(stripVTControlCharacters);
  expect(lines).toEqual([
    '0 of 10 runs: Datastore record, ycsb-a, 500 B, 8 callers, r',
    '1 of 10 runs, about 18 s left: Datastore record, ycsb-a, 50',
    'failed: HTTP 503: no\\u009b\n4 of 10 runs, 1 failed, about 6 s left: removing 3 datasets',
  ]);
});

/** What a command's progress looks like after each of these milliseconds. */
function told(isTTY: boolean, ...atMs: number[]): string[] {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: 60, rows: 24 });
  const said: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void said.push(line));
  onTestFinished(() => void vi.restoreAllMocks());
  let nowMs = 0;
  const tell = progress(stream as unknown as NodeJS.WriteStream, () => nowMs);
  for (nowMs of atMs) tell(`${nowMs} records`, nowMs === 200 ? undefined : nowMs / 2_000);
  erase();
  const drawn = (stream.read() as string | null) ?? '';
  return [...said, ...drawn.split('\u001B[1G').map(stripVTControlCharacters)];
}

test('a terminal shows a command’s bar ten times a second, or only the count where no end is known', () => {
  expect(told(true, 50, 100, 150, 200, 1_000, 4_000)).toEqual([
    '[#.......................]   5 % 100 records',
    '200 records',
    '[############............]  50 % 1000 records',
    '[########################] 100 % 4000 records',
    '',
  ]);
});

test('a file gets a line of a command’s progress every second', () => {
  expect(told(false, 500, 1_000, 1_500, 2_000)).toEqual(['1000 records', '2000 records', '']);
});

test('a printed line first erases the progress line', () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 60, rows: 24 });
  vi.spyOn(console, 'error').mockImplementation((line: string) => void stream.write(`${line}\n`));
  onTestFinished(() => void vi.restoreAllMocks());
  draw('5 records', stream as unknown as NodeJS.WriteStream);
  warn('the store does not answer');
  warn('again');
  expect(stream.read()).toBe('5 records\u001B[1G\u001B[2Kthe store does not answer\nagain\n');
});

test('the plan goes on when the reader of its progress closes the pipe', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: false });
  showProgress(stream as unknown as NodeJS.WriteStream);
  expect(() => stream.emit('error', new Error('EPIPE'))).not.toThrow();
});
