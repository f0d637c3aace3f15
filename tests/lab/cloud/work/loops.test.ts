// Loops on a service of the test's own: what callers see must be what the test put there.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';
import { Fleet } from '../../../../shared/lab/cloud/instance/fleet.ts';
import type { Instance } from '../../../../shared/lab/cloud/instance/instance.ts';
import { slowestCallerOf } from '../../../../shared/lab/cloud/run/run-cell.ts';
import { Scheduler } from '../../../../shared/lab/cloud/time/scheduler.ts';
import { closedLoop, openLoop } from '../../../../shared/lab/cloud/work/loops.ts';
import { Window } from '../../../../shared/lab/cloud/work/window.ts';

const nextOperation = () => ({ kind: 'read' as const, index: 0, round: 0 });

const LISTENER = { opened: () => undefined, closed: () => undefined };

interface Playing {
  readonly instances: number;
  readonly callers: number;
  readonly windowMs: number;
  readonly serve: (scheduler: Scheduler, instance: Instance) => Promise<void>;
}

function playing({ instances, callers, windowMs, serve }: Playing) {
  const scheduler = new Scheduler(1);
  const fleet = new Fleet(scheduler, { kind: 'fixed', instances });
  const options = { warmupMs: 0, warmupOperationsMax: 1e9, windowMs, operationsMax: 1e9, listener: LISTENER };
  const window = new Window(scheduler, callers, options);
  const call = (instance: Instance): Promise<void> => serve(scheduler, instance);
  return { scheduler, window, loop: { scheduler, fleet, window, nextOperation, call } };
}

/** 5 ms, but from the first to the second second nothing is answered. */
async function stalling(scheduler: Scheduler): Promise<void> {
  const { nowMs } = scheduler;
  await scheduler.after(nowMs >= 1_000 && nowMs < 2_000 ? 2_005 - nowMs : 5);
}

describe('while the service stands still for a second', () => {
  test('an open loop counts everyone who was due to come, from the moment they were due', async () => {
    const { scheduler, window, loop } = playing({ instances: 1, callers: 0, windowMs: 4_000, serve: stalling });
    const latencies = recorded(window);
    await scheduler.run(openLoop(loop, { perSecond: 100, spacing: 'fixed' }, seededRandom(1)), 1e6);
    // Those due at 1,000, 1,010, ... 1,890 waited for more than 110 ms.
    expect(latencies.filter((ms) => ms > 110)).toHaveLength(90);
    expect(Math.max(...latencies)).toBeCloseTo(1_005, 6);
  });

  test('a closed loop of one caller notices it once: that is why there is an open one', async () => {
    const { scheduler, window, loop } = playing({ instances: 1, callers: 1, windowMs: 4_000, serve: stalling });
    const latencies = recorded(window);
    await scheduler.run(closedLoop(loop, 1), 1e6);
    expect(latencies.filter((ms) => ms > 110)).toHaveLength(1);
  });
});

test('arrivals that find no free place wait, and their latency counts from when they were due', async () => {
  const scheduler = new Scheduler(1);
  const fleet = new Fleet(scheduler, { kind: 'following', concurrency: 1, startMs: 50, instancesMax: 1 });
  const options = { warmupMs: 0, warmupOperationsMax: 1e9, windowMs: 40, operationsMax: 1e9, listener: LISTENER };
  const window = new Window(scheduler, 0, options);
  const latencies = recorded(window);
  const loop = { scheduler, fleet, window, nextOperation, call: () => scheduler.after(20) };
  await scheduler.run(openLoop(loop, { perSecond: 100, spacing: 'fixed' }, seededRandom(1)), 1e6);
  // Due at 10, 20, 30 and 40; the instance serves from 60 on, one after another.
  expect(latencies.map((ms) => Math.round(ms)).slice(0, 3)).toEqual([70, 80, 90]);
});

/** The third instance is slower. */
function uneven(scheduler: Scheduler, { number }: Instance): Promise<void> {
  return scheduler.after(number === 2 ? 20 : 10);
}

function throttling(): Promise<void> {
  return Promise.reject(Object.assign(new Error('no'), { code: 'throttled' }));
}

describe('fairness', () => {
  test('is the slowest caller against the mean', () => {
    expect(slowestCallerOf(Uint32Array.of(10, 20, 30))).toBe(0.5);
    expect(slowestCallerOf(Uint32Array.of(17, 17))).toBe(1);
    expect(slowestCallerOf(Uint32Array.of(0, 20))).toBe(0);
  });

  test('is not told where callers had few operations, or where there are none', () => {
    expect(slowestCallerOf(Uint32Array.of(9, 10))).toBeNull();
    expect(slowestCallerOf(new Uint32Array(0))).toBeNull();
  });

  test('shows a caller who waits twice as long', async () => {
    const { scheduler, window, loop } = playing({ instances: 3, callers: 3, windowMs: 1_000.5, serve: uneven });
    await scheduler.run(closedLoop(loop, 3), 1e6);
    expect([...window.byCaller]).toEqual([100, 100, 50]);
    expect(slowestCallerOf(window.byCaller)).toBeCloseTo(50 / (250 / 3), 9);
  });
});

test('a caller who has no answer from before the window to its end is in the latencies, with the time so far', async () => {
  const scheduler = new Scheduler(1);
  const fleet = new Fleet(scheduler, { kind: 'fixed', instances: 2 });
  const options = { warmupMs: 55, warmupOperationsMax: 1e9, windowMs: 100, operationsMax: 1e9, listener: LISTENER };
  const window = new Window(scheduler, 2, options);
  const latencies = recorded(window);
  const call = (instance: Instance): Promise<void> => scheduler.after(instance.number === 1 ? 1e9 : 10);
  const loop = { scheduler, fleet, window, nextOperation, call };
  await scheduler.run(Promise.race([closedLoop(loop, 2), scheduler.after(500)]), 1e6);
  window.cut();
  expect(window.unfinished).toBe(1);
  expect(Math.max(...latencies)).toBe(500);
  expect(window.underWayMs / 100).toBeCloseTo(2, 9);
});

test('failures are counted by their codes, and a caller whose calls fail at once lets time pass', async () => {
  const { scheduler, window, loop } = playing({ instances: 1, callers: 1, windowMs: 100.5, serve: throttling });
  await scheduler.run(closedLoop(loop, 1), 1e6);
  expect(window.operations).toBe(0);
  expect(window.errors['throttled']).toBeGreaterThanOrEqual(100);
  expect(window.histogram.totalCount).toBe(0);
});

/** The latencies of all that ends from now on. */
function recorded(window: Window): number[] {
  const latencies: number[] = [];
  const record = window.histogram.recordValue.bind(window.histogram);
  window.histogram.recordValue = (microseconds) => {
    latencies.push(microseconds / 1_000);
    record(microseconds);
  };
  return latencies;
}
