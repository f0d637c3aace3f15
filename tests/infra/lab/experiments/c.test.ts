// Document C in small: its rows, and the requests that grouping saves.
import { expect, test } from 'vitest';
import { experimentC } from '../../../../infra/lab/experiments/documents/c.ts';
import { PUBLISHED } from '../../../../infra/lab/experiments/published/published.ts';
import { chapterOf, failuresOf, figureAt, numberAt, structureErrors } from './emulated.ts';

const { chapter } = await chapterOf(experimentC({ rounds: 1, repetitions: 2 }));

test('the tables are whole, and nothing failed', () => {
  expect(structureErrors(chapter)).toEqual([]);
  expect(failuresOf(chapter)).toEqual([]);
});

test('every row that was printed stands with its five rounds', () => {
  const { runs } = PUBLISHED.datastore_size_2009;
  expect(figureAt(chapter, 'seconds', 'big-transaction', 'then-s')).toEqual({ runs: runs.big_transaction });
  expect(figureAt(chapter, 'seconds', 'big-single', 'then-s')).toEqual({ runs: runs.big_single });
  expect(figureAt(chapter, 'seconds', 'small-single', 'then-s')).toEqual({ runs: runs.small_single });
});

test.each([
  ['big-single', 11, 11],
  ['small-single', 11, 11],
  ['big-transaction', 3, 2],
  ['small-transaction', 3, 2],
])('%s: a root and ten records take %i requests on Datastore and %i on Azure', (row, onDatastore, onAzure) => {
  expect(numberAt(chapter, 'spent', row, 'datastore-requests')).toBe(onDatastore);
  expect(numberAt(chapter, 'spent', row, 'azure-tables-requests')).toBe(onAzure);
});

test('a batch without a transaction is one request beside the root, and Azure has none', () => {
  for (const row of ['big-batch', 'small-batch']) {
    expect(numberAt(chapter, 'spent', row, 'datastore-requests')).toBe(2);
    expect(figureAt(chapter, 'spent', row, 'azure-tables-requests')).toEqual({
      missing: 'a batch there is a transaction',
    });
  }
});

test('one putMany of small records is one operation beside the root, put by put ten', () => {
  for (const provider of ['datastore', 'azure-tables']) {
    expect(numberAt(chapter, 'spent', 'store-small-batch', `${provider}-billed`)).toBe(2);
    expect(numberAt(chapter, 'spent', 'store-small-single', `${provider}-billed`)).toBe(11);
  }
});
