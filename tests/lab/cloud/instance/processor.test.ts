// The modelled processor behaves as M/M/1 and M/G/1 do.
import { describe, expect, test } from 'vitest';
import { latenciesOf } from '../../../../shared/lab/kit/histogram.ts';
import { type Random, seededRandom } from '../../../../shared/lab/kit/random.ts';
import { Processor } from '../../../../shared/lab/cloud/instance/processor.ts';
import { Scheduler } from '../../../../shared/lab/cloud/time/scheduler.ts';
import { expectWithin } from '../../expect-within.ts';
import { played } from '../run/played.ts';

const OPERATIONS = 250_000;
const SERVICE_MS = 1;

/** Poisson arrivals at one processor; each operation takes what `drawMs` says, 1 ms on average. */
async function queue(arrivalsPerSecond: number, drawMs: (random: Random) => number) {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  const random = seededRandom(2);
  const busyMs: number[] = [];
  const note = (): void => void busyMs.push(processor.busyMs);
  const { durationMs, histogram, records, underWayMs } = await played({
    scheduler,
    load: { perSecond: arrivalsPerSecond, spacing: 'poisson' },
    budget: { warmupMs: 1e9, warmupOperationsMax: 5_000, operationsMax: OPERATIONS },
    serve: async () => await processor.spend(drawMs(random) * 1_000),
    listener: { opened: note, closed: note },
  });
  return {
    utilisation: (busyMs[1]! - busyMs[0]!) / durationMs,
    perSecond: records / (durationMs / 1_000),
    underWay: underWayMs / durationMs,
    ...latenciesOf(histogram),
  };
}

const exponential = (random: Random): number => -Math.log(1 - random()) * SERVICE_MS;

describe('one processor with an open loop', () => {
  test.each([300, 500, 700])('is an M/M/1 queue at %i a second', async (perSecond) => {
    const load = perSecond / 1_000;
    const { meanMs, utilisation, underWay, p50Ms, p99Ms } = await queue(perSecond, exponential);
    expectWithin(meanMs, SERVICE_MS / (1 - load), 0.02);
    expectWithin(utilisation, load, 0.02);
    expectWithin(underWay, load / (1 - load), 0.02);
    // Times in an M/M/1 system are exponential.
    expectWithin(p50Ms!, (Math.LN2 * SERVICE_MS) / (1 - load), 0.02);
    expectWithin(p99Ms!, (Math.log(100) * SERVICE_MS) / (1 - load), 0.05);
  });

  // Variance over squared mean: 0 constant, 1/3 uniform from 0 to twice the mean, 9/4 these two.
  test.each<[string, number, (random: Random) => number]>([
    ['a constant time', 0, () => SERVICE_MS],
    ['a uniform time', 1 / 3, (random) => 2 * SERVICE_MS * random()],
    ['a long time in a fifth of the cases', 9 / 4, (random) => (random() < 0.2 ? 4 : 0.25) * SERVICE_MS],
  ])('follows Pollaczek and Khinchine with %s', async (_, variation, drawMs) => {
    const load = 0.5;
    const { meanMs, perSecond, underWay } = await queue(load * 1_000, drawMs);
    const waitMs = (load / (1 - load)) * ((1 + variation) / 2) * SERVICE_MS;
    expectWithin(meanMs, SERVICE_MS + waitMs, 0.02);
    expectWithin(underWay, (perSecond / 1_000) * meanMs, 0.02);
  });
});

test('work is done in order, one piece after another, and pieces of no length pass', async () => {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  const ends: string[] = [];
  const piece = async (name: string, microseconds: number): Promise<void> => {
    await processor.spend(microseconds);
    ends.push(`${name} ${scheduler.nowMs}`);
  };
  await scheduler.run(Promise.all([piece('a', 2_000), piece('b', 500), piece('c', 0), piece('d', 1_000)]), 100);
  expect(ends).toEqual(['c 0', 'a 2', 'b 2.5', 'd 3.5']);
  expect(processor.busyMs).toBe(3.5);
});

test('what still waits for the processor does not count as work done', async () => {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  void processor.spend(10_000);
  await scheduler.pass(4);
  expect(processor.busyMs).toBe(4);
});
