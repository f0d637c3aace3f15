import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { RECORD_FORMS, type RecordForm } from '../../../shared/lab/kit/dimensions.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { fieldBytes, keyOf, randomText, recordSource, tenantOf } from '../../../shared/lab/work/sample-records.ts';
import { openStore } from '../../../shared/store/index.ts';
import { expectBetween, expectWithin } from '../expect-within.ts';
import ycsb from './ycsb.json' with { type: 'json' };

describe.each(RECORD_FORMS)('records of the form %s', (form) => {
  test.each([200, 1_000, 5_003])('hold exactly %i bytes', (recordBytes) => {
    const source = recordSource(7, recordBytes, form);
    for (let index = 0; index < 200; index++) {
      const { fields } = source(index, 0);
      expect(Buffer.byteLength(Object.values(fields).join(''))).toBe(recordBytes);
      expect(fieldBytes({ ...fields, etag: 'of the SDK' })).toBe(recordBytes);
    }
  });

  const text = (seed: number): string =>
    JSON.stringify(Array.from({ length: 100 }, (_, index) => recordSource(seed, 500, form)(index, 0)));

  test('follow from the seed', () => {
    const one = text(7);
    expect(text(8)).not.toBe(one);
    expect(text(7)).toBe(one);
  });
});

test('records of YCSB have ten fields, with the characters that YCSB’s program draws', () => {
  const random = seededRandom(ycsb.seed);
  // YCSB's constructor draws six characters that nobody sees.
  randomText(random, 6);
  expect(Buffer.from(randomText(random, 100))).toEqual(Buffer.from(ycsb.field));
  const { fields } = recordSource(ycsb.seed, 1_000, 'ycsb')(0, 0);
  expect(Object.values(fields).map((field) => field.length)).toEqual(Array.from({ length: 10 }, () => 100));
});

test('the fields of records repeat after sixteen MiB', () => {
  const source = recordSource(1, 2 ** 20, 'text');
  expect(source(0, 0).fields).not.toBe(source(15, 0).fields);
  expect(source(0, 0).fields).toBe(source(16, 0).fields);
});

test('text in a page of 8 KiB compresses to between 40 and 65 percent', () => {
  const source = recordSource(1, 500, 'text');
  const page = Buffer.from(JSON.stringify(Array.from({ length: 16 }, (_, index) => source(index * 37, 0))));
  expectBetween(zstdCompressSync(page).length / page.length, 0.4, 0.65);
});

/** Counts the records of 1,000 bytes that one container takes before it splits, up to 20. */
async function recordsOfAContainer(form: RecordForm): Promise<number> {
  await using store = openStore({ driver: memoryDriver() });
  const table = await store.table('one', { order: 'key' });
  const source = recordSource(1, 1_000, form);
  for (let records = 0; ; records += 20) {
    const some = Array.from({ length: 20 }, (_, at) => source(records + at, 0));
    await table.putMany(some.map(({ key, fields }) => ({ key, value: fields })));
    if (table.stats().splits > 0) return records;
  }
}

test('the README says how many of each form a container holds', async () => {
  const readme = readFileSync(new URL('../../../shared/lab/README.md', import.meta.url), 'utf8');
  const told = /holds (?<ycsb>[\d,]+) of YCSB's and (?<text>[\d,]+) of text/.exec(readme.replaceAll(/\s+/g, ' '));
  for (const form of RECORD_FORMS)
    expectWithin(await recordsOfAContainer(form), Number(told!.groups![form]!.replace(',', '')), 0.05);
});

test('keys are unique, unordered and of sixteen tenants, and records loaded together share a tenant', () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => keyOf(index));
  expect(new Set(keys).size).toBe(100_000);
  expect(new Set(keys.map(tenantOf)).size).toBe(16);
  const together = keys.slice(500, 1_000);
  expect(new Set(together.map(tenantOf)).size).toBe(1);
  expect(together.toSorted()).not.toEqual(together);
});
