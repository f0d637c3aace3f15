// The columns of the model: figures where the model plays a row, nothing where it does not, the same every time, and marked as a model's.
import { expect, test } from 'vitest';
import { experimentB } from '../../../../infra/lab/experiments/documents/b.ts';
import { experimentC } from '../../../../infra/lab/experiments/documents/c.ts';
import { experimentE } from '../../../../infra/lab/experiments/documents/e.ts';
import { type ModelledDocument, modelledCells } from '../../../../infra/lab/experiments/modelled.ts';
import { chaptersHtml } from '../../../../shared/lab/report/chapters/html.ts';
import type { DocumentPlan } from '../../../../infra/lab/experiments/plan.ts';
import {
  type Chapter,
  chaptersReport,
  type FigureTable,
  ratioOf,
} from '../../../../shared/lab/report/chapters/schema.ts';
import { contextAlone, structureErrors } from './emulated.ts';

const RUNNING = { signal: new AbortController().signal };
const TWICE = { sdk: 2, store: 2 };
const STORE_B = ['store-single', 'store-baseline', 'store-parallel', 'store-whole'];
const STORE_E = ['put', 'putMany', 'get', 'getMany'];

/** No emulator starts, so only then and the model have figures. */
const C = experimentC({ rounds: 1, repetitions: 1, modelRuns: TWICE });
const [chapterB, chapterC, chapterE] = [
  await experimentB({ entities: 1_000, singles: 10, rounds: 1, modelRuns: TWICE }).run(contextAlone()),
  await C.run(contextAlone()),
  await experimentE({
    rounds: 1,
    loaded: 1_000,
    recordCounts: [1, 10, 1_000],
    callers: [1],
    requests: 1,
    modelRuns: TWICE,
  }).run(contextAlone()),
];

function tableOf({ tables }: Chapter, id: string): FigureTable {
  return tables.find((table) => table.id === id)!;
}

/** Ids of the rows that have a figure of the model in this column: each of two runs, and above 0. */
function played(table: FigureTable, column: string): string[] {
  return table.rows.flatMap(({ id, figures }) => {
    const figure = figures[column];
    if (figure === undefined) return [];
    if (!('runs' in figure)) throw new Error(JSON.stringify(figure));
    expect(figure.runs).toHaveLength(2);
    expect(figure.runs.every((run) => Number.isFinite(run) && run > 0)).toBe(true);
    return [id];
  });
}

test.each(['azure-tables', 'datastore'])(
  'B on %s: singles, serial, parallel and everything, and this store',
  (provider) => {
    expect(structureErrors(chapterB)).toEqual([]);
    const rates = tableOf(chapterB, 'rates');
    const all = ['single', 'baseline', 'parallel', 'everything', ...STORE_B];
    for (const suffix of ['rate', 's']) expect(played(rates, `model-${provider}-${suffix}`)).toEqual(all);
    expect(ratioOf(rates, 'single', `model-${provider}-rate`)).toBeLessThan(0.1);
  },
);

test('C: big and small, in transactions and one by one; a batch of its own on Datastore alone', () => {
  const seconds = tableOf(chapterC, 'seconds');
  const rows = seconds.rows.map(({ id }) => id);
  expect(played(seconds, 'model-datastore-s')).toEqual(rows);
  expect(played(seconds, 'model-azure-tables-s')).toEqual(rows.filter((id) => !/^(big|small)-batch$/.test(id)));
  // The root's own write keeps it from a tenth.
  expect(ratioOf(seconds, 'big-transaction', 'model-datastore-s')).toBeLessThan(0.5);
});

function at(count: number, ids: readonly string[]): string[] {
  return ids.map((id) => `${id}-${count}`);
}

test.each(['azure-tables', 'datastore'])(
  'E on %s: singles at every number of records, batches from ten on',
  (provider) => {
    expect(structureErrors(chapterE)).toEqual([]);
    const column = `model-${provider}-ms`;
    const singles = ['write_single', 'read_single', 'put', 'get'];
    expect(played(tableOf(chapterE, 'speed-1'), column)).toEqual(at(1, singles));
    for (const count of [10, 1_000]) {
      const speed = tableOf(chapterE, `speed-${count}`);
      const all = ['write_single', 'write_batch', 'read_single', 'read_batch', ...STORE_E];
      expect(played(speed, column)).toEqual(at(count, all));
      expect(ratioOf(speed, `write_batch-${count}`, column)).toBeLessThan(0.5);
    }
    expect(played(tableOf(chapterE, 'callers'), `model-${provider}-rate`)).toEqual([]);
  },
);

/** One row of the SDK and one of this store. */
const PLAN: DocumentPlan = {
  providers: ['datastore', 'azure-tables'],
  rounds: 1,
  tables: 'one',
  loaded: 100,
  characters: 50,
  rows: (['sdk', 'store'] as const).map((client) => ({
    id: client,
    name: client,
    against: 'sdk',
    per: 10,
    modelled: 'ten',
    way: { client, verb: 'write', records: 10, group: 1, inFlight: 1, characters: 50 },
  })),
};

/** Ten milliseconds and as many as the seed; refused on one provider. */
function document(refusedOn?: string): ModelledDocument {
  return {
    play: async ({ parameters, seed }) => {
      if (parameters.data.provider === refusedOn) throw new Error('refused');
      return new Map([['ten', 10 + seed]]);
    },
    msOf: (run, { modelled }) => run.get(modelled!)!,
  };
}

test('seeds count from 1, a rate is that of the records, and everything is the same the next time', async () => {
  const cells = await modelledCells(PLAN, document(), TWICE, RUNNING);
  expect(cells.get('sdk')!['model-datastore-ms']).toEqual({ runs: [11, 12] });
  expect(cells.get('sdk')!['model-datastore-rate']).toEqual({ runs: [(10 / 11) * 1_000, (10 / 12) * 1_000] });
  const figure = cells.get('store')!['model-azure-tables-ms']!;
  expect('runs' in figure && new Set(figure.runs).size).toBe(2);
  expect(await modelledCells(PLAN, document(), TWICE, RUNNING)).toEqual(cells);
});

test('a run that fails shows in the rows of its provider, and the other is played', async () => {
  const cells = await modelledCells(PLAN, document('datastore'), TWICE, RUNNING);
  expect(cells.get('sdk')!['model-datastore-ms']).toEqual({ failed: 'in the model: refused' });
  expect(cells.get('sdk')!['model-azure-tables-ms']).toHaveProperty('runs');
});

test('after the signal nothing is played, and the rows say why', async () => {
  const cells = await modelledCells(PLAN, document(), TWICE, { signal: AbortSignal.abort(new Error('ended early')) });
  expect(cells.get('store')!['model-datastore-ms']).toEqual({ missing: 'ended early' });
});

test('on the page they are marked as a model', () => {
  const { id, title, question, source } = C;
  const results = [{ id, title, question, source, chapter: chapterC, failure: null }];
  const html = chaptersHtml(chaptersReport({ title, lead: [], ran: null, endedEarly: null, results, notes: [] }));
  expect(html).toContain('model: Datastore, 2026');
  expect(html).toContain('calculated, not measured');
});
