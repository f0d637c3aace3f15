// The report of a plan: goals, the file and the page.
import { describe, expect, test } from 'vitest';
import { goalsOf, type PlayedRow } from '../../../../shared/lab/report/modelled/goals.ts';
import { modelHtml } from '../../../../shared/lab/report/modelled/html.ts';
import { type ModelReport, modelReport } from '../../../../shared/lab/report/modelled/report.ts';
import { playedText } from '../../../../shared/lab/report/modelled/text.ts';
import type { ModelCell, ModelResult } from '../../../../shared/lab/cloud/run/cell.ts';
import { type PlanInput, planSchema, rowsOf } from '../../../../shared/lab/plan/modelled/plan.ts';
import { runCell } from '../../../../shared/lab/cloud/run/run-cell.ts';
import { PROCESSOR_DATA } from '../../../../shared/lab/cloud/run/providers.ts';

const PLAN: PlanInput = {
  name: 'test',
  window: { warmupOperationsMax: 20, operationsMax: 50 },
  groups: [
    {
      title: 'Puts <fast>',
      across: 'callers',
      rows: [1, 4].map((callers) => ({
        workload: 'put',
        records: 500,
        callers,
        goals: [{ figure: 'throughput', against: { layout: 'record' }, atLeast: 0.001 }],
      })),
    },
    {
      title: 'Arrivals',
      across: 'arrivals',
      rows: [{ workload: 'read', records: 500, arrivals: { perSecond: 50, spacing: 'poisson' }, keys: 'zipfian' }],
    },
  ],
};

async function playedOf(settings: ModelCell['settings'] = {}): Promise<PlayedRow[]> {
  const plan = planSchema.parse(PLAN);
  const rows = rowsOf({ plan, seed: 4, settings: { datastore: settings, 'azure-tables': {} }, processor: true });
  const played: PlayedRow[] = [];
  for (const row of rows) {
    const results: ModelResult[] = [];
    for (const cell of row.cells) results.push(await runCell(cell));
    played.push({ row, results });
  }
  return played;
}

async function reported(settings: ModelCell['settings'] = {}): Promise<ModelReport> {
  return modelReport(await playedOf(settings), { plan: planSchema.parse(PLAN), seed: 4 });
}

describe('the file', () => {
  test('has a cell for each result, and the same bytes each time', async () => {
    const report = await reported();
    expect(report.cells).toHaveLength(2 * (3 + 3 + 2));
    expect(report.cells[0]).toMatchObject({
      group: 'Puts <fast>',
      across: 'callers',
      at: 1,
      cell: { layout: 'record' },
    });
    expect(JSON.stringify(await reported())).toBe(JSON.stringify(report));
  });

  test('says that it is a model, of what, and with which numbers', async () => {
    const { what, clouds, processor } = await reported({ 'commit.baseMs': 77 });
    expect(what).toMatch(/^A MODEL/);
    expect(clouds.map(({ name }) => name)).toEqual(['datastore-2026-11', 'azure-tables-2026-11']);
    expect(processor).toMatchObject({ measured: PROCESSOR_DATA.measured });
    const commit = clouds[0]!.parameters.find(({ name }) => name === 'commit.baseMs');
    expect(commit).toMatchObject({ value: 77, middle: 30, grade: 'measured' });
  });
});

test('the page and the text say at the top that it is a model, and name every case', async () => {
  const played = await playedOf();
  const html = modelHtml(modelReport(played, { plan: planSchema.parse(PLAN), seed: 4 }));
  expect(html.indexOf('A MODEL, no measurement')).toBeLessThan(html.indexOf('<section>'));
  expect(html).toContain('Puts &lt;fast&gt;');
  expect(html).not.toMatch(/<script|src=/);
  // Two charts of a shape each for three figures, of the two groups.
  expect(html.match(/<svg/g)).toHaveLength(2 * 3 * 2);
  for (const name of ['1 x 1 put', '1 x 4 put', '1 x 50/s read, zipfian']) {
    expect(html).toContain(name);
    expect(playedText(played)).toContain(name);
  }
  // Colours of two layouts of a provider are hardly told apart; their symbols are.
  expect(/<p class="legend">.*/.exec(html)![0]).toMatch(/●<\/i> record.*▲<\/i> container/);
});

describe('goals', () => {
  const plan = planSchema.parse({
    name: 'goals',
    groups: [
      {
        title: 'one',
        across: 'nothing',
        rows: [
          { id: 'alone', workload: 'put', providers: ['datastore'] },
          {
            workload: 'put',
            providers: ['datastore'],
            instances: 4,
            goals: [
              { figure: 'throughput', against: { layout: 'record' }, atLeast: 0.5 },
              { figure: 'p50', against: { layout: 'container', row: 'alone', times: 4 }, atMost: 3 },
              { figure: 'conflicts', atMost: 0.1 },
              { figure: 'p99', atMost: 100 },
            ],
          },
        ],
      },
    ],
  } satisfies PlanInput);

  /** Results with the figures that the goals ask for, by hand. */
  function played(): PlayedRow[] {
    const rows = rowsOf({ plan, seed: 1, settings: { datastore: {}, 'azure-tables': {} }, processor: true });
    const figures = [
      { operationsPerSecond: 100, p50Ms: 10 },
      { operationsPerSecond: 100, p50Ms: 10 },
      { operationsPerSecond: 80, p50Ms: 20, conflictsPerOperation: 0.2, p99Ms: null },
    ];
    const resultOf = (cell: ModelCell, factor: number): ModelResult => {
      const own = figures[['record', 'conditional', 'container'].indexOf(cell.layout)]!;
      return { ...own, operationsPerSecond: own.operationsPerSecond * factor, cell } as unknown as ModelResult;
    };
    return rows.map((row, at) => ({ row, results: row.cells.map((cell) => resultOf(cell, at + 1)) }));
  }

  test('compare with another layout, with another row, or with a number', () => {
    const goals = goalsOf(played()).map(({ what, value, isReached }) => [what, value, isReached]);
    expect(goals).toEqual([
      ['throughput : record', 0.8, true],
      ['p50 : 4 x container of "alone"', 0.25, true],
      ['conflicts', 0.2, false],
      // Too few operations for it: not shown to be reached.
      ['p99', null, false],
    ]);
  });
});
