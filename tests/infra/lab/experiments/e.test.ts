// Document E in small: its rows, what a dollar buys worked out by hand, and the searches for the largest numbers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { experimentE } from '../../../../infra/lab/experiments/documents/e/e.ts';
import { MODELLED_E } from '../../../../infra/lab/experiments/documents/e/modelled.ts';
import { largestThat, recordsWithin } from '../../../../infra/lab/experiments/documents/e/maximum.ts';
import { PUBLISHED } from '../../../../infra/lab/experiments/published/published.ts';
import type { Chapter } from '../../../../infra/lab/experiments/results.ts';
import { type Emulated, failuresOf, figureAt, inRuns, numberAt, startEmulated, structureErrors } from './emulated.ts';

const SMALL = {
  rounds: 1,
  loaded: 300,
  recordCounts: [1, 10, 100],
  crowds: { callers: [1, 10], windowMs: 1 },
  searches: 0,
  modelled: inRuns(1, MODELLED_E),
};
const THEN = PUBLISHED.gae_operations_2011;
const OF_THEN = ['write_single', 'write_batch', 'read_single', 'read_batch', 'memcache'] as const;

let emulated: Emulated;
let chapter: Chapter;
beforeAll(async () => {
  emulated = await startEmulated();
  chapter = await experimentE(SMALL).run(emulated.context());
});
afterAll(() => emulated.close());

test('the tables are whole, and nothing failed', () => {
  expect(structureErrors(chapter)).toEqual([]);
  expect(failuresOf(chapter)).toEqual([]);
});

test.each(OF_THEN)('%s: wall and processor time of then at every number of records', (name) => {
  for (const [index, records] of THEN.records.slice(0, 3).entries()) {
    const [wall, cpu] = [THEN[name][index], THEN.cpu_ms[name][index]];
    const missing = { missing: 'not printed' };
    expect(figureAt(chapter, `speed-${records}`, name, 'then-ms')).toEqual(wall === null ? missing : { runs: [wall] });
    expect(figureAt(chapter, `speed-${records}`, name, 'then-cpu')).toEqual(cpu === null ? missing : { runs: [cpu] });
  }
});

test.each(OF_THEN)('%s: the maxima of then', (name) => {
  expect(figureAt(chapter, 'maximum', name, 'then-comfortable')).toEqual({ runs: [THEN.comfortable_in_500_ms[name]] });
  expect(figureAt(chapter, 'maximum', name, 'then-technical')).toEqual({ runs: [THEN.technical_maximum[name]] });
});

describe('for a dollar and a cent', () => {
  test('then as printed, now by the list price: 0.09 dollars for 100,000 writes, 0.03 for reads on Datastore', () => {
    expect(numberAt(chapter, 'price', 'write_single', 'then-perDollar')).toBe(360_000);
    expect(numberAt(chapter, 'price', 'read_single', 'then-perCent')).toBe(21_000);
    expect(numberAt(chapter, 'price', 'memcache', 'then-perDollar')).toBe(6_000_000);
    expect(numberAt(chapter, 'price', 'write_single', 'datastore-perDollar')).toBeCloseTo(100_000 / 0.09, 4);
    expect(numberAt(chapter, 'price', 'write_single', 'datastore-perCent')).toBeCloseTo(1_000 / 0.09, 4);
    expect(numberAt(chapter, 'price', 'read_batch', 'datastore-perDollar')).toBeCloseTo(100_000 / 0.03, 4);
  });

  test('Azure: 0.00036 dollars for 10,000 requests, and a hundred records in one of a batch', () => {
    expect(numberAt(chapter, 'price', 'write_single', 'azure-tables-perDollar')).toBeCloseTo(10_000 / 0.00036, 2);
    expect(numberAt(chapter, 'price', 'write_batch', 'azure-tables-perDollar')).toBeCloseTo(1_000_000 / 0.00036, 0);
    expect(numberAt(chapter, 'price', 'read_batch', 'azure-tables-perDollar')).toBeCloseTo(1_000_000 / 0.00036, 0);
  });

  test('packed, a hundred records are one write on Datastore too, and what the cache answers is not billed', () => {
    expect(numberAt(chapter, 'price', 'putMany', 'datastore-perDollar')).toBeCloseTo(10_000_000 / 0.09, 2);
    for (const provider of ['datastore', 'azure-tables'])
      expect(figureAt(chapter, 'price', 'memcache', `${provider}-perDollar`)).toEqual({ missing: 'nothing is billed' });
  });
});

test('writes a second are those of the wall times, beside the database of then', () => {
  expect(numberAt(chapter, 'writes', 'write_batch', 'then-rate')).toBeCloseTo(100 / 0.37, 6);
  expect(numberAt(chapter, 'writes', 'sql-server', 'then-rate')).toBe(500);
  const ms = numberAt(chapter, 'speed-100', 'write_single', 'datastore-ms');
  expect(numberAt(chapter, 'writes', 'write_single', 'datastore-rate')).toBeCloseTo(100_000 / ms, 6);
});

test('throughput of then at 1 and 10 threads, and over ten instances: 16,000 requests in 180 s', () => {
  expect(numberAt(chapter, 'throughput-rate', 'callers-1', 'then-rate')).toBe(10);
  expect(numberAt(chapter, 'throughput-rate', 'callers-10', 'then-rate')).toBe(70);
  expect(numberAt(chapter, 'throughput-ms', 'callers-10', 'then-ms')).toBe(150);
  expect(numberAt(chapter, 'throughput-rate', 'instances', 'then-rate')).toBeCloseTo(88.889, 3);
});

test('throughput now, of the plain SDK and of this store', () => {
  for (const column of ['datastore-plain', 'datastore-store', 'azure-tables-plain', 'azure-tables-store'])
    for (const row of ['callers-1', 'callers-10'])
      expect(numberAt(chapter, 'throughput-rate', row, `${column}-rate`)).toBeGreaterThan(0);
});

/** An operation on a clock that it moves itself. */
function operation(msEach: number) {
  const clock = { nowMs: 0, calls: [] as number[] };
  const run = async (records: number): Promise<void> => {
    clock.calls.push(records);
    clock.nowMs += records * msEach;
  };
  return { clock, within: (limitMs: number) => recordsWithin(limitMs, { run }, () => clock.nowMs) };
}

describe('records within a time', () => {
  test('their number is doubled until it takes too long, and lies on the line between the last two', async () => {
    const { clock, within } = operation(1);
    expect(await within(500)).toBe(500);
    expect(clock.calls).toEqual([100, 200, 400, 800]);
  });

  test('fewer than the first number that is tried', async () => {
    expect(await operation(25).within(500)).toBe(20);
  });

  test('the search has an end', async () => {
    const { clock, within } = operation(0);
    expect(await within(500)).toBe(102_400);
    expect(clock.calls).toHaveLength(11);
  });
});

/** The largest number up to `limit`, and how often it was tried. */
async function find(limit: number, most: number): Promise<[found: number, tries: number]> {
  let tries = 0;
  const found = await largestThat(async (count) => {
    tries += 1;
    return count <= limit;
  }, most);
  return [found, tries];
}

describe('the largest number that fits', () => {
  test('a small one exactly', async () => {
    expect((await find(100, 32_768))[0]).toBe(100);
    expect((await find(1, 32_768))[0]).toBe(1);
    expect((await find(0, 32_768))[0]).toBe(0);
  });

  test('a large one to a hundredth, in few tries', async () => {
    const [found, tries] = await find(18_100, 32_768);
    expect(found).toBeLessThanOrEqual(18_100);
    expect(found).toBeGreaterThan(18_100 * 0.99);
    expect(tries).toBeLessThan(30);
  });

  test('no more than is tried', async () => {
    expect((await find(Infinity, 32_768))[0]).toBe(32_768);
  });
});
