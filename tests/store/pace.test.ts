// How many requests may be in flight: up while they wait and are answered quickly, down when replies slow down, halved when throttled.
import { expect, test } from 'vitest';
import { Pace, type Reply } from '../../shared/store/pace.ts';
import { VirtualRuntime } from '../support/virtual-runtime.ts';

const SMALL: Reply = { bytes: 100, isThrottled: false };

/** Answers `count` requests that wait together, each in the time that `tookMs` gives for as many as are in flight. */
async function answer(
  pace: Pace,
  runtime: VirtualRuntime,
  count: number,
  tookMs: (inFlight: number) => number,
  reply = SMALL,
) {
  let inFlight = 0;
  const all = Array.from({ length: count }, () =>
    pace.run(async () => {
      inFlight += 1;
      await runtime.sleep(tookMs(inFlight));
      inFlight -= 1;
      return reply;
    }),
  );
  const done = Promise.all(all);
  for (let step = 0; step < count; step += 1) await runtime.advance(100);
  await done;
}

test('while requests wait and replies come as quickly as ever, more may be in flight, up to a bound', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  const before = pace.inFlightMax;
  await answer(pace, runtime, 200, () => 10);
  expect(pace.inFlightMax).toBeGreaterThan(before);
  await answer(pace, runtime, 6_000, () => 10);
  expect(pace.inFlightMax).toBe(64);
});

test('where more requests in flight only wait for each other, few are sent at a time', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await answer(pace, runtime, 1, () => 5);
  await answer(pace, runtime, 600, (inFlight) => 5 * inFlight);
  expect(pace.inFlightMax).toBeLessThanOrEqual(6);
  expect(pace.inFlightMax).toBeGreaterThanOrEqual(2);
});

test('where the way to the provider has become longer, as many are in flight again before long', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await answer(pace, runtime, 100, () => 5);
  await answer(pace, runtime, 2_000, () => 50);
  expect(pace.inFlightMax).toBeGreaterThan(16);
});

test('a large request may take its time', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await answer(pace, runtime, 20, () => 10);
  const before = pace.inFlightMax;
  await answer(pace, runtime, 100, () => 90, { bytes: 640 * 1024, isThrottled: false });
  expect(pace.inFlightMax).toBe(before);
});

test('each throttled reply halves what may be in flight, and two always may', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  const before = pace.inFlightMax;
  await answer(pace, runtime, 1, () => 1, { bytes: 0, isThrottled: true });
  expect(pace.inFlightMax).toBe(before / 2);
  await answer(pace, runtime, 10, () => 1, { bytes: 0, isThrottled: true });
  expect(pace.inFlightMax).toBe(2);
});

test('no more requests are in flight than may be', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  let most = 0;
  await answer(pace, runtime, 50, (inFlight) => {
    most = Math.max(most, inFlight - pace.inFlightMax);
    return 1;
  });
  expect(most).toBe(0);
});
