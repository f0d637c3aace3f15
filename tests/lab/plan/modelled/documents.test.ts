// The clouds of 2008 to 2011 give back the published figures within 15 %: fitted rows, and others.
import { expect, test } from 'vitest';
import { PUBLISHED_ROWS } from '../../cloud/data/published-2007-2011.ts';
import { type ProviderData, ProviderParameters } from '../../../../shared/lab/cloud/data/parameters.ts';
import { THEN_A_2008, THEN_B_2010, THEN_C_2009, THEN_E_2011 } from '../../cloud/data/then-2007-2011.ts';
import { documentB, documentC, documentE, type DocumentOptions, type DocumentRun } from './documents.ts';
import { read, request, serviceOf, write } from '../../cloud/service/modelled.ts';

type Document = (options: DocumentOptions) => Promise<DocumentRun>;

async function runs(document: Document, data: ProviderData, count: number): Promise<DocumentRun[]> {
  const parameters = new ProviderParameters(data);
  return Promise.all(Array.from({ length: count }, (_, seed) => document({ parameters, seed })));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

const DOCUMENTS = [
  { name: 'B', document: documentB, data: THEN_B_2010, count: 25, middle: mean, share: 0.15 },
  { name: 'C', document: documentC, data: THEN_C_2009, count: 201, middle: median, share: 0.15 },
  { name: 'E', document: documentE, data: THEN_E_2011, count: 1, middle: mean, share: 0.15 },
] as const;

test.each(DOCUMENTS)('document $name: each row, fitted or not, within 15 %', async (one) => {
  const done = await runs(one.document, one.data, one.count);
  const rows = PUBLISHED_ROWS.filter(({ document }) => document === one.name);
  expect([...done[0]!.keys()]).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));
  expect(rows.some(({ isFitted }) => !isFitted)).toBe(true);
  const far = rows
    .map(({ name, value, isFitted }) => ({
      name,
      isFitted,
      off: one.middle(done.map((run) => run.get(name)!)) / value - 1,
    }))
    .filter(({ off }) => Math.abs(off) > one.share);
  expect(far).toEqual([]);
});

test('document A: an entity of 100 KB takes 16 ms to read and 16 ms to write', async () => {
  for (const [kind, access] of [
    ['get', read('a')],
    ['commit', write('a', 100_000)],
  ] as const) {
    const service = serviceOf(THEN_A_2008);
    await service.scheduler.run(
      service.send(request(kind, access), () => 0),
      100,
    );
    expect(service.scheduler.nowMs).toBe(16);
  }
});
