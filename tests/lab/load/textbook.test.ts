// A store of known service times yields the textbook's throughput and latencies at every rung.
import { describe, expect, test } from 'vitest';
import { latenciesOf } from '../../../shared/lab/kit/histogram.ts';
import { runWindow, type WindowOptions, type WindowResult } from '../../../shared/lab/load/window.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { expectWithin } from '../expect-within.ts';
import { Clock, FakeStore, windowOptions } from '../fake-store.ts';

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

  test.each(RUNGS)('of %i callers on one server of 3.7 ms has the rate of the server', async (callers) => {
    const result = await measured({ callers, servers: 1, serviceMs: () => 3.7 });
    expectNear(perSecond(result), 1_000 / 3.7);
    expectNear(meanMs(result), 3.7 * callers);
  });

  // All calls end together, and 3.3 fit into the window. Whole calls would count as 3 or 4.
  test.each(RUNGS)('of %i callers counts calls over the edges of the window in part', async (callers) => {
    const result = await measured({ callers, servers: 1_000, serviceMs: () => 300, records: 500 });
    expectNear(perSecond(result), (callers * 500) / 0.3);
  });

  // A window that ends on a reply would give a rate 14 % too high.
  test('of one caller has the true rate on average, even with one or two replies per window', async () => {
    const random = seededRandom(11);
    const rates: number[] = [];
    for (let round = 0; round < 1_000; round += 1)
      rates.push(perSecond(await measured({ servers: 1, serviceMs: () => -667 * Math.log(1 - random()) })));
    // One or two replies per window: a deviation of some 65 %. The bound is 3 standard errors.
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(Math.abs(mean / 1.5 - 1)).toBeLessThan((3 * 0.65) / Math.sqrt(rates.length));
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
