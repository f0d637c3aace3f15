// Container size in small: smaller containers, more requests; every place and size has its figures.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { experimentSize } from '../../../../infra/lab/experiments/documents/size/size.ts';
import type { Chapter } from '../../../../infra/lab/experiments/results.ts';
import { type Emulated, failuresOf, figureAt, numberAt, startEmulated, structureErrors } from './emulated.ts';

const SMALL = { rounds: 1, sizesKib: [16, 128], records: 600, puts: 3, putsOfEach: 1, gets: 3, firstGets: 2 };
const ROWS = ['16-kib', '128-kib', 'own'];
const PLACES = ['memory', 'datastore', 'azure-tables'];

let emulated: Emulated;
let chapter: Chapter;
beforeAll(async () => {
  emulated = await startEmulated();
  chapter = await experimentSize(SMALL).run(emulated.context());
});
afterAll(() => emulated.close());

test('the tables are whole, and nothing failed', () => {
  expect(structureErrors(chapter)).toEqual([]);
  expect(failuresOf(chapter)).toEqual([]);
});

test('every kind of work has time, processor time and requests at every size in every place', () => {
  for (const table of ['load', 'put', 'puts', 'get', 'first', 'scan'])
    for (const row of ROWS)
      for (const place of PLACES)
        for (const suffix of ['ms', 'cpu', 'requests'])
          expect(numberAt(chapter, table, row, `${place}-${table}-${suffix}`)).toBeGreaterThan(0);
});

test.each(PLACES)('a scan and a load take more requests the smaller the containers are: %s', (place) => {
  for (const table of ['load', 'scan']) {
    const [small, middle, own] = ROWS.map((row) => numberAt(chapter, table, row, `${place}-${table}-requests`));
    expect(small).toBeGreaterThan(middle!);
    expect(middle).toBeGreaterThanOrEqual(own!);
  }
});

test('a lone get of what is in memory is one request, whatever the size', () => {
  for (const row of ROWS)
    for (const place of PLACES) expect(numberAt(chapter, 'get', row, `${place}-get-requests`)).toBe(1);
});

test('the bill of a million gets: 0.3 dollars on Datastore, 0.036 on Azure', () => {
  expect(numberAt(chapter, 'bill', '16-kib', 'datastore-get-dollars')).toBeCloseTo(0.3, 10);
  expect(numberAt(chapter, 'bill', '16-kib', 'azure-tables-get-dollars')).toBeCloseTo(0.036, 10);
});

test('a place that does not start shows as such, and the others are measured', async () => {
  const half = await experimentSize({ ...SMALL, sizesKib: [64] }).run(emulated.context(undefined, 'azure-tables'));
  expect(figureAt(half, 'load', '64-kib', 'azure-tables-load-ms')).toEqual({ failed: 'azure-tables does not start' });
  expect(figureAt(half, 'load', '64-kib', 'memory-load-ms')).toHaveProperty('runs');
});
