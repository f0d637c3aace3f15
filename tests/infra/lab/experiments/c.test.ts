// Document C in small: its rows, and the requests that grouping saves.
import { expect, test } from 'vitest';
import { experimentC } from '../../../../infra/lab/experiments/documents/c.ts';
import PUBLISHED from '../../../../infra/lab/experiments/documents/published.json' with { type: 'json' };
import { chapterOf, figureAt, numberAt } from './emulated.ts';

const { chapter } = await chapterOf(experimentC({ rounds: 1, repetitions: 2 }));

test('every row that was printed stands with its five rounds', () => {
  for (const [row, runs] of Object.entries(PUBLISHED.datastore_size_2009.runs))
    expect(figureAt(chapter, 'seconds', row.replace('_', '-'), 'then-s')).toEqual({ runs });
});

test('a batch without a transaction is measured where there is one', () => {
  expect(numberAt(chapter, 'seconds', 'big-batch', 'datastore-s')).toBeGreaterThan(0);
  expect(figureAt(chapter, 'seconds', 'big-batch', 'azure-tables-s')).toEqual({
    missing: 'a batch there is a transaction',
  });
});
