// Limits of rates: Azure's partitions and accounts, Datastore's ramp and hot ranges.
import { expect, test } from 'vitest';
import { AZURE_TABLES_2026_11 } from '../../../../shared/lab/cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import { ProviderParameters } from '../../../../shared/lab/cloud/data/parameters.ts';
import { Ramp } from '../../../../shared/lab/cloud/service/rate-limits.ts';
import { ServiceFailure } from '../../../../shared/lab/cloud/service/request.ts';
import { expectBetween, expectWithin } from '../../expect-within.ts';
import { offer, read, request, serviceOf, stillService, write } from './modelled.ts';

const SECONDS = 20;
/** A bucket starts with one second's worth, the middle of the data file's range. */
const BURST_SECONDS = 1;

/** Keys without an order. */
function scattered(number: number): string {
  return Math.imul(number + 1, 0x9e3779b1).toString(16);
}

/** A write of one record after another. */
const writing =
  (partition = 'p') =>
  (number: number) =>
    request('commit', write(`r${number}`, 500, partition));

/** Fractions of tokens are rounded: one request more or less may pass. */
function expectNear(served: number, expected: number): void {
  expect(Math.abs(served - expected)).toBeLessThanOrEqual(1);
}

test('a partition of Azure serves 2,000 entities a second, and answers the rest with 503', async () => {
  const service = serviceOf(AZURE_TABLES_2026_11);
  const { served, failed } = await offer(service, { perSecond: 3_000, seconds: SECONDS }, writing('one'));
  expectWithin(served, 2_000 * (SECONDS + BURST_SECONDS), 0.001);
  expect(service.counters.throttled).toBeGreaterThan(3_000 * SECONDS - 2_000 * (SECONDS + BURST_SECONDS) * 1.001);
  expect(service.counters.throttled).toBe(failed - service.counters.lost - service.counters.timedOut);
  expect(service.counters.billable.writes).toBeLessThanOrEqual(served + failed - service.counters.throttled);
});

test('below its limit a partition of Azure throttles nothing', async () => {
  const service = serviceOf(AZURE_TABLES_2026_11);
  await offer(service, { perSecond: 1_900, seconds: SECONDS }, writing('one'));
  expect(service.counters.throttled).toBe(0);
});

test('the entities of a transaction count one by one, and larger ones for several', async () => {
  const service = stillService('azure-tables', { 'partition.unitsPerSecond': 2_000, 'unit.kib': 64 });
  const many = Array.from({ length: 100 }, (_, at) => write(`r${at}`));
  const small = await offer(service, { perSecond: 100, seconds: SECONDS }, () => request('transaction', ...many));
  expectNear(small.served, 20 * (SECONDS + BURST_SECONDS));
  const other = stillService('azure-tables', { 'partition.unitsPerSecond': 2_000, 'unit.kib': 64 });
  const large = await offer(other, { perSecond: 400, seconds: SECONDS }, (at) =>
    request('commit', write(`r${at}`, 640 * 1_024)),
  );
  expectNear(large.served, 200 * (SECONDS + BURST_SECONDS));
});

test('a read is charged when its bytes are known', async () => {
  const service = stillService('azure-tables', { 'partition.unitsPerSecond': 100, 'unit.kib': 64 });
  const { scheduler } = service;
  const readLarge = async (): Promise<void> => {
    await service.send(
      request('get', read('r')),
      () => 50 * 64 * 1_024,
      (bytes, reply) => {
        reply.bytes = bytes;
      },
    );
  };
  await scheduler.run(readLarge().then(readLarge), 1_000);
  await expect(scheduler.run(readLarge(), 1_000)).rejects.toThrow('throttled');
});

test('an account of Azure serves 20,000 entities a second over all its partitions', async () => {
  const service = serviceOf(AZURE_TABLES_2026_11);
  const seconds = 5;
  const { served } = await offer(service, { perSecond: 26_000, seconds }, (number) =>
    request('commit', write(`r${number}`, 500, `p${number % 16}`)),
  );
  expectWithin(served, 20_000 * (seconds + BURST_SECONDS), 0.001);
});

test('a 503 has no effect, and comes at once', async () => {
  const service = stillService('azure-tables', { 'partition.unitsPerSecond': 1, 'throttle.replyMs': 2 });
  const { scheduler } = service;
  let effects = 0;
  const send = () => service.send(request('commit', write('r')), () => (effects += 1));
  await scheduler.run(send(), 100);
  const sentMs = scheduler.nowMs;
  await expect(scheduler.run(send(), 100)).rejects.toThrow(ServiceFailure);
  expect(scheduler.nowMs - sentMs).toBe(2);
  expect(effects).toBe(1);
});

test('a new kind of Datastore begins at 500 a second, and is allowed half as many again after each 5 minutes', () => {
  const ramp = new Ramp(new ProviderParameters(DATASTORE_2026_11), 0);
  const carried = [0, 0, 0, 0];
  for (let nowMs = 0; nowMs < 20 * 60_000; nowMs += 0.5) {
    if (ramp.waitMs(nowMs, 1) !== undefined) carried[Math.floor(nowMs / 300_000)]! += 1;
  }
  for (const [period, rate] of [500, 750, 1_125, 1_687.5].entries()) expectWithin(carried[period]! / 300, rate, 0.01);
});

test('a ramp grows by what it carried, not by what it might have', () => {
  const ramp = new Ramp(new ProviderParameters(DATASTORE_2026_11, { 'ramp.waitMaxMs': 0 }), 0);
  for (let nowMs = 0; nowMs < 300_000; nowMs += 10) ramp.waitMs(nowMs, 1);
  let carried = 0;
  for (let nowMs = 300_000; nowMs < 310_000; nowMs += 0.5) if (ramp.waitMs(nowMs, 1) !== undefined) carried += 1;
  expectWithin(carried / 10, 500, 0.01);
});

test('a service whose kind is new lets requests wait before it refuses them', async () => {
  const cold = { 'ramp.isCold': 1, 'ramp.startPerSecond': 500, 'ramp.waitMaxMs': 1_000 };
  const waited = await offer(stillService('datastore', cold), { perSecond: 1_000, seconds: 0.9 }, writing());
  // Each second brings work for two: after 0.9 s calls wait 0.9 s, and none is refused yet.
  expect(waited.served).toBe(900);
  expectWithin(waited.lastMs, 1_800, 0.005);
  const refused = await offer(stillService('datastore', cold), { perSecond: 1_000, seconds: 5 }, writing());
  expectNear(refused.served, 500 * 6);
});

test('sequential keys fall into one range and get its rate; scattered ones get that of many', async () => {
  const warm = { 'range.count': 64, 'range.writesPerSecond': 500, 'range.waitMaxMs': 100, 'range.splitAfterMs': 5_000 };
  const served = async (keyOf: (number: number) => string): Promise<number> => {
    const service = stillService('datastore', warm);
    const learned = { perSecond: 2_048, seconds: 1 };
    await offer(service, learned, (number) => request('commit', write(keyOf(number))));
    const run = { perSecond: 2_000, seconds: SECONDS };
    return (await offer(service, run, (number) => request('commit', write(keyOf(number + 2_048))))).served / SECONDS;
  };
  const sequential = await served((number) => String(number).padStart(9, '0'));
  expectBetween(sequential, 500, 520);
  expect(await served(scattered)).toBe(2_000);
});

test('a range that is busy for long is split where its load is', async () => {
  const cold = { 'range.count': 1, 'range.writesPerSecond': 500, 'range.waitMaxMs': 100, 'range.splitAfterMs': 5_000 };
  const service = stillService('datastore', cold);
  const { served } = await offer(service, { perSecond: 800, seconds: 15 }, (number) =>
    request('commit', write(scattered(number))),
  );
  // One range for 5 s, then two for 10 s that are not busy.
  expectWithin(served, 500 * 5 + 800 * 10, 0.02);
});
