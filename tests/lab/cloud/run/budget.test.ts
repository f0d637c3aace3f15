// Windows end by time or by a budget. Callers see the latencies that the test put there.
import { expect, test } from 'vitest';
import { Fleet } from '../../../../shared/lab/cloud/instance/fleet.ts';
import { slowestCallerOf } from '../../../../shared/lab/cloud/run/run-cell.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';
import { played } from './played.ts';

test('a window opens and closes after so many operations, and what is spent is read at those moments', async () => {
  const scheduler = new Scheduler(1);
  const result = await played({
    scheduler,
    load: 2,
    budget: { warmupMs: 1_000, warmupOperationsMax: 10, operationsMax: 20 },
    serve: () => scheduler.after(10),
  });
  expect(result).toMatchObject({ marks: [50, 150], durationMs: 100, warmup: { durationMs: 50 } });
  expect(result.records).toBeCloseTo(20, 9);
});

test('a window opens and closes at its time while nobody answers', async () => {
  const scheduler = new Scheduler(1);
  const budget = { warmupMs: 70.1, windowMs: 100.3 };
  const result = await played({ scheduler, load: 1, budget, drainMs: 50, serve: () => scheduler.after(1e9) });
  expect(result.warmup.durationMs).toBeCloseTo(70.1, 9);
  expect(result.durationMs).toBeCloseTo(100.3, 9);
  expect(result.unfinished).toBe(1);
});

test('arrivals that find no free place wait, and their latency counts from when they were due', async () => {
  const scheduler = new Scheduler(1);
  const fleet = new Fleet(scheduler, { kind: 'following', concurrency: 1, startMs: 50, instancesMax: 1 });
  const serve = async (caller: number): Promise<void> => {
    const instance = await fleet.take(caller);
    await scheduler.after(20);
    fleet.release(instance);
  };
  const load = { perSecond: 100, spacing: 'equidistant' } as const;
  const { histogram } = await played({ scheduler, load, budget: { windowMs: 25 }, serve });
  // Calls are due at 0, 10 and 20. The instance serves from 50 on, one by one.
  const percentiles = [0, 50, 100].map((percentile) => histogram.getValueAtPercentile(percentile) / 1_000);
  expect(percentiles.map(Math.round)).toEqual([70, 80, 90]);
});

test.each([
  [[10, 20, 30], 0.5],
  [[17, 17], 1],
  [[0, 20], 0],
  // Callers had too few operations, or there are none.
  [[9, 10], null],
  [[], null],
])('of callers with %j operations the slowest has %d of the mean', (byCaller, share) => {
  expect(slowestCallerOf(Uint32Array.from(byCaller))).toBe(share);
});

test('a caller who waits twice as long has half as many operations', async () => {
  const scheduler = new Scheduler(1);
  const serve = (caller: number): Promise<void> => scheduler.after(caller === 2 ? 20 : 10);
  const { byCaller } = await played({ scheduler, load: 3, budget: { windowMs: 1_000.5 }, serve });
  expect([...byCaller]).toEqual([100, 100, 50]);
});

test('a caller who has no answer from before the window to its end is in the latencies, with the time so far', async () => {
  const scheduler = new Scheduler(1);
  const serve = (caller: number): Promise<void> => scheduler.after(caller === 1 ? 1e9 : 10);
  const budget = { warmupMs: 55, windowMs: 100 };
  const result = await played({ scheduler, load: 2, budget, drainMs: 345, serve });
  expect(result.unfinished).toBe(1);
  expect(result.histogram.maxValue / 1_000).toBeCloseTo(500, 0);
  expect(result.underWayMs / 100).toBeCloseTo(2, 9);
});

const throttling = (): Promise<void> => Promise.reject(Object.assign(new Error('no'), { code: 'throttled' }));

test('failures are counted by their codes, and a caller whose calls fail at once lets time pass', async () => {
  const result = await played({ scheduler: new Scheduler(1), load: 1, budget: { windowMs: 100.5 }, serve: throttling });
  expect(result.records).toBe(0);
  expect(result.errors['throttled']).toBeGreaterThanOrEqual(100);
  expect(result.histogram.totalCount).toBe(0);
});
