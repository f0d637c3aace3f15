// What documents published, beside the cells of a run.
import { expect, test } from 'vitest';
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { groupsOf, PLANS } from '../../../shared/lab/plan/plan.ts';
import { publishedText } from '../../../shared/lab/plan/published.ts';

const DOCUMENTS = ['document-b', 'document-c', 'document-e'] as const;

/** The text of a run that measured all cells of the plan: each rate differs from all others. */
function textOf(name: (typeof DOCUMENTS)[number]): string {
  const items = groupsOf({ ...PLANS[name], repetitions: 1 }, PROVIDERS).flat();
  const cells = items.map(({ cell }, at) => ({
    ...cell,
    recordsPerSecond: { median: 101 + at },
    dollarsPerMillionRecords: { median: 1 / (101 + at) },
  }));
  return publishedText(name, cells);
}

/** The figures that end a row: then, Datastore and Azure, each with its ratio. */
const FIGURES = / (?<then>[\d,.-]+) +\S+(?: x)? +(?<datastore>[\d,.-]+) +\S+(?: x)? +(?<azure>[\d,.-]+) +\S+(?: x)?$/;

test.each(DOCUMENTS)('the plan %s measures a cell of its own for each row on each cloud', (name) => {
  for (const table of textOf(name).split('\n\n').slice(1, -1)) {
    const rows = table.split('\n').slice(1);
    const figures = rows.map((row) => FIGURES.exec(row)!.groups!);
    for (const provider of ['datastore', 'azure'])
      expect(new Set(figures.map((figure) => figure[provider])).size).toBe(rows.length);
    expect(figures.map(({ datastore }) => datastore)).not.toContain('-');
    // Azure Tables has no batched read.
    const missing = rows.filter((_, at) => figures[at]!['azure'] === '-');
    expect(missing.every((row) => row.includes('read-together, batch'))).toBe(true);
  }
});

test('a plan of no document has nothing beside it', () => {
  expect(publishedText('default', [])).toBe('');
});

test('ratios are to the first row, then and on each cloud, and missing figures have none', () => {
  const cell = { provider: 'azure-tables', workload: 'load', callers: 1, recordBytes: 200 } as const;
  const dollarsPerMillionRecords = { median: 1 };
  const text = publishedText('document-b', [
    { ...cell, layout: 'batch', recordsPerSecond: { median: 4_000 }, dollarsPerMillionRecords },
    { ...cell, layout: 'record', recordsPerSecond: { median: 500 }, dollarsPerMillionRecords },
  ]);
  // The document printed 563 entities per second, of five runs.
  expect(text).toMatch(/^ {2}group transactions +load, batch, 1 caller +563 +1\.0 x +- +- +4,000 +1\.0 x$/m);
  expect(text).toMatch(
    /^ {2}without group transactions +load, record, 1 caller +5\.00 +0\.0089 x +- +- +500 +0\.13 x$/m,
  );
  expect(text).toMatch(/^ {2}in parallel +load, batch, 3 callers +1,462 +2\.6 x +- +- +- +-$/m);
  expect(text).toMatch(/^ {2}this store +load, container, 1 caller( +-){6}$/m);
});

test('cells with records of another size are told apart', () => {
  expect(textOf('document-c')).toContain('load, record of 10000 B, 1 caller');
});
