import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { processorTimes, timesOf } from '../../../functions/compare/where-it-runs.ts';

const STAT = 'cpu  100 0 50 800 0 10 20 20 5 0\ncpu0 50 0 25 400 0 5 10 10 2 0\nintr 1';

test('the times are nanoseconds run and waited, and ticks of ten milliseconds, guests not counted twice', () => {
  expect(timesOf('3000000 1500000 2\n', STAT)).toEqual({ ranMs: 3, waitedMs: 1.5, machineMs: 10_000, stolenMs: 200 });
});

test.each([
  ['', STAT],
  ['0 0 0', 'cpu 1 2 3'],
  ['hidden', STAT],
])('no times are told from %j and %j', (schedstat, stat) => {
  expect(timesOf(schedstat, stat)).toBeUndefined();
});

test.runIf(process.platform === 'linux')('this process has its times on Linux, unless a sandbox hides them', () => {
  const isHidden = !existsSync('/proc/self/schedstat') || !existsSync('/proc/stat');
  expect(processorTimes()?.ranMs ?? 0).toSatisfy((ranMs: number) => isHidden || ranMs > 0);
});
