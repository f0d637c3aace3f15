// The clouds of then give back what their users published, within 15 %: the rows that their numbers were fitted on, and those that follow.
import { expect, test } from 'vitest';
import { PUBLISHED_ROWS } from '../../cloud/data/published-2007-2011.ts';
import { type ProviderData, ProviderParameters } from '../../../../shared/lab/cloud/data/parameters.ts';
import { AZURE_TABLES_2026_11 } from '../../../../shared/lab/cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import { THEN_A_2008, THEN_B_2010, THEN_C_2009, THEN_E_2011 } from '../../cloud/data/then-2007-2011.ts';
import {
  documentB,
  documentC,
  documentE,
  type DocumentOptions,
  type DocumentRun,
} from '../../../../shared/lab/plan/modelled/documents.ts';
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

test("today's services run them too; their retries carry what is throttled", async () => {
  const [b] = await runs(documentB, AZURE_TABLES_2026_11, 1);
  // 10,000 entities of one partition: 2,000 at once, then as many a second.
  expect(b!.get('everything')).toBeGreaterThan(4);
  const [e] = await runs(documentE, DATASTORE_2026_11, 1);
  expect(e!.get('batched write of 1,000')).toBeLessThan(e!.get('single writes of 1,000')! / 10);
});

/** Kinds of the requests that it sends. */
async function kinds(document: Document, data: ProviderData): Promise<string[]> {
  const parameters = new ProviderParameters(data);
  await document({ parameters, seed: 1, writesMax: 100 });
  return parameters.used.flatMap((name) => (name.endsWith('.baseMs') ? [name.replace('.baseMs', '')] : []));
}

test("each of today's services gets the requests that its SDK sends", async () => {
  expect(await kinds(documentB, DATASTORE_2026_11)).toEqual(['commit']);
  expect(await kinds(documentB, AZURE_TABLES_2026_11)).toEqual(['commit', 'transaction']);
  expect(await kinds(documentE, DATASTORE_2026_11)).toEqual(['commit', 'get', 'getMany']);
  expect(await kinds(documentE, AZURE_TABLES_2026_11)).toEqual(['commit', 'get', 'query', 'transaction']);
});

test('ten writes of a hundred, eight at a time, take as long as two in a row', async () => {
  const parameters = new ProviderParameters(THEN_E_2011);
  const whole = (await documentE({ parameters, seed: 1 })).get('batched write of 1,000')!;
  const parts = (await documentE({ parameters, seed: 1, writesMax: 100 })).get('batched write of 1,000')!;
  // The eight wait for nobody: two rounds of a batch of a hundred.
  const hundred = (await documentE({ parameters, seed: 1 })).get('batched write of 100')!;
  const { middle: startMs } = THEN_E_2011.figures['run.startMs'];
  expect(parts - startMs).toBeCloseTo(2 * (hundred - startMs), 6);
  expect(parts).toBeLessThan(whole);
});
