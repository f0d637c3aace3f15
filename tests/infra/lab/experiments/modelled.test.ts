// The columns of the model: figures where the model plays a row, nothing where it does not, the same every time, and marked as a model's.
import { expect, test } from 'vitest';
import { experimentB } from '../../../../infra/lab/experiments/documents/b/b.ts';
import { MODELLED_B } from '../../../../infra/lab/experiments/documents/b/modelled.ts';
import { experimentC } from '../../../../infra/lab/experiments/documents/c/c.ts';
import { MODELLED_C } from '../../../../infra/lab/experiments/documents/c/modelled.ts';
import { experimentE } from '../../../../infra/lab/experiments/documents/e/e.ts';
import { MODELLED_E } from '../../../../infra/lab/experiments/documents/e/modelled.ts';
import type { Experiment, ExperimentContext } from '../../../../infra/lab/experiments/experiment.ts';
import { type ModelledDocument, modelledCells } from '../../../../infra/lab/experiments/modelled.ts';
import { experimentsHtml } from '../../../../infra/lab/experiments/report/html.ts';
import { experimentsSchema, reportOf } from '../../../../infra/lab/experiments/report/schema.ts';
import { type Chapter, type FigureTable, ratioOf } from '../../../../infra/lab/experiments/results.ts';
import { inRuns, structureErrors } from './emulated.ts';

const { signal } = new AbortController();
const RUNNING = { signal };
const STORE_B = ['store-single', 'store-baseline', 'store-parallel', 'store-whole'];
const STORE_C = ['store-big-single', 'store-small-single', 'store-big-batch', 'store-small-batch'];
const STORE_E = ['put', 'putMany', 'get', 'getMany'];
/** Played for the chapters, and again by whoever asks whether the figures are the same. */
const PLAYED = { B: playedOnce(MODELLED_B), C: playedOnce(MODELLED_C), E: playedOnce(MODELLED_E) };
const B = experimentB({ entities: 100, singles: 1, rounds: 1, modelled: PLAYED.B });
const C = experimentC({ rounds: 1, repetitions: 1, modelled: PLAYED.C });
const E = experimentE({
  rounds: 1,
  loaded: 1,
  recordCounts: [1, 10, 100, 1_000],
  crowds: { callers: [1, 10], windowMs: 1 },
  searches: 0,
  modelled: PLAYED.E,
});

/** Two runs, each of which is played when it is asked for first, and kept. */
function playedOnce(documents: readonly ModelledDocument[]): ModelledDocument[] {
  return inRuns(2, documents).map((document) => {
    const runs = new Map<string, ReturnType<ModelledDocument['play']>>();
    const play: ModelledDocument['play'] = (options) => {
      const name = `${options.parameters.data.provider} ${options.seed}`;
      const run = runs.get(name) ?? document.play(options);
      runs.set(name, run);
      return run;
    };
    return { ...document, play };
  });
}

/** No emulator starts, so only then and the model have figures. */
function chapterOf(experiment: Experiment): Promise<Chapter> {
  const context: ExperimentContext = {
    signal,
    log: () => {},
    emulator: (provider) => Promise.reject(new Error(`${provider} is not started`)),
  };
  return experiment.run(context);
}

function tableOf({ tables }: Chapter, id: string): FigureTable {
  return tables.find((table) => table.id === id)!;
}

/** Ids of the rows that have a figure of the model in this column. */
function played(table: FigureTable, column: string): string[] {
  return table.rows.flatMap(({ id, figures }) => (figures[column] === undefined ? [] : [id]));
}

// Seconds of processor time, before the tests: a test's own time is for what it asks.
const [chapterB, chapterC, chapterE] = [await chapterOf(B), await chapterOf(C), await chapterOf(E)];

test('B: singles, serial, parallel and everything on both providers, and no setting of a connection', () => {
  expect(structureErrors(chapterB)).toEqual([]);
  for (const provider of ['azure-tables', 'datastore']) {
    const rates = tableOf(chapterB, 'rates');
    expect(played(rates, `model-${provider}-rate`)).toEqual([
      'single',
      'baseline',
      'parallel',
      'everything',
      ...STORE_B,
    ]);
    expect(ratioOf(rates, 'single', `model-${provider}-rate`)).toBeLessThan(0.1);
    const seconds = tableOf(chapterB, 'seconds');
    expect(played(seconds, `model-${provider}-s`)).toEqual(['baseline', 'parallel', 'everything', ...STORE_B.slice(1)]);
    expect(seconds.rows.find(({ id }) => id === 'nagle')!.figures).not.toHaveProperty(`model-${provider}-s`);
  }
});

test('C: big and small, in transactions and one by one; a batch of its own on Datastore alone', () => {
  const seconds = tableOf(chapterC, 'seconds');
  const both = ['big-transaction', 'big-single', 'small-single', 'small-transaction'];
  expect(played(seconds, 'model-azure-tables-s')).toEqual([...both, ...STORE_C]);
  expect(played(seconds, 'model-datastore-s')).toEqual([...both, 'big-batch', 'small-batch', ...STORE_C]);
  expect(ratioOf(seconds, 'big-transaction', 'model-datastore-s')).toBeLessThan(0.5);
});

test('E: singles at every number of records, batches from ten on, and writes a second of them', () => {
  expect(structureErrors(chapterE)).toEqual([]);
  for (const provider of ['azure-tables', 'datastore']) {
    const column = `model-${provider}-ms`;
    expect(played(tableOf(chapterE, 'speed-1'), column)).toEqual(['write_single', 'read_single', ...STORE_E]);
    const all = ['write_single', 'write_batch', 'read_single', 'read_batch', ...STORE_E];
    for (const records of [10, 100, 1_000]) {
      const speed = tableOf(chapterE, `speed-${records}`);
      expect(played(speed, column)).toEqual(all);
      expect(ratioOf(speed, 'write_batch', column)).toBeLessThan(0.5);
    }
    expect(played(tableOf(chapterE, 'writes'), `model-${provider}-rate`)).toEqual([
      'write_single',
      'write_batch',
      'put',
      'putMany',
    ]);
  }
});

test.each(
  (['azure-tables', 'datastore'] as const).flatMap((provider) => [
    ['B', provider, PLAYED.B, MODELLED_B] as const,
    ['C', provider, PLAYED.C, MODELLED_C] as const,
    ['E', provider, PLAYED.E, MODELLED_E] as const,
  ]),
)('%s on %s: finite figures, the same ones every time', async (_, provider, played, whole) => {
  const alone = (documents: readonly ModelledDocument[]) => documents.map((one) => ({ ...one, providers: [provider] }));
  const cells = await modelledCells(alone(played), RUNNING);
  expect(await modelledCells(alone(inRuns(2, whole)), RUNNING)).toEqual(cells);
  for (const figures of cells.values())
    for (const figure of Object.values(figures)) {
      const runs = 'runs' in figure ? figure.runs : [];
      expect(runs).toHaveLength(2);
      expect(runs.every((run) => Number.isFinite(run) && run > 0)).toBe(true);
      expect(new Set(runs).size).toBeGreaterThan(1);
    }
});

test('in the data and on the page they are marked as a model', () => {
  const facts = {
    startedAt: '2026-11-22T07:00:00.000Z',
    durationMs: 1,
    machine: { cpu: 'a processor', cores: 2, memoryBytes: 1, platform: 'Linux', node: '24.0.0' },
    versions: {},
    endedBy: null,
  };
  const { id, title, question } = C;
  const report = reportOf(facts, [
    { id, title, question, durationMs: 1, chapter: chapterC, failure: null, endedBy: null },
  ]);
  const table = experimentsSchema.parse(JSON.parse(JSON.stringify(report))).results[0]!.chapter!.tables[0]!;
  const columns = table.columns.filter((column) => column.id.startsWith('model-'));
  expect(columns.map(({ era }) => era)).toEqual(['model', 'model']);
  expect(table.rows[0]!.ratios).toHaveProperty('model-datastore-s');
  expect(table.notes!.join(' ')).toContain('calculated, not measured');
  const html = experimentsHtml(report);
  expect(html).toContain('model: Datastore, 2026');
  expect(html).toContain('calculated, not measured');
  expect(html).toMatch(/stroke-dasharray/);
});

test('a run that fails shows in the rows of its provider, and the other is played', async () => {
  const document: ModelledDocument = {
    ...MODELLED_C[0]!,
    play: (options) =>
      options.parameters.data.provider === 'datastore'
        ? Promise.reject(new Error('refused'))
        : MODELLED_C[0]!.play(options),
  };
  const cells = await modelledCells([document], RUNNING);
  expect(cells.get('big-single')!['model-datastore-s']).toEqual({ failed: 'in the model: refused' });
  expect(cells.get('big-single')!['model-azure-tables-s']).toHaveProperty('runs');
});

test('after the signal nothing is played, and the rows say why', async () => {
  const cells = await modelledCells(MODELLED_C, { signal: AbortSignal.abort(new Error('ended early')) });
  expect(cells.get('big-single')!['model-datastore-s']).toEqual({ missing: 'ended early' });
});
