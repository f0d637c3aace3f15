// `npm run growth -- --check` at its smallest size.
import { expect, test } from 'vitest';
import type { Driver } from '../../shared/store/index.ts';
import { goalRows, missesOf } from '../../shared/lab/growth/rows.ts';

/** Reads twice, and all parts. */
const wasteful = (driver: Driver): Driver => ({
  ...driver,
  read: async (requests, options) => {
    await driver.read(requests, options);
    return driver.read(
      requests.map(({ id }) => ({ id, parts: 'all' })),
      options,
    );
  },
});

test('a table of 1,000 records reaches every goal of growth', async () => {
  expect(missesOf(await goalRows(1_000))).toEqual([]);
});

test('a store that reads twice, and all parts, misses the goals of reads alone', async () => {
  const misses = missesOf(await goalRows(1_000, wasteful));
  expect(misses).toContain('get of 1000 records: requests 2.00, at most 1.00');
  expect(misses).toContainEqual(expect.stringMatching(/^count of 1000 records: read [0-9.]+, at most 8\.00$/));
  expect(misses.filter((miss) => /^(load|put|3 puts)/.test(miss))).toEqual([]);
});

test('a goal that no row is for is missed', () => {
  expect(missesOf([])).toContain('get: no row');
});
