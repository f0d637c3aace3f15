// The operations of a workload, the keys that they draw against YCSB's own, and the records.
// ycsb.json holds YCSB's draws, and says how it drew.
import { describe, expect, test } from 'vitest';
import { type Operation, operationSource } from '../../../shared/lab/work/operation-source.ts';
import {
  fieldBytes,
  keyOf,
  randomText,
  recordSource,
  tenantEnd,
  tenantOf,
} from '../../../shared/lab/work/sample-records.ts';
import { cell, expectBetween } from '../fakes.ts';
import { KEY_CHOICES, type KeyChoice, RECORD_FORMS } from '../../../shared/lab/kit/dimensions.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { fnvHash, keyIndexes } from '../../../shared/lab/work/distributions.ts';
import ycsb from './ycsb.json' with { type: 'json' };
import { zstdCompressSync } from 'node:zlib';

type Insert = Extract<Operation, { kind: 'insert' }>;

/** Draws `count` operations: gathers their inserts, and the keys that they read or scan from. */
function drawn(next: () => Operation, count: number): { readonly inserts: Insert[]; readonly read: Set<string> } {
  const [inserts, read] = [[] as Insert[], new Set<string>()];
  for (let at = 0; at < count; at++) {
    const operation = next();
    if (operation.kind === 'insert') inserts.push(operation);
    if (operation.kind === 'read') read.add(operation.key);
    if (operation.kind === 'scan') read.add(operation.from);
  }
  return { inserts, read };
}

test('records are not read while their insert, or one before it, has no answer or failed', () => {
  const next = operationSource(cell({ workload: 'ycsb-d', records: 100, insertFrom: 5_000 }));
  const known = Array.from({ length: 100 }, (_, index) => keyOf(index));
  const first = drawn(next, 2_000);
  expect([...first.read].filter((key) => !known.includes(key))).toEqual([]);

  const [a, b, c, d] = first.inserts.map(({ record }) => record.key);
  expect([a, b]).toEqual([keyOf(5_000), keyOf(5_001)]);
  first.inserts[1]!.ended(true);
  expect(drawn(next, 2_000).read.has(b!)).toBe(false);
  first.inserts[0]!.ended(true);
  const both = drawn(next, 2_000).read;
  expect([both.has(a!), both.has(b!), both.has(c!)]).toEqual([true, true, false]);
  first.inserts[2]!.ended(false);
  first.inserts[3]!.ended(true);
  const without = drawn(next, 2_000).read;
  expect([without.has(b!), without.has(c!), without.has(d!)]).toEqual([true, false, false]);
});

test('scans begin at existing records, end with their tenant, and are from 1 to 100 long', () => {
  const next = operationSource(cell({ workload: 'ycsb-e', records: 100 }));
  const known = new Set(Array.from({ length: 100 }, (_, index) => keyOf(index)));
  const scans = Array.from({ length: 2_000 }, next).filter((operation) => operation.kind === 'scan');
  expect(scans.filter(({ from, to }) => !known.has(from) || to !== tenantEnd(from))).toEqual([]);
  const counts = scans.map(({ count }) => count);
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([1, 100]);
});

test('a plan may choose the keys in place of the workload', () => {
  const next = operationSource(cell({ workload: 'ycsb-c', keys: 'latest', records: 1_000 }));
  const reads = Array.from({ length: 1_000 }, next).flatMap((one) => (one.kind === 'read' ? one.key : []));
  const times = (index: number): number => reads.filter((key) => key === keyOf(index)).length;
  expect(times(999)).toBeGreaterThan(80);
  expect(times(0)).toBeLessThan(10);
});

interface Case {
  readonly distribution: string;
  readonly records: number;
  readonly insertShare: number;
}

/** Draws from the case's records, of which `inserted` are new. */
function drawing({ distribution, records, insertShare }: Case, seed: number, inserted: () => number): () => number {
  const space = { count: () => records + inserted(), insertsExpected: Math.floor(2 * insertShare * records) };
  return keyIndexes(distribution as KeyChoice, space, seededRandom(seed));
}

describe('keys are drawn as YCSB draws them', () => {
  test.each([1_000, 10_001, 2 ** 32, 10 ** 9])('by the same hash, modulo %i', (limit) => {
    const theirs = ycsb.fnvhash64.map(([, hash]) => Number(BigInt(hash!) % BigInt(limit)));
    expect(ycsb.fnvhash64.map(([value]) => fnvHash(Number(value), limit))).toEqual(theirs);
  });

  test.each(ycsb.drawn)('$distribution from $records records and $inserts new ones', (one) => {
    let inserted = 0;
    const draw = drawing(one, ycsb.seed, () => inserted);
    const keys = one.keys.map((_, at) => {
      if (at === 40) inserted = one.inserts;
      return draw();
    });
    expect(keys).toEqual(one.keys);
  });
});

test.each([1, 2, 3])('from %i records each choice draws only existing ones', (count) => {
  for (const choice of KEY_CHOICES) {
    const draw = keyIndexes(choice, { count: () => count, insertsExpected: 0 }, seededRandom(3));
    for (let drawn = 0; drawn < 1_000; drawn++) expect([...Array(count).keys()]).toContain(draw());
  }
});

describe.each(RECORD_FORMS)('records of the form %s', (form) => {
  test.each([200, 1_003])('hold exactly %i bytes', (recordBytes) => {
    const source = recordSource(7, recordBytes, form);
    for (let index = 0; index < 50; index++) {
      const { fields } = source(index, 0);
      expect(Buffer.byteLength(Object.values(fields).join(''))).toBe(recordBytes);
      expect(fieldBytes({ ...fields, etag: 'of the SDK' })).toBe(recordBytes);
    }
  });

  const text = (seed: number): string =>
    JSON.stringify(Array.from({ length: 10 }, (_, index) => recordSource(seed, 500, form)(index, 0)));

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

test('text in a page of 8 KiB compresses to between 40 and 65 percent', () => {
  const source = recordSource(1, 500, 'text');
  const page = Buffer.from(JSON.stringify(Array.from({ length: 16 }, (_, index) => source(index * 37, 0))));
  expectBetween(zstdCompressSync(page).length / page.length, 0.4, 0.65);
});

test('keys are unique, unordered and of sixteen tenants, and records loaded together share a tenant', () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => keyOf(index));
  expect(new Set(keys).size).toBe(100_000);
  expect(new Set(keys.map(tenantOf)).size).toBe(16);
  const together = keys.slice(500, 1_000);
  expect(new Set(together.map(tenantOf)).size).toBe(1);
  expect(together.toSorted()).not.toEqual(together);
});
