// Document E in small: its rows, and what a dollar buys, worked out by hand.
import { describe, expect, test } from 'vitest';
import { experimentE } from '../../../../infra/lab/experiments/documents/e.ts';
import PUBLISHED from '../../../../infra/lab/experiments/documents/published.json' with { type: 'json' };
import { ratioOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { chapterOf, figureAt, numberAt } from './emulated.ts';

const SMALL = { rounds: 1, loaded: 300, recordCounts: [1, 10, 100], callers: [1, 10], requests: 3 };
const THEN = PUBLISHED.gae_operations_2011;
const OF_THEN = ['write_single', 'write_batch', 'read_single', 'read_batch', 'memcache'] as const;

const { chapter } = await chapterOf(experimentE(SMALL));

test.each(OF_THEN)('%s: wall and processor time of then at every number of records', (name) => {
  for (const [index, records] of THEN.records.slice(0, 3).entries()) {
    const [wall, cpu] = [THEN[name][index], THEN.cpu_ms[name][index]];
    // One record is no batch.
    if (wall === null || cpu === null) continue;
    expect(figureAt(chapter, `speed-${records}`, `${name}-${records}`, 'then-ms')).toEqual({ runs: [wall] });
    expect(figureAt(chapter, `speed-${records}`, `${name}-${records}`, 'then-cpu')).toEqual({ runs: [cpu] });
  }
});

describe('for a dollar and a cent', () => {
  // Datastore: 0.09 dollars for 100,000 writes, 0.03 for reads. Azure: 0.00036 for 10,000 requests.
  test.each([
    ['as printed', 'write_single', 'then', 360_000],
    ['as printed', 'memcache', 'then', 6_000_000],
    ['by the list price', 'write_single', 'datastore', 100_000 / 0.09],
    ['by the list price', 'read_batch', 'datastore', 100_000 / 0.03],
    ['by the list price', 'write_single', 'azure-tables', 10_000 / 0.00036],
    ['a hundred records in one request of a batch', 'write_batch', 'azure-tables', 1_000_000 / 0.00036],
    ['a hundred records in one request of a batch', 'read_batch', 'azure-tables', 1_000_000 / 0.00036],
    ['packed, a hundred records are one write', 'putMany', 'datastore', 10_000_000 / 0.09],
  ])('%s: %s, %s', (_what, row, column, records) => {
    expect(numberAt(chapter, 'price', `${row}-100`, `${column}-perDollar`) / records).toBeCloseTo(1, 9);
  });

  test.each(['datastore', 'azure-tables'])('the cache answers unbilled: %s', (provider) => {
    expect(figureAt(chapter, 'price', 'memcache-100', `${provider}-perDollar`)).toHaveProperty('missing');
  });
});

test('the throughput of then stands beside that of the plain SDK and of this store: seven times as much with ten threads', () => {
  const callers = chapter.tables.find(({ id }) => id === 'callers')!;
  for (const client of ['sdk', 'store']) {
    expect(ratioOf(callers, `${client}-callers-10`, 'then-rate')).toBe(7);
    expect(numberAt(chapter, 'callers', `${client}-callers-10`, 'then-callMs')).toBe(150);
    for (const provider of ['datastore', 'azure-tables'])
      for (const row of [`${client}-callers-1`, `${client}-callers-10`])
        expect(numberAt(chapter, 'callers', row, `${provider}-rate`)).toBeGreaterThan(0);
  }
  expect(numberAt(chapter, 'callers', 'instances', 'then-rate')).toBeCloseTo(88.889, 3);
  expect(chapter.findings.at(-1)!.text).toContain('Ten threads brought 7.0 x the throughput of one');
});
