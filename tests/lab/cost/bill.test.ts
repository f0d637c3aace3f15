// Bills worked out by hand; the arithmetic stands in the comments.
import { describe, expect, test } from 'vitest';
import { type Provider, PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { billOf } from '../../../shared/lab/cost/bill.ts';
import { billedMs, billedSecondsADay, computeQuantities } from '../../../shared/lab/cost/compute.ts';
import { dollarsPerMillionRecords, operationPrices } from '../../../shared/lab/cost/operations.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import type { Meter, Origin } from '../../../shared/lab/cost/prices.ts';

const { datastore, 'azure-tables': azure } = PRICES_2026_11.providers;

describe('the price list', () => {
  const origins = Object.entries(originsIn(PRICES_2026_11, ''));

  test('gives each number its page, the day it was read, and whether it stood on a page of the provider', () => {
    // The walk reaches every price.
    expect(origins.length).toBeGreaterThan(40);
    const wrong = origins.filter(
      ([, { source, read, isVerified }]) =>
        !/^https:\/\/[\w.-]+\.[a-z]+\/\S*$/.test(source) ||
        !/^2026-11-\d{2}$/.test(read) ||
        typeof isVerified !== 'boolean' ||
        // A third party's page verifies nothing.
        (isVerified && !/^https:\/\/[\w.]*(google|firebase\.google|microsoft)\.com\//.test(source)),
    );
    expect(wrong).toEqual([]);
    expect(PRICES_2026_11.date).toBe('2026-11');
  });

  test('knows an American and a European region on each cloud, and everything of the default one', () => {
    for (const provider of PROVIDERS) {
      const { regions, meters } = PRICES_2026_11.providers[provider];
      expect([...new Set(regions.map(({ continent }) => continent))]).toEqual(['North America', 'Europe']);
      expect(Object.keys(regions[0].prices).toSorted()).toEqual(meters.toSorted());
    }
  });
});

describe('operations', () => {
  test('of a measurement make dollars per million records', () => {
    // 2 reads at $0.03, 1 write at $0.09, 0.5 deletes at $0.01 per 100,000: $0.00000155 a record.
    const billable = { reads: 4_000, writes: 2_000, deletes: 1_000 };
    const google = operationPrices(PRICES_2026_11, 'datastore', 'us-central1');
    expect(dollarsPerMillionRecords(billable, 2_000, google)).toBeCloseTo(1.55, 10);
    // In nam5 every operation costs twice as much.
    const nam5 = operationPrices(PRICES_2026_11, 'datastore', 'nam5');
    expect(dollarsPerMillionRecords(billable, 2_000, nam5)).toBeCloseTo(3.1, 10);
    // 1,000 requests for 100,000 records: 10,000 requests a million, at 0.00036 dollars per 10,000.
    const requests = { reads: 0, writes: 1_000, deletes: 0 };
    const eastus = operationPrices(PRICES_2026_11, 'azure-tables', 'eastus');
    expect(dollarsPerMillionRecords(requests, 100_000, eastus)).toBeCloseTo(0.00036, 10);
  });

  test('have no prices where the list lacks one, or the region', () => {
    expect(() => operationPrices(PRICES_2026_11, 'datastore', 'europe-west1')).toThrow('lack operations');
    expect(() => operationPrices(PRICES_2026_11, 'datastore', 'eastus')).toThrow('there are us-central1, nam5');
  });
});

describe('a bill', () => {
  /** The quantity of each meter, its dollars, how much is free, and the dollars of that. */
  test.each<[Provider, string, [Meter, number, number, number, number][], dollars: number, freeDollars: number]>([
    [
      'datastore',
      'us-central1',
      [
        // 60 x 0.03 = 1.80; free: 30 x 50,000 = 1,500,000 = 15 x 0.03 = 0.45.
        ['reads', 6_000_000, 1.8, 1_500_000, 0.45],
        // 10 x 0.09 = 0.90; free: 30 x 20,000 = 600,000 = 6 x 0.09 = 0.54.
        ['writes', 1_000_000, 0.9, 600_000, 0.54],
        // 3 x 0.01 = 0.03; 600,000 are free, so all of it.
        ['deletes', 300_000, 0.03, 300_000, 0.03],
        // 10 x 0.15 = 1.50; 1 GiB free = 0.15.
        ['storageGib', 10, 1.5, 1, 0.15],
        // 3 x 0.40 = 1.20; free: 2 x 0.40 = 0.80.
        ['requests', 3_000_000, 1.2, 2_000_000, 0.8],
        // 300,000 x 0.000024 = 7.20; free: 180,000 x 0.000024 = 4.32.
        ['vcpuSeconds', 300_000, 7.2, 180_000, 4.32],
        // 600,000 x 0.0000025 = 1.50; free: 360,000 x 0.0000025 = 0.90.
        ['gibSeconds', 600_000, 1.5, 360_000, 0.9],
        // 5 x 0.12 = 0.60; 1 GiB free = 0.12.
        ['egressGib', 5, 0.6, 1, 0.12],
      ],
      // 1.80 + 0.90 + 0.03 + 1.50 + 1.20 + 7.20 + 1.50 + 0.60; free: 0.45 + 0.54 + 0.03 + 0.15 +
      // 0.80 + 4.32 + 0.90 + 0.12.
      14.73,
      7.31,
    ],
    [
      'azure-tables',
      'eastus',
      [
        // 600 x 0.00036 = 0.216; 100 x 0.00036 = 0.036; 30 x 0.00036 = 0.0108; no free tier.
        ['reads', 6_000_000, 0.216, 0, 0],
        ['writes', 1_000_000, 0.036, 0, 0],
        ['deletes', 300_000, 0.0108, 0, 0],
        // 10 x 0.045.
        ['storageGib', 10, 0.45, 0, 0],
        // 3 x 0.40 = 1.20; free: 0.25 x 0.40 = 0.10.
        ['requests', 3_000_000, 1.2, 250_000, 0.1],
        // 600,000 x 0.000026 = 15.60; free: 100,000 x 0.000026 = 2.60.
        ['gibSeconds', 600_000, 15.6, 100_000, 2.6],
        // 150 x 0.087 = 13.05; free: 100 x 0.087 = 8.70.
        ['egressGib', 150, 13.05, 100, 8.7],
      ],
      // 0.216 + 0.036 + 0.0108 + 0.45 + 1.20 + 15.60 + 13.05; free: 0.10 + 2.60 + 8.70.
      30.5628,
      11.4,
    ],
  ])('of %s is each quantity times its price, and the free tier apart', (provider, region, lines, ...totals) => {
    const [dollars, freeDollars] = totals;
    const quantities = Object.fromEntries(lines.map(([meter, quantity]) => [meter, quantity]));
    expect(billOf(quantities, PRICES_2026_11, provider, region)).toEqual({
      lines: lines.map(([meter, quantity, cost, freeQuantity, free]) => ({
        meter,
        quantity,
        dollars: expect.closeTo(cost, 10) as number,
        freeQuantity,
        freeDollars: expect.closeTo(free, 10) as number,
      })),
      dollars: expect.closeTo(dollars, 10) as number,
      freeDollars: expect.closeTo(freeDollars, 10) as number,
      unpriced: [],
    });
  });

  test.each([
    // Free: 50,000 reads a day, 1,500,000 a month.
    [0, 0],
    [1_499_999, 0],
    [1_500_000, 0],
    [1_500_001, 0.000_000_3],
    [1_600_000, 0.03],
  ])('of %i reads costs %d beyond the free tier', (reads, dollars) => {
    const bill = billOf({ reads }, PRICES_2026_11, 'datastore', 'us-central1');
    expect(bill.dollars - bill.freeDollars).toBeCloseTo(dollars, 12);
  });

  test('gives Google’s free egress in North America alone', () => {
    const bills = ['us-central1', 'nam5', 'europe-west1'].map((region) =>
      billOf({ egressGib: 3 }, PRICES_2026_11, 'datastore', region),
    );
    expect(bills.map(({ lines }) => lines.at(-1)?.freeQuantity)).toEqual([1, 1, 0]);
  });

  test('names what has a quantity and no price, and adds up the rest', () => {
    const bill = billOf({ reads: 100_000, writes: 5, deletes: 0 }, PRICES_2026_11, 'datastore', 'europe-west1');
    expect(bill.unpriced).toEqual(['writes']);
    expect(bill.dollars).toBeCloseTo(0.033, 10);
    expect(bill.lines.find(({ meter }) => meter === 'writes')?.dollars).toBeNull();
    expect(bill.lines.find(({ meter }) => meter === 'deletes')?.dollars).toBe(0);
  });

  test.each([
    [{ reads: -1 }, 'reads cannot be -1'],
    [{ writes: NaN }, 'writes cannot be NaN'],
    [{ storageGib: Infinity }, 'storageGib cannot be Infinity'],
    [{ vcpuSeconds: 1 }, 'azure-tables does not bill vcpuSeconds'],
  ])('of %j is refused', (quantities, message) => {
    expect(() => billOf(quantities, PRICES_2026_11, 'azure-tables', 'eastus')).toThrow(message);
  });
});

describe('functions', () => {
  test.each([
    // Google rounds up to 100 ms. Azure does too, but bills at least 1,000 ms.
    [0, 100, 1_000],
    [1, 100, 1_000],
    [100, 100, 1_000],
    [101, 200, 1_000],
    [1_000, 1_000, 1_000],
    [1_001, 1_100, 1_100],
  ])('at work for %i ms are billed %i ms on Google and %i ms on Azure', (durationMs, google, microsoft) => {
    expect(billedMs(durationMs, datastore.billedPeriod)).toBe(google);
    expect(billedMs(durationMs, azure.billedPeriod)).toBe(microsoft);
  });

  const instance = { vcpus: 1, memoryGib: 2, concurrency: 32 };

  const { concurrency } = instance;
  test.each<
    [string, kinds: [callsPerDay: number, durationMs: number][], concurrency: number, google: number, azure: number]
  >([
    // 10 calls a day do not overlap: 10 x 0.1 s on Google, 10 x 1 s on Azure.
    ['one by one while calls are rare', [[10, 20]], concurrency, 1, 10],
    // A call a second bills 1 - e^-0.1 of 86,400 s on Google (0.1 s a call), on Azure 1 - e^-1.
    ['for time that overlapping calls share', [[86_400, 20]], concurrency, 8_222.05, 54_615.22],
    // 1,000 calls a second of 0.1 s keep 100 in flight: 4 instances of 32, none ever idle.
    [
      'all day',
      [
        [600 * 86_400, 100],
        [400 * 86_400, 100],
      ],
      concurrency,
      4 * 86_400,
      4 * 86_400,
    ],
    ['as few as take the load', [[1_000 * 86_400, 100]], 100, 86_400, 86_400],
    ['nothing where nobody calls', [[0, 5]], concurrency, 0, 0],
  ])('are billed %s', (_, kinds, taken, ...expected) => {
    const calls = kinds.map(([callsPerDay, durationMs]) => ({ callsPerDay, durationMs }));
    const billed = [datastore, azure].map(({ billedPeriod }) =>
      billedSecondsADay(calls, { ...instance, concurrency: taken }, billedPeriod),
    );
    expect(billed).toEqual(expected.map((seconds) => expect.closeTo(seconds, 2) as number));
  });

  test('count calls, memory and, on Google, processors', () => {
    const kinds = [{ callsPerDay: 86_400, durationMs: 20 }];
    // The seconds of the test before, at 2 GiB each.
    expect(computeQuantities(kinds, instance, datastore)).toEqual({
      requests: 86_400,
      vcpuSeconds: expect.closeTo(8_222.04, 1) as number,
      gibSeconds: expect.closeTo(16_444.08, 1) as number,
    });
    expect(computeQuantities(kinds, instance, azure)).toEqual({
      requests: 86_400,
      gibSeconds: expect.closeTo(109_230.43, 1) as number,
    });
  });
});

/** Each price, free tier and period that has a source, by its path. */
function originsIn(value: unknown, where: string): Record<string, Origin> {
  if (typeof value !== 'object' || value === null) return {};
  if ('dollars' in value || 'amount' in value || 'leastMs' in value) return { [where]: value as unknown as Origin };
  return Object.assign({}, ...Object.entries(value).map(([name, one]) => originsIn(one, `${where}/${name}`))) as Record<
    string,
    Origin
  >;
}
