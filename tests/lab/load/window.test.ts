// A store of known service times yields the textbook's throughput and latencies at every rung; how
// a warm-up is found steady; Datastore's rule for new data.
import { describe, expect, test } from 'vitest';
import { latenciesOf } from '../../../shared/lab/kit/histogram.ts';
import { runWindow, type WindowOptions, type WindowResult } from '../../../shared/lab/load/window.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { cell, Clock, expectWithin, FakeStore, fakeTargets, PLACE, windowOptions } from '../fakes.ts';
import { closedLoop, eachInFlight } from '../../../shared/lab/load/loops.ts';
import type { Steadiness } from '../../../shared/lab/load/cell.ts';
import { steadiness } from '../../../shared/lab/load/phases.ts';
import { allowedBetween, rampOf } from '../../../shared/lab/load/dataset.ts';
import { runCell } from '../../../shared/lab/load/run-cell.ts';
import { emptyUsage } from '../../../shared/lab/kit/provider-usage.ts';

interface Load extends Partial<WindowOptions> {
  readonly servers: number;
  readonly serviceMs: () => number;
  readonly records?: number;
}

async function measured(
  { servers, serviceMs, records = 1, ...options }: Load,
  clock = new Clock(),
): Promise<WindowResult> {
  const store = new FakeStore(clock, servers, serviceMs);
  return clock.run(runWindow(() => [[store.unit(records)]], windowOptions(clock, options)));
}

const perSecond = ({ records, durationMs }: WindowResult): number => records / (durationMs / 1_000);
const meanMs = ({ histogram }: WindowResult): number => histogram.mean / 1_000;

const expectNear = (found: number, expected: number): void => expectWithin(found, expected, 0.05);

const RUNGS = [1, 2, 4, 8, 16, 32, 64, 128];

describe('a closed loop', () => {
  // Up to eight callers nobody waits. Beyond, all servers are busy (Little's law).
  test.each(RUNGS)('of %i callers on eight servers of 10 ms has the rate of Little’s law', async (callers) => {
    const result = await measured({ callers, servers: 8, serviceMs: () => 10 });
    expectNear(perSecond(result), Math.min(callers, 8) * 100);
    expectNear(meanMs(result), 10 * Math.max(1, callers / 8));
    expect(result.warmup.steadiness).toBe('steady');
  });

  // All calls end together, and 3.3 fit into the window. Whole calls would count as 3 or 4.
  test.each(RUNGS)('of %i callers counts calls over the edges of the window in part', async (callers) => {
    const result = await measured({ callers, servers: 1_000, serviceMs: () => 300, records: 500 });
    expectNear(perSecond(result), (callers * 500) / 0.3);
  });

  // Exponential service times: a closed loop on one server yields 1 / mean at any rung. A lone
  // caller sees the exponential distribution.
  test('of one caller has the percentiles of the service times', async () => {
    const random = seededRandom(7);
    const result = await measured({ servers: 1, serviceMs: () => -Math.log(1 - random()), durationMs: 30_000 });
    const { p50Ms, p99Ms } = latenciesOf(result.histogram);
    expectNear(perSecond(result), 1_000);
    expectNear(p50Ms!, Math.LN2);
    expectNear(p99Ms!, Math.log(100));
  });
});

/** A store that stands still for half a second. */
const stalling = (clock: Clock) => () => {
  const nowMs = clock.runtime.monotonicMs();
  return nowMs >= 1_000 && nowMs < 1_500 ? 1_500 - nowMs : 1;
};

const measuredInStall = async (change: Partial<Load>): Promise<WindowResult> => {
  const clock = new Clock();
  const load = { servers: 1_000, serviceMs: stalling(clock), windowAtMs: clock.wallStartMs + 600 };
  return await measured({ ...load, ...change }, clock);
};

const arrivalsOf = async (drawSeed: number): Promise<number> => {
  const load = { ratePerSecond: 200, callers: 256, servers: 256, serviceMs: () => 1 };
  return (await measured({ ...load, arrivals: 'poisson', drawSeed })).histogram.totalCount;
};

describe('an open loop', () => {
  test.each([50, 100, 400, 790])('of %i calls per second on eight servers of 10 ms keeps its rate', async (rate) => {
    const result = await measured({ ratePerSecond: rate, callers: 256, servers: 8, serviceMs: () => 10 });
    expectNear(perSecond(result), rate);
    expectNear(meanMs(result), 10);
    expect(result.behindMsMax).toBeLessThan(0.001);
  });

  test('beyond capacity has the rate of the servers, and latencies that count from when calls were due', async () => {
    const load = { ratePerSecond: 1_600, callers: 256, servers: 8, serviceMs: () => 10, durationMs: 2_000 };
    const result = await measured(load);
    expectNear(perSecond(result), 800);
    // Half of 1,600 are served: a call due after t waits t. The last of 256 waits for all.
    const endMs = result.warmup.durationMs + result.durationMs + 256 / 0.8;
    expectNear(latenciesOf(result.histogram).maxMs, endMs / 2);
    expect(result.unfinished).toBeGreaterThan(1_000);
    expect(result.behindMsMax).toBeGreaterThan(500);
  });

  // Pollaczek and Khinchine: a half-busy server makes calls wait one service time if service is
  // exponential (M/M/1), half of one if it is constant (M/D/1).
  test.each([
    ['poisson', 'exponential', 10],
    ['poisson', 'equal', 5],
    ['equidistant', 'equal', 0],
  ] as const)('of %s arrivals on one server of %s service times waits %i ms', async (arrivals, of, waitMs) => {
    const random = seededRandom(5);
    const serviceMs = (): number => (of === 'equal' ? 10 : -10 * Math.log(1 - random()));
    const load = { ratePerSecond: 50, arrivals, callers: 256, servers: 1, serviceMs, durationMs: 1_000_000 };
    const result = await measured(load);
    expectNear(perSecond(result), 50);
    expectNear(meanMs(result), 10 + waitMs);
  });

  test('draws its arrivals from the seed', async () => {
    expect(await arrivalsOf(1)).toBe(await arrivalsOf(1));
    const counts = new Set(await Promise.all([1, 2, 3, 4, 5].map(arrivalsOf)));
    expect(counts.size).toBeGreaterThan(2);
  });

  test('counts a stall for every call that was due in it, but a closed loop only once', async () => {
    const open = await measuredInStall({ ratePerSecond: 1_000, callers: 1 });
    const closed = await measuredInStall({ callers: 1 });
    // Half of the second's calls were due in the stall of 500 ms: 250 ms late on average.
    expect(latenciesOf(closed.histogram).p95Ms).toBeLessThan(2);
    expect(latenciesOf(open.histogram).p50Ms).toBeGreaterThan(100);
    expect(latenciesOf(open.histogram).p95Ms).toBeGreaterThan(400);
  });
});

test('a window opens on all instances at the same moment', async () => {
  const clock = new Clock();
  const result = await measured({ servers: 1, serviceMs: () => 3, windowAtMs: clock.wallStartMs + 700 }, clock);
  expect(result.openedAtMs).toBe(clock.wallStartMs + 700);
  expect(result.durationMs).toBe(1_000);
});

test('the window of a load that becomes ever faster opens after the longest warm-up, as unsteady', async () => {
  const clock = new Clock();
  const serviceMs = (): number => 1 / (1 + clock.runtime.monotonicMs() / 10);
  const result = await measured({ servers: 1, serviceMs }, clock);
  expect(result.warmup).toMatchObject({ steadiness: 'unsteady', durationMs: expect.closeTo(1_000, 6) });
});

/** Calls that the next turn of the event loop answers, with counts of those in flight. */
function answering() {
  const seen = { now: 0, most: 0, byCaller: [] as number[] };
  const call = async (caller = 0): Promise<void> => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    seen.byCaller[caller] = (seen.byCaller[caller] ?? 0) + 1;
    await new Promise(setImmediate);
    seen.now -= 1;
  };
  return { seen, call };
}

/** Is over after so many calls of all callers together. */
const afterCalls = (count: number) => {
  let left = count;
  return () => left-- <= 0;
};

test.each([
  [12, 4, [3, 3, 3, 3]],
  [2, 2, [1, 1]],
  [0, 0, []],
])('four callers make %i calls, %i at a time, each again once it has its reply', async (calls, most, byCaller) => {
  const { seen, call } = answering();
  await closedLoop(4, afterCalls(calls), call);
  expect(seen).toEqual({ now: 0, most, byCaller });
});

test('after a call failed nobody calls again, and the loop rejects once the others have their replies', async () => {
  let calls = 0;
  const replies: number[] = [];
  const loop = closedLoop(3, afterCalls(100), async (caller) => {
    calls += 1;
    if (caller > 0) await new Promise(setImmediate);
    replies.push(caller);
    if (caller < 2) throw new Error(`no ${caller}`);
  });
  await expect(loop).rejects.toThrow('no 0');
  expect([calls, replies]).toEqual([3, [0, 1, 2]]);
});

test.each([
  [2, 2],
  [Infinity, 5],
])('each item gets one call, with at most %d calls in flight', async (callers, most) => {
  const { seen, call } = answering();
  const handed: number[] = [];
  await eachInFlight([1, 2, 3, 4, 5], callers, async (item) => {
    handed.push(item);
    await call();
  });
  expect(handed).toEqual([1, 2, 3, 4, 5]);
  expect(seen.most).toBe(most);
});

const slices = (early: number, late: number): number[] => [early, early, early, late, late, late];

describe('a load', () => {
  test.each([
    ['steady', slices(1_000, 1_090)],
    ['unsteady', slices(1_000, 1_110)],
    ['unsteady', slices(1_000, 890)],
    ['steady', slices(20, 24)],
    ['unsteady', slices(0, 40)],
    ['unsteady', slices(40, 0)],
    ['not known', slices(12, 12)],
    ['not known', slices(0, 0)],
    ['not known', [1_000, 1_000, 1_000]],
  ] as const)('is %s of replies %j', (expected, replies) => {
    expect(steadiness(replies)).toBe(expected);
  });

  test('of few replies per slice is judged by more slices', () => {
    expect(steadiness(Array.from({ length: 20 }, () => 5))).toBe('steady');
    expect(steadiness(Array.from({ length: 20 }, (_, at) => (at < 10 ? 3 : 8)))).toBe('unsteady');
    expect(steadiness(Array.from({ length: 18 }, () => 5))).toBe('not known');
  });
});

const random = seededRandom(3);

/** Draws from the Poisson distribution by Knuth's method. */
function poisson(mean: number): number {
  let count = -1;
  for (let product = 1; product > Math.exp(-mean); product *= random()) count += 1;
  return count;
}

const ROUNDS = 1_000;

function shares(early: number, late: number): Record<Steadiness, number> {
  const found = { steady: 0, unsteady: 0, 'not known': 0 };
  for (let round = 0; round < ROUNDS; round += 1) found[steadiness(slices(early, late).map(poisson))] += 1 / ROUNDS;
  return found;
}

test.each([2, 6, 10, 12, 20, 60])(
  'a load that doubles from %i replies per slice is hardly ever called steady',
  (mean) => {
    expect(shares(mean, 2 * mean).steady).toBeLessThan(0.1);
  },
);

test.each([20, 60, 400])('a load that stays at %i replies per slice is mostly called steady', (mean) => {
  expect(shares(mean, mean).steady).toBeGreaterThan(0.93);
});

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
