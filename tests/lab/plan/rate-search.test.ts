// The search for the highest rate that holds a latency: steps, verdicts, the textbook's answer.
import { expect, test } from 'vitest';
import { runWindow } from '../../../shared/lab/load/window.ts';
import { type Merged, mergeParts } from '../../../shared/lab/plan/outcome.ts';
import { searchSchema } from '../../../shared/lab/plan/plan.ts';
import { judged, searchRate, tryMsOf } from '../../../shared/lab/plan/rate-search.ts';
import { Clock, FakeStore, windowOptions } from '../fake-store.ts';
import { result } from '../fakes.ts';
import { histogramOf } from '../histogram-of.ts';

const SEARCH = searchSchema.parse({ percentile: 99, latencyMsMax: 20, fromPerSecond: 100, toPerSecond: 100_000 });

/** A store that holds up to `most` operations per second. */
const holdsUpTo = (most: number) => async (ratePerSecond: number) => ({
  ratePerSecond,
  achievedPerSecond: ratePerSecond,
  latencyMs: 1,
  isHeld: ratePerSecond <= most,
  why: '',
});

test.each([100, 101, 1_000, 4_321, 99_999])('a search finds %i per second to within a tenth', async (most) => {
  const { confirmed, tries } = await searchRate({ ...SEARCH, triesMax: 20 }, holdsUpTo(most));
  expect(confirmed!.ratePerSecond).toBeLessThanOrEqual(most);
  expect(confirmed!.ratePerSecond).toBeGreaterThan(most / 1.1);
  expect(tries.length).toBeLessThan(16);
});

test('a search ends if its first rate fails, if the highest holds, or after its last try', async () => {
  const none = await searchRate(SEARCH, holdsUpTo(50));
  expect([none.confirmed, none.tries.length]).toEqual([null, 1]);
  expect((await searchRate({ ...SEARCH, triesMax: 20 }, holdsUpTo(Infinity))).confirmed?.ratePerSecond).toBe(100_000);
  const short = await searchRate({ ...SEARCH, triesMax: 3 }, holdsUpTo(Infinity));
  expect(short.tries.map((one) => one.ratePerSecond)).toEqual([100, 200, 400]);
});

test('a search reports the run that confirms a rate, and falls back to a lower one if none does', async () => {
  const held = holdsUpTo(1_000);
  let sent = 0;
  // Rates above 500 hold at first by luck, and fail when they are tried again.
  const lucky = async (ratePerSecond: number) => {
    sent += 1;
    const one = await held(ratePerSecond);
    return sent > 7 && ratePerSecond > 500 ? { ...one, isHeld: false } : { ...one, latencyMs: sent };
  };
  const { confirmed, tries } = await searchRate({ ...SEARCH, triesMax: 7 }, lucky);
  expect(tries.map((one) => Math.round(one.ratePerSecond))).toEqual([100, 200, 400, 800, 1_600, 1_131, 951, 951, 800]);
  expect(confirmed).toMatchObject({ ratePerSecond: 400, latencyMs: 10, isHeld: true });
});

function runOf(latencyMs: number, operations: number, change: Partial<Merged> = {}): Merged {
  const histogram = histogramOf(Array<number>(operations).fill(latencyMs));
  return { ...mergeParts([result()]), recordsPerCall: 1, recordsPerSecond: 100, histogram, ...change };
}

test.each([
  ['', runOf(10, 2_000)],
  ['p99 was 30.0 ms', runOf(30, 2_000)],
  ['', runOf(10, 2_000, { recordsPerSecond: 90 })],
  ['80.0 a second were answered', runOf(10, 2_000, { recordsPerSecond: 80 })],
  ['failed: 3 throttled', runOf(10, 2_000, { errors: { throttled: 3 } })],
  ['900 operations are too few for p99', runOf(10, 900)],
])('a run is judged as: "%s"', (why, run) => {
  const { why: said, isHeld } = judged(SEARCH, 100, run);
  expect([said.replace(/30\.0\d*/, '30.0'), isHeld]).toEqual([why, why === '']);
});

test('each rate is tried for long enough to have its percentile', () => {
  expect(tryMsOf({ percentile: 99 }, 100, 1_000)).toBe(15_000);
  expect(tryMsOf({ percentile: 99 }, 10_000, 1_000)).toBe(1_000);
  expect(tryMsOf({ percentile: 99.9 }, 10, 1_000)).toBe(60_000);
});

test('a search finds the capacity of two servers of 5 ms: 400 calls per second', async () => {
  const search = { ...SEARCH, percentile: 50 as const, latencyMsMax: 6 };
  const { confirmed } = await searchRate(search, async (rate) => {
    const clock = new Clock();
    const store = new FakeStore(clock, 2, () => 5);
    const options = { callers: 64, ratePerSecond: rate, warmup: { leastMs: 100, mostMs: 500 }, drainMs: 1_000 };
    const window = await clock.run(runWindow(() => [[store.unit()]], windowOptions(clock, options)));
    const { records, durationMs, histogram } = window;
    return judged(search, rate, runOf(0, 0, { recordsPerSecond: (records / durationMs) * 1_000, histogram }));
  });
  expect(confirmed!.ratePerSecond).toBeLessThanOrEqual(400);
  expect(confirmed!.ratePerSecond).toBeGreaterThan(400 / 1.1);
});
