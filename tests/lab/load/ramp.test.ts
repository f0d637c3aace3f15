// Datastore's 500/50/5 rule: the schedule, and a load that keeps it, in virtual time.
import { expect, test } from 'vitest';
import { allowedBetween, rampOf } from '../../../shared/lab/load/dataset.ts';
import { runCell } from '../../../shared/lab/load/run-cell.ts';
import { emptyUsage } from '../../../shared/lab/kit/provider-usage.ts';
import { expectWithin } from '../expect-within.ts';
import { Clock } from '../fake-store.ts';
import { cell, fakeTargets, PLACE } from '../fakes.ts';

const MINUTE_MS = 60_000;

test('the rule allows 500 operations per second, and half as many more every five minutes', () => {
  const starts = [0, 4.98, 5, 9.98, 10, 15, 35].map((minute) => minute * MINUTE_MS);
  const allowed = [500, 500, 750, 750, 1_125, 1_687.5, 500 * 1.5 ** 7].map((rate) => expect.closeTo(rate) as number);
  expect(starts.map((startMs) => allowedBetween(startMs, startMs + 1_000))).toEqual(allowed);
  expect(allowedBetween(0, 5 * MINUTE_MS)).toBe(150_000);
  expect(allowedBetween(4 * MINUTE_MS, 6 * MINUTE_MS)).toBe(30_000 + 45_000);
  expect(allowedBetween(7, 7)).toBe(0);
});

const REAL = { ...PLACE, isEmulator: false };

test.each([
  [0, 1, 500],
  [5 * MINUTE_MS, 1, 750],
  [5 * MINUTE_MS, 4, 187.5],
])('%i ms after the first operation, one of %i instances sends %d per second', async (sinceMs, count, perSecond) => {
  const clock = new Clock();
  const targets = { ...fakeTargets({ clock, latencyMs: 1 }), place: REAL };
  const rampedSinceMs = clock.wallStartMs - sinceMs;
  const request = cell({ callers: 4, durationMs: 2_000, rampedSinceMs, part: { index: 0, count } });
  const { signal } = new AbortController();
  const result = await clock.run(runCell(request, targets, { signal, runtime: clock.runtime }));
  expect(result.isHeldByRamp).toBe(true);
  // A caller that still waits for its turn when the window closes sends nothing.
  expect(result.recordsTotal).toBeLessThanOrEqual(Math.ceil(2.02 * perSecond) + 4);
  expectWithin(result.records / 2, perSecond, 0.05);
});

test('the rule holds back no load on emulators, on Azure, or without being asked for', () => {
  const clock = new Clock();
  const of = (rampedSinceMs: number | null, place: typeof PLACE) =>
    rampOf(rampedSinceMs, place, () => emptyUsage(false), { instances: 1, runtime: clock.runtime });
  expect(of(0, PLACE)).toBeUndefined();
  expect(of(0, { ...REAL, provider: 'azure-tables' })).toBeUndefined();
  expect(of(null, REAL)).toBeUndefined();
  expect(of(0, REAL)).toBeDefined();
});
