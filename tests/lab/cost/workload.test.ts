// Each layout's operations: worked out by hand, and against the store's requests to a driver.
import { describe, expect, test } from 'vitest';
import { plainBytes } from '../../../infra/lab/stored-bytes.ts';
import { seededRandom, randomInt } from '../../../shared/lab/kit/random.ts';
import { increase } from '../../../shared/lab/kit/usage.ts';
import { recordSource } from '../../../shared/lab/work/records.ts';
import { PROVIDERS, type Provider, type UsersLayout } from '../../../shared/lab/kit/dimensions.ts';
import { billableOf } from '../../../shared/lab/cost/billable.ts';
import { assumptionsOf, estimateOf } from '../../../shared/lab/cost/estimate.ts';
import { STORED_BYTES } from '../../../shared/lab/cost/figures.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import {
  type Calls,
  type Case,
  containersOf,
  containersTouched,
  monthlyQuantities,
  operationsAPut,
  operationsOf,
  type Workload,
} from '../../../shared/lab/cost/workload.ts';
import { play } from '../../../shared/lab/scale/play.ts';
import { LIMITS } from '../../../shared/drivers/azure-tables/mapping.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { DriverLimits } from '../../../shared/store/contract/driver.ts';
import { openStore } from '../../../shared/store/index.ts';
import { expectBetween, expectWithin } from '../expect-within.ts';
import { quiet, VirtualRuntime } from '../../support/virtual-runtime.ts';

const WORKLOAD: Workload = {
  records: 1_000_000,
  recordBytes: 500,
  readsPerDay: 100_000,
  writesPerDay: 10_000,
  deletesPerDay: 1_000,
  scansPerDay: 2,
};
const CALLS: Calls = { recordsPerCall: 1, keys: 'random', concurrency: 32, instances: undefined, durationMs: 20 };

function caseOf(provider: Provider, calls: Partial<Calls> = {}, workload: Partial<Workload> = {}): Case {
  return { provider, workload: { ...WORKLOAD, ...workload }, calls: { ...CALLS, ...calls } };
}

describe('billed operations of a day', () => {
  test.each<[UsersLayout, Provider, recordsPerCall: number, reads: number, writes: number, deletes: number]>([
    // 100,000 reads and 2 scans of 1,000,000. Azure: 2 x 1,000 pages of 1,000 entities.
    ['record', 'datastore', 1, 2_100_000, 10_000, 1_000],
    ['record', 'azure-tables', 1, 102_000, 10_000, 1_000],
    // Datastore bills entities all the same, Azure group transactions of 100. 250 records are 3:
    // 10,000 / 250 x 3 = 120, 1,000 / 250 x 3 = 12. Single reads.
    ['batch', 'datastore', 250, 2_100_000, 10_000, 1_000],
    ['batch', 'azure-tables', 250, 102_000, 120, 12],
    // 1,000,000 x 309 bytes / 400,000 = 772.5: 773 containers. Writes: 10,000 + 1,000 deletes.
    // Reads: 100,000 + 2 x 773.
    ['container', 'datastore', 1, 101_546, 11_000, 0],
    ['container', 'azure-tables', 1, 101_546, 11_000, 0],
  ])('of %s on %s, %i records a call', (layout, provider, recordsPerCall, ...operations) => {
    const { reads, writes, deletes } = operationsOf(layout, caseOf(provider, { recordsPerCall }));
    expect([reads, writes, deletes]).toEqual(operations.map((count) => expect.closeTo(count, 6) as number));
  });

  test('of containers that four instances write: they look first, and are refused where they meet', () => {
    // 11,000 puts of 20 ms a day are 0.002546 in flight: 3/4 x 0.002546 / 773 = 0.0000025 are
    // refused. Each put has 1.1 reads.
    const { reads, writes } = operationsOf('container', caseOf('datastore', { instances: 4 }));
    expect(reads).toBeCloseTo(101_546 + 11_000 * 1.1, 0);
    expect(writes).toBeCloseTo(11_000, 0);
    // 1e8 puts a day of 20 ms: 23.15 in flight are too few to split 773 containers; 0.75 x 23.15 /
    // 773 = 0.0225 are refused.
    const busy = { writesPerDay: 100_000_000, deletesPerDay: 0, readsPerDay: 0, scansPerDay: 0 };
    const many = operationsOf('container', caseOf('datastore', { instances: 4 }, busy));
    expect(many.writes / 100_000_000).toBeCloseTo(1.0225, 3);
    expect(many.reads / 100_000_000).toBeCloseTo(1.1225, 3);
  });

  test('of a table larger than what an instance knows: a second read for what it does not', () => {
    // 1e9 records fill 772,500 containers; the process knows 1,759.
    const large = { records: 1_000_000_000, writesPerDay: 0, deletesPerDay: 0, scansPerDay: 0 };
    const { reads } = operationsOf('container', caseOf('azure-tables', {}, large));
    expect(reads).toBeCloseTo(100_000 * (2 - 1_759 / 772_500), 6);
  });

  test('of containers, with records of a call beside each other', () => {
    // A container holds 1,293.66 records: a call of 500 meets 1 + 499 x 773 / 1,000,000 = 1.385727
    // containers. 11,000 writes are 22 calls.
    const { writes } = operationsOf('container', caseOf('datastore', { recordsPerCall: 500, keys: 'together' }));
    expect(writes).toBeCloseTo(22 * 1.385_727, 6);
  });
});

describe('containers that a call touches', () => {
  test.each([
    // 4 x (1 - 0.75^2) = 1.75. 50 records meet the one container; 1,000 meet nearly all of ten.
    [4, 2, 'random', 1.75],
    [1, 50, 'random', 1],
    [773, 1, 'random', 1],
    [10, 1_000, 'random', 10],
    [2, 10_000_000, 'together', 2],
  ] as const)('of %i, for %i %s records: %d', (containers, recordsPerCall, keys, touched) => {
    expect(containersTouched(containers, 1_000_000, { ...CALLS, recordsPerCall, keys })).toBeCloseTo(touched, 9);
  });
});

describe('a month', () => {
  test('of an entity a record on Azure', () => {
    const prices = PRICES_2026_11.providers['azure-tables'];
    const { gibSeconds, ...others } = monthlyQuantities('record', caseOf('azure-tables'), prices);
    expect(others).toEqual({
      // 30 x 102,000, 30 x 10,000, 30 x 1,000.
      reads: 3_060_000,
      writes: 300_000,
      deletes: 30_000,
      // 100,000 + 10,000 + 1,000 + 2 calls a day.
      requests: 3_330_060,
      // 1,000,000 x (2 x 500 + 156) bytes = 1,156,000,000 / 2^30.
      storageGib: expect.closeTo(1.076_609, 6) as number,
      // 2,100,000 records a day x 500 bytes x 30 = 31,500,000,000 / 2^30.
      egressGib: expect.closeTo(29.336_661, 6) as number,
    });
    // 1.2847 calls a second are billed 1 s each: (1 - e^-1.284745) x 86,400 s x 30 days x 2 GiB.
    expect(gibSeconds).toBeCloseTo((1 - Math.exp(-111_002 / 86_400)) * 86_400 * 30 * 2, 3);
  });

  test('costs less in containers where calls hand over many records that lie together', () => {
    const one = caseOf('datastore', { recordsPerCall: 500, keys: 'together' }, { scansPerDay: 0 });
    const { bills, perMillionRecords } = estimateOf(PRICES_2026_11, 'us-central1', one);
    const line = (layout: 'record' | 'container', meter: string) =>
      bills[layout].lines.find((each) => each.meter === meter)?.dollars;
    // Records: 30 x 10,000 x 0.09 / 100,000 = 0.27. Containers, with deletes: 30 x 22 calls x
    // 1.385727 x 0.09 / 100,000.
    expect(line('record', 'writes')).toBeCloseTo(0.27, 10);
    expect(line('container', 'writes')).toBeCloseTo(0.000_823_12, 8);
    // A million records: 10 x 0.09, or 2,000 calls x 1.385727 x 0.09 / 100,000.
    expect(perMillionRecords.record.written).toBeCloseTo(0.9, 10);
    expect(perMillionRecords.container.written).toBeCloseTo(0.002_494_31, 8);
    expect(perMillionRecords.container.deleted).toBe(perMillionRecords.container.written);
  });

  test('says null for a million records whose operations have no price', () => {
    const { perMillionRecords, bills } = estimateOf(PRICES_2026_11, 'europe-west1', caseOf('datastore'));
    expect(perMillionRecords.record).toEqual({
      read: expect.closeTo(0.33, 10) as number,
      written: null,
      deleted: null,
    });
    expect(bills.record.unpriced).toEqual(['writes', 'deletes', 'storageGib']);
  });

  test('names its assumptions as they were chosen', () => {
    expect(assumptionsOf(PRICES_2026_11, { ...CALLS, recordsPerCall: 7, keys: 'together' }).join(' ')).toMatch(
      /2026-11.*Records a call: 7, beside each other.*32 at a time.*A call takes 20 ms/,
    );
  });
});

describe('the figures that estimates rest on', () => {
  test.each([
    [1, 8],
    [4, 4],
  ])('puts of %i instances with %i callers each are billed as the formula says', async (instances, callers) => {
    const row = { work: 'put', instances, callers, records: 20_000 } as const;
    const profile = { readMs: 6, commitMs: 6, sigma: 0.6, locksEntities: false };
    const times = { warmUpMs: 1_000, windowMs: 500 };
    const played = await play({ row, layout: 'container', profile, times, seed: 1 });
    const { reads, writes } = operationsAPut(instances, instances * callers, played.entities);
    expectWithin(played.reads + played.writes, reads + writes, 0.1);
  });

  test.each(PROVIDERS)('stored bytes of an entity are those of the published formula: %s', (provider) => {
    const { fixed, factor } = STORED_BYTES.entity[provider];
    for (const recordBytes of [300, 500, 2_000]) {
      const source = recordSource(1, recordBytes);
      const sizes = Array.from({ length: 1_000 }, (_, index) => plainBytes(provider, 'Container', source(index, 0)));
      const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
      expectWithin(mean, fixed + factor * recordBytes, 0.03);
    }
  });

  test('the store asks of a driver what is counted for it: one read a warm get, one write a put or delete', async () => {
    const records = 10_000;
    const { store, table, items, counters } = await loadedTable(records);
    const random = seededRandom(7);
    const drawn = (count: number) => Array.from({ length: count }, () => items[randomInt(random, records)]!);

    const containers = containersOf('datastore', { ...WORKLOAD, records });
    const scanned = await billedBy(counters, async () => {
      let seen = 0;
      for await (const { key } of table.scan()) seen += key.length > 0 ? 1 : 0;
      expect(seen).toBe(records);
    });
    // A load leaves 10,000 x 309 bytes / 400,000 = 7.7 containers: CONTAINERS.storedBytes.
    expect(scanned).toMatchObject({ writes: 0, deletes: 0 });
    expectWithin(scanned.reads, containers, 0.25);

    const got = await billedBy(counters, async () => {
      for (const { key } of drawn(200)) await table.get(key);
    });
    expect(got).toEqual({ reads: 200, writes: 0, deletes: 0 });
    const put = await billedBy(counters, async () => {
      for (const { key, value } of drawn(200)) await table.put(key, value);
    });
    expect(put).toEqual({ reads: 0, writes: 200, deletes: 0 });
    const removed = await billedBy(counters, async () => {
      for (const { key } of items.slice(0, 200)) await table.delete(key);
    });
    expect(removed).toEqual({ reads: 0, writes: 200, deletes: 0 });

    // Ten calls of 100 random records read or write every container that they touch.
    const expected = 10 * containersTouched(scanned.reads, records, { ...CALLS, recordsPerCall: 100 });
    const gotMany = await billedBy(counters, async () => {
      for (let call = 0; call < 10; call++) await table.getMany(drawn(100).map(({ key }) => key));
    });
    expectWithin(gotMany.reads, expected, 0.1);
    const putMany = await billedBy(counters, async () => {
      for (let call = 0; call < 10; call++) await table.putMany(drawn(100));
    });
    // Some writes split a container; the estimate leaves that out.
    expectBetween(putMany.writes / expected, 0.95, 1.3);
    await store.close();
  });

  test('on Azure, writes of a call share group transactions: fewer are billed than containers written', async () => {
    const records = 10_000;
    const small = { ...LIMITS, entityBytesMax: 64 * 1_024 };
    const { runtime, store, table, items, counters } = await loadedTable(records, small);
    const random = seededRandom(7);
    const before = { ...counters };
    for (let call = 0; call < 10; call++)
      await runtime.run(table.putMany(Array.from({ length: 100 }, () => items[randomInt(random, records)]!)));
    const billed = (provider: Provider) =>
      billableOf(provider, counters).billable.writes - billableOf(provider, before).billable.writes;
    expect(billed('azure-tables')).toBeLessThan(billed('datastore'));
    await store.close();
  });

  test('a table has a container at least', () => {
    expect(containersOf('azure-tables', { ...WORKLOAD, records: 1 })).toBe(1);
  });
});

/** Filled in calls of 500, without clock and threads. Background splits have ended. */
async function loadedTable(records: number, limits: Partial<DriverLimits> = {}) {
  const { driver, counters } = measured(memoryDriver({ limits }));
  const runtime = new VirtualRuntime();
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table('t'));
  const source = recordSource(1, WORKLOAD.recordBytes);
  const items = Array.from({ length: records }, (_, index) => {
    const { key, fields } = source(index, 0);
    return { key, value: fields };
  });
  for (let first = 0; first < records; first += 500) await runtime.run(table.putMany(items.slice(first, first + 500)));
  await quiet();
  return { runtime, store, table, items, counters };
}

/** The operations that Datastore bills for the work. */
async function billedBy(counters: DriverCounters, work: () => Promise<void>) {
  const before = billableOf('datastore', counters).billable;
  await work();
  return increase(before, billableOf('datastore', counters).billable);
}
