// The price list, what is billed of a driver's work, and measured operations in dollars.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { measured } from '../../../shared/drivers/measured.ts';
import {
  billableOf,
  dollarsPerMillionRecords,
  operationPriceList,
  type Origin,
  regionOf,
} from '../../../shared/lab/cost/prices.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';

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
