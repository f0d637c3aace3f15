// What documents published, beside the cells of a run.
import { expect, test } from 'vitest';
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { groupsOf } from '../../../shared/lab/plan/cells.ts';
import { PLANS } from '../../../shared/lab/plan/plan.ts';
import { publishedBesideMeasured, publishedText } from '../../../shared/lab/plan/published.ts';

type Name = keyof typeof PLANS;

/** The plan's cells, as if the run had measured them: each rate differs from all others. */
function besideRunOf(name: Name, scale: number) {
  const cells = groupsOf({ ...PLANS[name], repetitions: 1 }, PROVIDERS)
    .flat()
    .map(({ cell }, at) => {
      return {
        ...cell,
        recordsPerSecond: { median: scale + at },
        dollarsPerMillionRecords: { median: 1 / (scale + at) },
      };
    });
  return publishedBesideMeasured(name, cells)!;
}

test.each<Name>(['document-b', 'document-c', 'document-e'])('%s measures a cell for each of its figures', (name) => {
  for (const { rows } of besideRunOf(name, 100).tables) {
    for (const provider of PROVIDERS) {
      const values = rows.map((row) => row[provider]?.value);
      // Azure Tables has no batched read.
      const missing = rows.filter((row) => row[provider] === null).map(({ cell }) => cell.slice(0, 2).join(' '));
      expect(missing).toEqual(values.includes(undefined) && provider === 'azure-tables' ? ['read-together batch'] : []);
      expect(new Set(values).size, `${provider} of ${rows[0]!.name}`).toBe(rows.length);
    }
  }
});

test('a plan of no document has nothing beside it', () => {
  expect(publishedBesideMeasured('default', [])).toBeUndefined();
});

test('ratios are to the first row, then and on each cloud; what was not measured has none', () => {
  const cell = { provider: 'azure-tables', workload: 'load', callers: 1, recordBytes: 200 } as const;
  const dollarsPerMillionRecords = { median: 1 };
  const beside = publishedBesideMeasured('document-b', [
    { ...cell, layout: 'batch', recordsPerSecond: { median: 4_000 }, dollarsPerMillionRecords },
    { ...cell, layout: 'record', recordsPerSecond: { median: 500 }, dollarsPerMillionRecords },
  ])!;
  const [groups, singles, parallel, , store] = beside.tables[0]!.rows;
  // The document printed 563 entities a second, of five runs.
  expect(groups!.published!.value).toBeCloseTo(563, 0);
  expect(singles).toMatchObject({
    published: { value: 5, ratio: expect.closeTo(0.0089, 4) },
    datastore: null,
    'azure-tables': { value: 500, ratio: 0.125 },
  });
  expect(parallel).toMatchObject({ published: { ratio: expect.closeTo(2.6, 1) }, 'azure-tables': null });
  expect(store!.published).toBeNull();
  expect(publishedText(beside)).toMatch(
    /^ {2}without group transactions +load, record, 1 caller +5\.00 +0\.0089 x +- +- +500 +0\.13 x$/m,
  );
});

test('a size of records tells cells apart', () => {
  const [big, , small] = besideRunOf('document-c', 100).tables[0]!.rows;
  expect(big!.datastore!.value).not.toBe(small!.datastore!.value);
  expect(publishedText(besideRunOf('document-c', 100))).toContain('load, record of 10000 B, 1 caller');
});
