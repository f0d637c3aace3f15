// The records that a workload's operations are on.
import { expect, test } from 'vitest';
import { type Operation, operationSource } from '../../../shared/lab/work/operation-source.ts';
import { keyOf, tenantEnd } from '../../../shared/lab/work/sample-records.ts';
import { expectWithin } from '../expect-within.ts';
import { cell } from '../fakes.ts';

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

test('scans also begin at inserted records once all before them exist', () => {
  const next = operationSource(cell({ workload: 'ycsb-e', records: 1_000, insertFrom: 5_000 }));
  const early = drawn(next, 1_200);
  const inserted = new Set(early.inserts.map(({ record }) => record.key));
  expect([...early.read].filter((key) => inserted.has(key))).toEqual([]);
  for (const { ended } of early.inserts) ended(true);
  const begun = Array.from({ length: 5_000 }, next).flatMap((one) => (one.kind === 'scan' ? one.from : []));
  // Some 60 of 1,101 places are new, about one in eighteen. The bounds are a third off.
  const share = begun.filter((key) => inserted.has(key)).length / begun.length;
  expectWithin(share, inserted.size / 1_101, 1 / 3);
});

test('a plan may choose the keys in place of the workload', () => {
  const next = operationSource(cell({ workload: 'ycsb-c', keys: 'latest', records: 1_000 }));
  const reads = Array.from({ length: 1_000 }, next).flatMap((one) => (one.kind === 'read' ? one.key : []));
  const times = (index: number): number => reads.filter((key) => key === keyOf(index)).length;
  expect(times(999)).toBeGreaterThan(80);
  expect(times(0)).toBeLessThan(10);
});
