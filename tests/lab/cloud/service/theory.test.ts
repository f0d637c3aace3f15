// The service where theory has the answer: moments of its distributions, and queues at one server.
import { describe, expect, test } from 'vitest';
import { Draws } from '../../../../shared/lab/cloud/service/draws.ts';
import type { ModelRequest } from '../../../../shared/lab/cloud/service/request.ts';
import type { ModelledService } from '../../../../shared/lab/cloud/service/service.ts';
import { expectWithin } from '../../expect-within.ts';
import { answered, read, request, stillService, write } from './modelled.ts';

/** The times of requests that arrive at random (exponential gaps), `perMs` a millisecond. */
async function poisson(
  service: ModelledService,
  { perMs, count }: { perMs: number; count: number },
  next: () => ModelRequest,
): Promise<Float64Array> {
  const { scheduler } = service;
  const draws = new Draws(7);
  const times = new Float64Array(count);
  const arrive = async (number: number): Promise<void> => {
    const sentMs = scheduler.nowMs;
    await service.send(next(), () => undefined);
    times[number] = scheduler.nowMs - sentMs;
  };
  const work = async (): Promise<void> => {
    const sent: Promise<void>[] = [];
    for (let number = 0; number < count; number += 1) {
      await scheduler.after(-Math.log(1 - draws.uniform()) / perMs);
      sent.push(arrive(number));
    }
    await Promise.all(sent);
  };
  await scheduler.run(work(), Infinity);
  return times;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function quantile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(values.length * share)]!;
}

describe('the distribution of a service time', () => {
  const SIGMA = 0.6;
  const MEDIAN = 6;
  const sample = (overrides: Readonly<Record<string, number>>): Promise<Float64Array> =>
    poisson(
      stillService('datastore', { 'get.baseMs': MEDIAN, 'get.sigma': SIGMA, ...overrides }),
      { perMs: 1, count: 200_000 },
      () => request('get', read('a')),
    );

  test('has the median, the mean and the p99 of a lognormal', async () => {
    const times = await sample({});
    expectWithin(quantile(times, 0.5), MEDIAN, 0.02);
    expectWithin(mean(times), MEDIAN * Math.exp(SIGMA ** 2 / 2), 0.02);
    expectWithin(quantile(times, 0.99), MEDIAN * Math.exp(2.3263 * SIGMA), 0.02);
  });

  test('has a tail of so many that take so much longer', async () => {
    const times = await sample({ 'get.sigma': 0.01, 'tail.share': 0.01, 'tail.factor': 10 });
    expectWithin(mean(times), MEDIAN * (1 + 0.01 * 9), 0.02);
    expectWithin(times.filter((time) => time > 2 * MEDIAN).length / times.length, 0.01, 0.05);
    expectWithin(quantile(times, 0.995), 10 * MEDIAN, 0.02);
  });

  test('grows with entities and bytes, and the way lies before and behind it', async () => {
    const service = stillService('datastore', {
      'network.oneWayMs.median': 1,
      'commit.baseMs': 10,
      'commit.perEntityMs': 2,
      'commit.perKibMs': 0.5,
      'commit.perIndexRowMs': 0.25,
      'batch.exponent': 0.5,
    });
    const accesses = Array.from({ length: 5 }, (_, at) => ({ ...write(`r${at}`, 1_024), indexRows: 4 }));
    await answered(service, request('commit', ...accesses), () => 0);
    expect(service.scheduler.nowMs).toBeCloseTo(1 + 10 + 2 * Math.sqrt(4) + 5 * 0.5 + 20 * 0.25 + 1, 9);
  });
});

describe('one entity whose writers arrive at random', () => {
  const COUNT = 150_000;
  const LOCKED = { 'contention.holdShare': 1, 'contention.waitMaxMs': 1e9, 'effect.share': 0 };

  test('is an M/G/1 queue when they are lognormal: the Pollaczek-Khinchine formula', async () => {
    const SIGMA = 0.6;
    const service = stillService('datastore', { ...LOCKED, 'commit.baseMs': 10, 'commit.sigma': SIGMA });
    const perMs = 0.05;
    const times = await poisson(service, { perMs, count: COUNT }, () => request('commit', write('a')));
    const first = 10 * Math.exp(SIGMA ** 2 / 2);
    const second = 100 * Math.exp(2 * SIGMA ** 2);
    expectWithin(mean(times), first + (perMs * second) / (2 * (1 - perMs * first)), 0.02);
  });
});

test('a partition that serves one entity after another is an M/D/1 queue', async () => {
  const serialMs = 10;
  const perMs = 0.06;
  const service = stillService('azure-tables', { 'partition.serialMsPerEntity': serialMs, 'commit.baseMs': serialMs });
  const times = await poisson(service, { perMs, count: 100_000 }, () => request('commit', write('a')));
  const load = perMs * serialMs;
  expectWithin(mean(times), serialMs + (load * serialMs) / (2 * (1 - load)), 0.02);
});
