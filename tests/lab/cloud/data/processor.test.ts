// The processor table: costs with several in flight, and the form of the data files.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { costAt, type ProcessorTable } from '../../../../shared/lab/cloud/data/processor.ts';

// 100 + 900 x (32 / 2 - 1) / 31; the next has 32 / 8.
test.each([
  [0, 1_000],
  [1, 1_000],
  [2, 535.48],
  [8, 187.1],
  [32, 100],
  [1_000, 100],
])('one of %i in flight costs %d of 1,000 alone and 100 in 32', (inFlight, cost) => {
  expect(costAt({ alone: 1_000, busy: 100 }, inFlight)).toBeCloseTo(cost, 2);
});

const FOLDER = new URL('../../../../shared/lab/cloud/data/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.startsWith('processor-'));

test('there is a measured table', () => {
  expect(files).not.toEqual([]);
});

test.each(files)('%s is named by its day, and has no figure below nothing', async (file) => {
  const exported = (await import(new URL(file, FOLDER).href)) as Record<string, ProcessorTable>;
  const [[name, table] = ['', undefined]] = Object.entries(exported);
  expect(file).toBe(`processor-${table!.measured}.ts`);
  expect(name).toBe(`PROCESSOR_${table!.measured.replaceAll('-', '_')}`);
  const figures = numbersIn(table!.costs);
  expect(figures.length).toBeGreaterThan(50);
  expect(figures.filter((figure) => !(figure >= 0))).toEqual([]);
  for (const { record } of Object.values(table!.costs)) expect(Math.min(...numbersIn(record))).toBeGreaterThan(0);
});

function numbersIn(value: object): number[] {
  return Object.values(value).flatMap((one: number | object) => (typeof one === 'object' ? numbersIn(one) : [one]));
}
