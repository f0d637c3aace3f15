// The modelled processor behaves as M/M/1 does.
import { describe, expect, test } from 'vitest';
import { latenciesOf } from '../../../../shared/lab/kit/histogram.ts';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';
import { Processor } from '../../../../shared/lab/cloud/instance/instance.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';
import { expectWithin } from '../../expect-within.ts';
import { played } from '../run/played.ts';

const OPERATIONS = 250_000;
const SERVICE_MS = 1;

/** Poisson arrivals at one processor; operations take exponential times, 1 ms on average. */
async function queue(arrivalsPerSecond: number) {
  const scheduler = new Scheduler(1);
  const processor = new Processor(scheduler);
  const random = seededRandom(2);
  const { durationMs, histogram, underWayMs, marks } = await played({
    scheduler,
    load: { perSecond: arrivalsPerSecond, spacing: 'poisson' },
    budget: { warmupMs: 1e9, warmupOperationsMax: 5_000, operationsMax: OPERATIONS },
    serve: async () => await processor.spend(-Math.log(1 - random()) * SERVICE_MS * 1_000),
    mark: () => processor.busyMs,
  });
  return {
    utilisation: (marks[1]! - marks[0]!) / durationMs,
    underWay: underWayMs / durationMs,
    ...latenciesOf(histogram),
  };
}

describe('one processor with an open loop', () => {
  test.each([300, 500, 700])('is an M/M/1 queue at %i a second', async (perSecond) => {
    const load = perSecond / 1_000;
    const { meanMs, utilisation, underWay, p50Ms, p99Ms } = await queue(perSecond);
    expectWithin(meanMs, SERVICE_MS / (1 - load), 0.02);
    expectWithin(utilisation, load, 0.02);
    expectWithin(underWay, load / (1 - load), 0.02);
    // Times in an M/M/1 system are exponential.
    expectWithin(p50Ms!, (Math.LN2 * SERVICE_MS) / (1 - load), 0.02);
    expectWithin(p99Ms!, (Math.log(100) * SERVICE_MS) / (1 - load), 0.05);
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
  // Work that still waits does not count as done.
  void processor.spend(10_000);
  await scheduler.pass(4);
  expect(processor.busyMs).toBe(7.5);
});
