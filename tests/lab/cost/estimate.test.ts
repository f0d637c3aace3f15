// A month's bill: worked out by hand, with the arithmetic in the comments, and against the requests
// that the store sends.
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import {
  billableOf,
  dollarsPerMillionRecords,
  METERS,
  operationPriceList,
  type Origin,
  regionOf,
} from '../../../shared/lab/cost/prices.ts';
import {
  type Bill,
  billedSecondsADay,
  containersOf,
  containersTouched,
  ENTITY_BYTES,
  estimateOf,
  monthOf,
  operationsOf,
  type Workload,
} from '../../../shared/lab/cost/estimate.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { type Provider, PROVIDERS, type UsersLayout } from '../../../shared/lab/kit/dimensions.ts';
import { sum } from '../../../shared/lab/kit/numbers.ts';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { increase } from '../../../shared/lab/kit/provider-usage.ts';
import { play } from '../../../shared/lab/scale/play-row.ts';
import { EVEN_PROFILE } from '../../../shared/lab/scale/scale-rows.ts';
import { recordSource, type SampleRecord, unindexedIn } from '../../../shared/lab/work/sample-records.ts';
import { openStore } from '../../../shared/store/index.ts';
import { quiet, VirtualRuntime } from '../../support/virtual-runtime.ts';
import { expectBetween, expectWithin } from '../fakes.ts';
import { entityBytes, propertySizes } from '../../../infra/emulators/azurite-front/entity-size.ts';

const WORKLOAD: Workload = {
  records: 1_000_000,
  recordBytes: 500,
  readsPerDay: 100_000,
  writesPerDay: 10_000,
  deletesPerDay: 1_000,
  scansPerDay: 2,
  recordsPerCall: 1,
  keys: 'random',
  instances: 1,
  roundTripMs: 20,
};

const { datastore, 'azure-tables': azure } = PRICES_2026_11.providers;

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
  ])(
    'are those worked out by hand for %s on %s, with %i records per call',
    (layout, provider, recordsPerCall, ...operations) => {
      const { reads, writes, deletes } = operationsOf(layout, provider, { ...WORKLOAD, recordsPerCall });
      expect([reads, writes, deletes]).toEqual(operations.map((count) => expect.closeTo(count, 6) as number));
    },
  );

  test('have a second read for each container that an instance does not know', () => {
    // 1e9 records fill 772,500 containers; the process knows 1,759.
    const large = { ...WORKLOAD, records: 1_000_000_000, writesPerDay: 0, deletesPerDay: 0, scansPerDay: 0 };
    expect(operationsOf('container', 'azure-tables', large).reads).toBeCloseTo(100_000 * (2 - 1_759 / 772_500), 6);
  });

  test('are fewer if the records of a call lie beside each other', () => {
    // A container holds 1,293.66 records: a call of 500 meets 1 + 499 x 773 / 1,000,000 = 1.385727
    // containers. 11,000 writes are 22 calls.
    const together = { ...WORKLOAD, recordsPerCall: 500, keys: 'together' } as const;
    expect(operationsOf('container', 'datastore', together).writes).toBeCloseTo(22 * 1.385_727, 6);
  });

  test.each([
    // 4 x (1 - 0.75^2) = 1.75. 50 records meet the one container; 1,000 meet nearly all of ten.
    [4, 2, 'random', 1.75],
    [1, 50, 'random', 1],
    [10, 1_000, 'random', 10],
    [2, 10_000_000, 'together', 2],
  ] as const)(
    'are those of the containers that a call touches: of %i containers, %i %s records touch %d',
    (containers, recordsPerCall, keys, touched) => {
      expect(containersTouched(containers, { ...WORKLOAD, recordsPerCall, keys })).toBeCloseTo(touched, 9);
    },
  );
});

test.each<[string, [perDay: number, ms: number][], google: number, azure: number]>([
  // 10 calls a day do not overlap: 10 x 0.1 s on Google, 10 x 1 s on Azure.
  ['one by one while calls are rare', [[10, 20]], 1, 10],
  // Both round 1,001 ms up to 1,100.
  ['in steps above the least', [[1, 1_001]], 1.1, 1.1],
  // A call a second bills 1 - e^-0.1 of 86,400 s on Google (0.1 s a call), on Azure 1 - e^-1.
  ['for time that overlapping calls share', [[86_400, 20]], 8_222.05, 54_615.22],
  [
    // 1,000 calls per second of 0.1 s keep 100 in flight: 4 instances of 32, none ever idle.
    'all day',
    [
      [600 * 86_400, 100],
      [400 * 86_400, 100],
    ],
    4 * 86_400,
    4 * 86_400,
  ],
])('functions are billed %s', (_, calls, ...expected) => {
  const kinds = calls.map(([perDay, ms]) => ({ perDay, ms }));
  const billed = [datastore, azure].map(({ billedPeriod }) => billedSecondsADay(kinds, billedPeriod));
  expect(billed).toEqual(expected.map((seconds) => expect.closeTo(seconds, 2) as number));
});

test('a month of single entities on Azure has the quantities worked out by hand', () => {
  const { gibSeconds, vcpuSeconds, ...others } = monthOf('record', 'azure-tables', WORKLOAD, azure.billedPeriod);
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
  // 111,000 calls a day are billed 1 s each, 2 scans 1,000,000 / 500 x 0.02 = 40 s each.
  expect(gibSeconds).toBeCloseTo((1 - Math.exp(-111_080 / 86_400)) * 86_400 * 30 * 2, 3);
  expect(vcpuSeconds).toBeCloseTo(gibSeconds / 2, 6);
});

test('single entities of a call take a round trip each, and a batch takes one', () => {
  const busy = { ...WORKLOAD, scansPerDay: 0, recordsPerCall: 100 };
  const seconds = (layout: UsersLayout): number =>
    monthOf(layout, 'datastore', busy, datastore.billedPeriod).vcpuSeconds;
  // 1,110 calls a day of 2 s, or of 0.02 s that are billed as 0.1.
  expect(seconds('record')).toBeCloseTo((1 - Math.exp(-2_220 / 86_400)) * 86_400 * 30, 6);
  expect(seconds('batch')).toBeCloseTo((1 - Math.exp(-111 / 86_400)) * 86_400 * 30, 6);
});

function billOf(provider: Provider, region: string): Bill {
  return estimateOf(PRICES_2026_11, provider, region, WORKLOAD).bills.record;
}

describe('a bill', () => {
  test.each<[Provider, region: string, meter: string, dollars: number, freeDollars: number]>([
    // 30 x 2,100,000 x 0.03 / 100,000; 30 x 50,000 are free.
    ['datastore', 'us-central1', 'reads', 18.9, 0.45],
    // 30 x 10,000 x 0.09 / 100,000; 20,000 a day would be free: all of it is.
    ['datastore', 'us-central1', 'writes', 0.27, 0.27],
    // 3,330,060 x 0.4 / 1,000,000; 2,000,000 are free on Google, 250,000 on Azure.
    ['datastore', 'us-central1', 'requests', 1.332_024, 0.8],
    ['azure-tables', 'eastus', 'requests', 1.332_024, 0.1],
    // 29.336661 x 0.12 and x 0.087; 1 GiB and 100 GiB are free.
    ['datastore', 'us-central1', 'egressGib', 3.520_399, 0.12],
    ['azure-tables', 'eastus', 'egressGib', 2.552_29, 2.552_29],
  ])('of %s in %s: %s cost %d dollars, of which %d are free', (provider, region, meter, ...[dollars, freeDollars]) => {
    const line = billOf(provider, region).lines.find((one) => one.meter === meter)!;
    expect(line.dollars).toBeCloseTo(dollars, 5);
    expect(line.freeDollars).toBeCloseTo(freeDollars, 5);
  });

  test('has a line for each meter of the provider, and their sum', () => {
    const { lines, dollars } = billOf('azure-tables', 'eastus');
    expect(lines.map(({ meter }) => meter)).toEqual(METERS.filter((meter) => meter !== 'vcpuSeconds'));
    expect(dollars).toBeCloseTo(sum(lines.map((line) => line.dollars)), 12);
  });
});

describe('in the figures behind estimates,', () => {
  test('a put of several instances is billed as the formula says', async () => {
    const row = { work: 'put', instances: 4, callers: 4, records: 20_000 } as const;
    const times = { warmUpMs: 1_000, windowMs: 500 };
    const played = await play({ row, layout: 'container', profile: EVEN_PROFILE, times, seed: 1 });
    const puts = { ...WORKLOAD, readsPerDay: 0, deletesPerDay: 0, scansPerDay: 0, writesPerDay: 1, instances: 4 };
    const { reads, writes } = operationsOf('container', 'datastore', puts);
    expectWithin(played.reads + played.writes, reads + writes, 0.1);
  });

  test.each(PROVIDERS)('the stored bytes of an entity are those of the published formula: %s', (provider) => {
    for (const recordBytes of [300, 500, 2_000]) {
      const source = recordSource(1, recordBytes);
      const sizes = Array.from({ length: 1_000 }, (_, index) => plainBytes(provider, 'Container', source(index, 0)));
      expectWithin(sum(sizes) / sizes.length, ENTITY_BYTES[provider](recordBytes), 0.03);
    }
  });

  test('the store sends what the formula counts, by the containers that calls touch', async () => {
    const records = 10_000;
    const { store, table, items, counters } = await loadedTable(records);
    const random = seededRandom(7);
    const drawn = (count: number) => Array.from({ length: count }, () => items[randomInt(random, records)]!);

    const scanned = await billedBy(counters, async () => {
      let seen = 0;
      for await (const { key } of table.scan()) seen += key.length > 0 ? 1 : 0;
      expect(seen).toBe(records);
    });
    // A load leaves 10,000 x 309 bytes / 400,000 = 7.7 containers.
    expect(scanned).toMatchObject({ writes: 0, deletes: 0 });
    expectWithin(scanned.reads, containersOf('datastore', { ...WORKLOAD, records }), 0.25);

    // Ten calls of 100 random records read or write every container that they touch.
    const expected = 10 * containersTouched(scanned.reads, { ...WORKLOAD, records, recordsPerCall: 100 });
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
});

/** Filled in calls of 500, without clock and threads. Background splits have ended. */
async function loadedTable(records: number) {
  const { driver, counters } = measured(memoryDriver());
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
  return { store, table, items, counters };
}

/** The operations that Datastore bills for the work. */
async function billedBy(counters: DriverCounters, work: () => Promise<void>) {
  const before = billableOf('datastore', counters).billable;
  await work();
  return increase(before, billableOf('datastore', counters).billable);
}

/** All that has a source. */
function originsIn(value: unknown): Origin[] {
  if (typeof value !== 'object' || value === null) return [];
  return 'source' in value ? [value as Origin] : Object.values(value).flatMap(originsIn);
}

test('each price has its page, the day it was read, and whether the provider’s own page has it', () => {
  const origins = originsIn(PRICES_2026_11);
  // Prices of two regions and of one, free tiers, and periods: the walk reaches all of them.
  expect(origins).toHaveLength(2 * 8 + 7 + 8 + 3 + 2);
  const wrong = origins.filter(
    ({ source, read, isVerified }) =>
      !/^https:\/\/[\w.-]+\.[a-z]+\/\S*$/.test(source) ||
      !/^2026-11-\d{2}$/.test(read) ||
      // A third party's page verifies nothing.
      (isVerified && !/^https:\/\/[\w.]*(google|firebase\.google|microsoft)\.com\//.test(source)),
  );
  expect(wrong).toEqual([]);
  expect(PRICES_2026_11.date).toBe('2026-11');
});

test('a region that has no prices is refused by name', () => {
  expect(() => regionOf(PRICES_2026_11, 'datastore', 'eastus')).toThrow('there are us-central1, nam5');
});

test('Datastore bills each entity of a call, Azure each request, which has one entity or a group of writes', () => {
  const { counters } = measured(memoryDriver());
  const work = { readCalls: 2, entitiesAsked: 5, writeCalls: 3, inserts: 4, patches: 2, replaces: 1, listCalls: 1 };
  const removed = { removeCalls: 1, removals: 6 };
  const did = { ...counters, ...work, ...removed };
  expect(billableOf('datastore', did)).toEqual({
    requests: 2 + 3 + 1 + 1,
    billable: { reads: 5 + 1, writes: 4 + 2 + 1, deletes: 6 },
  });
  expect(billableOf('azure-tables', did)).toEqual({
    requests: 5 + 1 + 3 + 6,
    billable: { reads: 5 + 1, writes: 3, deletes: 6 },
  });
});

test('measured operations are priced in dollars per million records', () => {
  const { datastore, 'azure-tables': azure } = operationPriceList(PRICES_2026_11).providers;
  // 2 reads at $0.03, 1 write at $0.09, 0.5 deletes at $0.01 per 100,000: $0.00000155 a record.
  const billable = { reads: 4_000, writes: 2_000, deletes: 1_000 };
  expect(dollarsPerMillionRecords(billable, 2_000, datastore)).toBeCloseTo(1.55, 10);
  // 1,000 requests for 100,000 records: 10,000 requests a million, at 0.00036 dollars per 10,000.
  const requests = { reads: 0, writes: 1_000, deletes: 0 };
  expect(dollarsPerMillionRecords(requests, 100_000, azure)).toBeCloseTo(0.00036, 10);
});

/** Bytes that an entity, and an index entry, takes beside its contents. */
const DATASTORE_ROW_BYTES = 32;
const DATASTORE_KEY_BYTES = 16;

/** With the index entries that the fields of the baseline's entities have. */
export function plainBytes(provider: Provider, kind: string, { key, fields }: SampleRecord): number {
  // Azure Tables has no indexes beside the keys.
  if (provider === 'azure-tables') return entityBytes('', key.slice(1), propertySizes(fields));
  const keyBytes = text(kind) + text(key) + DATASTORE_KEY_BYTES;
  const properties = Object.entries(fields).map(([name, value]) => text(name) + text(value));
  const kindEntryBytes = text(kind) + keyBytes + DATASTORE_ROW_BYTES;
  const unindexed = unindexedIn(fields);
  const indexed = Object.entries(fields).filter(([name]) => !unindexed.includes(name));
  const entries = indexed.map(
    ([name, value]) => keyBytes + text(name) + text(value) + text(kind) + DATASTORE_ROW_BYTES,
  );
  // Each indexed property has an ascending and a descending entry.
  return keyBytes + DATASTORE_ROW_BYTES + sum(properties) + kindEntryBytes + 2 * sum(entries);
}

function text(value: string): number {
  return Buffer.byteLength(value) + 1;
}
