// The processor table: costs with several in flight, and the form of the data files.
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { BUSY_IN_FLIGHT, costAt } from '../../../../shared/lab/cloud/data/processor.ts';

const measured = z.number().positive();
const fitted = z.number().min(0);
const cost = z.strictObject({ alone: measured, busy: measured });
const fittedCost = z.strictObject({ alone: fitted, busy: fitted });
const batch = z.strictObject({ request: fitted, record: fitted });
const costs = z.strictObject({
  record: z.strictObject({ get: cost, insert: cost, replace: cost, conditional: cost }),
  batch: z.strictObject({ read: batch, write: batch }),
  container: z.strictObject({
    operation: z.strictObject({
      get: fittedCost,
      put: fittedCost,
      update: fittedCost,
      getManyRecord: fitted,
      putManyRecord: fitted,
    }),
    request: z.strictObject({ read: fittedCost, write: fittedCost }),
    entity: z.strictObject({ read: fitted, written: fitted }),
    kib: z.strictObject({ read: fitted, written: fitted }),
  }),
});
const text = z.string().min(1);
const tableSchema = z.strictObject({
  measured: z.iso.date(),
  machine: z.strictObject({ cpu: text, cores: z.int().min(1), platform: text, node: text }),
  packages: z.record(text, text),
  rounds: z.int().min(1),
  costs: z.strictObject({ datastore: costs, 'azure-tables': costs }),
});

describe('the cost of one of several in flight', () => {
  const cost = { alone: 1_000, busy: 100 };

  test('is what was measured, alone and at 32', () => {
    expect(costAt(cost, 1)).toBe(1_000);
    expect(costAt(cost, BUSY_IN_FLIGHT)).toBe(100);
  });

  test('shares what is not its own among all in flight', () => {
    // 100 + 900 x (32 / 2 - 1) / 31; the next has 32 / 8.
    expect(costAt(cost, 2)).toBeCloseTo(535.48, 2);
    expect(costAt(cost, 8)).toBeCloseTo(187.1, 1);
  });

  test('does not fall below the busy one, nor rise above the lone one', () => {
    expect(costAt(cost, 1_000)).toBe(100);
    expect(costAt(cost, 0)).toBe(1_000);
  });
});

const FOLDER = new URL('../../../../shared/lab/cloud/data/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.startsWith('processor-'));

test('there is a measured table', () => {
  expect(files).not.toEqual([]);
});

describe.each(files)('%s', (file) => {
  test('names its day, its machine and its versions, and has a figure for everything', async () => {
    const exported = (await import(new URL(file, FOLDER).href)) as Record<string, unknown>;
    const [name] = Object.keys(exported);
    const table = tableSchema.parse(exported[name!]);
    expect(file).toBe(`processor-${table.measured}.ts`);
    expect(name).toBe(`PROCESSOR_${table.measured.replaceAll('-', '_')}`);
  });
});
