// The report of a plan: goals, the file and the page.
import { describe, expect, test } from 'vitest';
import { goalsOf, type PlayedRow } from '../../../../shared/lab/report/modelled/goals.ts';
import { chaptersHtml } from '../../../../shared/lab/report/chapters/html.ts';
import type { ChaptersReport } from '../../../../shared/lab/report/chapters/schema.ts';
import { chaptersText } from '../../../../shared/lab/report/chapters/text.ts';
import { modelReport } from '../../../../shared/lab/report/modelled/report.ts';
import type { ModelCell, ModelResult } from '../../../../shared/lab/cloud/run/cell.ts';
import { type Goal, type PlanInput, planSchema, type RowInput } from '../../../../shared/lab/plan/modelled/plan.ts';
import { plannedRows } from '../../planned-rows.ts';
import { runCell } from '../../../../shared/lab/cloud/run/run-cell.ts';
import { PROCESSOR_DATA } from '../../../../shared/lab/cloud/run/providers.ts';

const PLAN: PlanInput = {
  name: 'test',
  window: { warmupOperationsMax: 20, operationsMax: 50 },
  groups: [
    {
      title: 'Puts <fast>',
      rows: [1, 4].map((callers) => ({
        workload: 'put',
        records: 500,
        callers,
        goals: [{ figure: 'throughput', against: { layout: 'record' }, atLeast: 0.001 }],
      })),
    },
    {
      title: 'Arrivals',
      rows: [{ workload: 'read', records: 500, arrivals: { perSecond: 50, spacing: 'poisson' }, keys: 'zipfian' }],
    },
  ],
};

async function playedOf(settings: ModelCell['settings'] = {}): Promise<PlayedRow[]> {
  const played: PlayedRow[] = [];
  for (const row of plannedRows(PLAN, 4, settings)) {
    const results: ModelResult[] = [];
    for (const cell of row.cells) results.push(await runCell(cell));
    played.push({ row, results });
  }
  return played;
}

async function reported(settings: ModelCell['settings'] = {}): Promise<ChaptersReport> {
  return modelReport(await playedOf(settings), { plan: planSchema.parse(PLAN), seed: 4 });
}

test('the same results make the same bytes', async () => {
  expect(JSON.stringify(await reported())).toBe(JSON.stringify(await reported()));
});

test('every report says at its top that it is a model, and has a line for every cell', async () => {
  const report = await reported();
  const html = chaptersHtml(report);
  expect(html.indexOf('A MODEL, no measurement')).toBeLessThan(html.indexOf('<section'));
  expect(html).toContain('Puts &lt;fast&gt;');
  const lines = report.results.map(({ chapter }) => chapter!.wordTables.flatMap(({ rows }) => rows).length);
  expect(lines.slice(0, 2)).toEqual([2 * 2 * 3, 2 * 2]);
  for (const name of [
    '1 x 1 put, 0.5k: record',
    '1 x 4 put, 0.5k: conditional',
    '1 x 50/s read, zipfian, 0.5k: container',
  ]) {
    expect(html).toContain(name);
    expect(chaptersText(report)).toContain(name);
  }
});

test('the last chapter names the parameters that the figures hang on, and their values', async () => {
  const { lead, results } = await reported({ 'commit.baseMs': 77 });
  expect(lead.join(' ')).toContain(PROCESSOR_DATA.measured);
  const [datastore] = results.at(-1)!.chapter!.wordTables;
  expect(datastore!.about).toContain('datastore-2026-11');
  const commit = datastore!.rows.find(({ name }) => name === 'commit.baseMs');
  expect(commit!.cells.slice(0, 3)).toEqual(['77', expect.stringMatching(/^\d+ to \d+$/), 'measured']);
});

describe('goals', () => {
  const goals: Goal[] = [
    { figure: 'throughput', against: { layout: 'record' }, atLeast: 0.5 },
    { figure: 'p50', against: { layout: 'container', row: 'alone', times: 4 }, atMost: 3 },
    { figure: 'conflicts', atMost: 0.1 },
    { figure: 'p99', atMost: 100 },
  ];
  const put: RowInput = { workload: 'put', providers: ['datastore'] };
  const rows = [
    { ...put, id: 'alone' },
    { ...put, instances: 4, goals },
  ];

  /** Hand-made results with the figures that the goals ask for. */
  function played(): PlayedRow[] {
    const figures = [
      { operationsPerSecond: 100, p50Ms: 10 },
      { operationsPerSecond: 100, p50Ms: 10 },
      { operationsPerSecond: 80, p50Ms: 20, conflictsPerOperation: 0.2, p99Ms: null },
    ];
    const resultOf = (cell: ModelCell, factor: number): ModelResult => {
      const own = figures[['record', 'conditional', 'container'].indexOf(cell.layout)]!;
      return { ...own, operationsPerSecond: own.operationsPerSecond * factor, cell } as unknown as ModelResult;
    };
    const planned = plannedRows({ name: 'goals', groups: [{ title: 'one', rows }] });
    return planned.map((row, at) => ({ row, results: row.cells.map((cell) => resultOf(cell, at + 1)) }));
  }

  test('compare with another layout, with another row, or with a number', () => {
    expect(goalsOf(played(), played()).map(({ verdict, text }) => `${verdict}: ${text}`)).toEqual([
      'holds: Datastore, 4 x 1 put, throughput : record: 0.80; goal: at least 0.5.',
      'holds: Datastore, 4 x 1 put, p50 : 4 x container of "alone": 0.25; goal: at most 3.',
      'does not hold: Datastore, 4 x 1 put, conflicts: 0.20; goal: at most 0.1.',
      // A missing figure is not shown as reached.
      'open: Datastore, 4 x 1 put, p99: not known; goal: at most 100.',
    ]);
  });
});
