// Document B in small: every row that it printed, the expected requests, and a provider that fails.
import { describe, expect, test } from 'vitest';
import { experimentB } from '../../../../infra/lab/experiments/documents/b.ts';
import PUBLISHED from '../../../../infra/lab/experiments/documents/published.json' with { type: 'json' };
import { chapterOf, figureAt, numberAt, structureErrors } from './emulated.ts';

const SMALL = { entities: 1_000, singles: 3, rounds: 1 };

const { chapter, emulated } = await chapterOf(experimentB(SMALL));

describe('then', () => {
  test.each([
    ['baseline', PUBLISHED.azure_tables_2011.runs.baseline],
    ['parallel', PUBLISHED.azure_tables_2011.runs.parallel],
    ['everything', PUBLISHED.azure_tables_2011.runs.everything],
    ['emulator', [15]],
  ])('the five runs of %s stand as they were printed', (row, runs) => {
    expect(figureAt(chapter, 'rates', row, 'then-s')).toEqual({ runs });
  });

  test('a rate is printed, or calculated from each run', () => {
    expect(figureAt(chapter, 'rates', 'single', 'then-rate')).toEqual({ runs: [5] });
    expect(figureAt(chapter, 'rates', 'parallel', 'then-rate')).toEqual({ runs: [1400, 1500] });
    expect(figureAt(chapter, 'rates', 'everything', 'then-rate')).toEqual({
      runs: [10_000 / 7.2, 10_000 / 5.1, 10_000 / 9.9, 2_000, 10_000 / 8.5],
    });
  });

  test('what was tried of connections is told as then alone: one machine cannot judge it', () => {
    expect(chapter.cannotShow[0]).toContain('48 of them (18.07 s)');
    expect(chapter.cannotShow[0]).toContain('17.76 of its baseline');
    expect(chapter.tables.flatMap(({ rows }) => rows).some(({ name }) => /nagle|expect/i.test(name))).toBe(false);
  });
});

describe('now, for 10,000 entities', () => {
  test('seconds are for 10,000 whatever was written, and of the same run as the rate', () => {
    const [seconds, rate] = ['s', 'rate'].map((unit) => numberAt(chapter, 'rates', 'baseline', `azure-tables-${unit}`));
    expect(seconds! * rate!).toBeCloseTo(10_000, 6);
  });

  test('what has no meaning says why', () => {
    for (const row of ['emulator', 'large'])
      expect(figureAt(chapter, 'rates', row, 'azure-tables-rate')).toHaveProperty('missing');
  });
});

test('a provider that does not start shows as such in all of its rows, and the other is measured', async () => {
  const half = await experimentB({ ...SMALL, entities: 200 }).run(emulated.context(undefined, 'datastore'));
  for (const row of ['baseline', 'store-whole'])
    expect(figureAt(half, 'rates', row, 'datastore-rate')).toEqual({ failed: 'datastore does not start' });
  expect(numberAt(half, 'rates', 'baseline', 'azure-tables-rate')).toBeGreaterThan(0);
  expect(structureErrors(half)).toEqual([]);
});

test('one that is stopped before it began has every row of then, and says why now is missing', async () => {
  const stopped = await experimentB(SMALL).run(emulated.context(AbortSignal.abort(new Error('ended early'))));
  expect(figureAt(stopped, 'rates', 'baseline', 'azure-tables-rate')).toEqual({ missing: 'ended early' });
  expect(figureAt(stopped, 'rates', 'baseline', 'then-s')).toHaveProperty('runs');
  expect(stopped.findings.every(({ verdict }) => verdict === 'open')).toBe(true);
});
