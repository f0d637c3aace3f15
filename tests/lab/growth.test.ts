// `npm run growth -- --check` at its smallest size, and a row of `npm run scale`.
import { expect, test } from 'vitest';
import type { Driver } from '../../shared/store/index.ts';
import { callRows, goalRows, missesOf } from '../../shared/lab/growth/rows.ts';
import { play } from '../../shared/lab/scale/play-row.ts';
import { EVEN_PROFILE, type Row } from '../../shared/lab/scale/scale-rows.ts';

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
  const misses = missesOf(await callRows({ records: 1_000, bytes: 300, keys: 'uniform' }, wasteful));
  expect(misses).toContain('get of 1000 records: requests 2.00, at most 1.00');
  expect(misses).toContainEqual(expect.stringMatching(/^count of 1000 records: read [0-9.]+, at most 8\.00$/));
  expect(misses.filter((miss) => /^(load|put)/.test(miss))).toEqual([]);
});

test('a goal that no row is for is missed', () => {
  expect(missesOf([])).toContain('get: no row');
});

const ROW: Row = { work: 'put of one record', instances: 2, callers: 1, records: 10 };

test.each(['plain', 'conditional', 'container'] as const)(
  'a row of which no call ends within the window has figures of 0: %s',
  async (layout) => {
    const times = { warmUpMs: 0, windowMs: 0.001 };
    const played = await play({ row: ROW, layout, profile: EVEN_PROFILE, seed: 1, times });
    expect(played).toMatchObject({ perSecond: 0, requests: 0, writes: 0, slowestCaller: 0 });
  },
);
