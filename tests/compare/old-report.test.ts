import { describe, expect, test } from 'vitest';
import type { CellResult } from '../../shared/compare/cell/old-cell.ts';
import {
  decodeHistogram,
  encodeHistogram,
  latenciesOf,
  mergeHistograms,
  newHistogram,
  percentilesOf,
  recordLatency,
} from '../../shared/compare/cell/histogram.ts';
import type { MeasuredCell } from '../../shared/compare/plan/coordinator.ts';
import { DEFAULT_PLAN } from '../../shared/compare/plan/old-plan.ts';
import { reportHtml } from '../../shared/compare/report/old-html.ts';
import { reportOf } from '../../shared/compare/report/report.ts';
import { type Circumstances, reportSchema } from '../../shared/compare/report/old-schema.ts';
import { reportText } from '../../shared/compare/report/old-text.ts';
import { PRICES_2026_11 } from '../../shared/cost/prices-2026-11.ts';
import { result } from './fakes.ts';

const CIRCUMSTANCES: Circumstances = {
  startedAt: '2026-11-21T10:00:00.000Z',
  durationMs: 120_000,
  machine: { cpu: 'A <fast> CPU', cores: 2, memoryBytes: 2 ** 34, platform: 'Linux', node: '24.0.0' },
  versions: { stowage: '0.1.0' },
  providers: [
    { provider: 'datastore', ran: true, backend: 'an emulator', isEmulator: true },
    { provider: 'azure-tables', ran: false, backend: 'not there', isEmulator: true },
  ],
};

const measured = (runs: CellResult[]): MeasuredCell => {
  const { provider, layout, workload, concurrency } = runs[0]!;
  return { provider, layout, workload, concurrency, runs };
};

const FAILURE = {
  provider: 'datastore',
  layout: 'record',
  workload: 'read',
  concurrency: 8,
  error: '<b>no</b>',
} as const;

const report = reportOf(
  {
    cells: [
      measured([1_000, 4_000, 3_000].map((records) => result({ layout: 'batch', concurrency: 8, records }))),
      measured([result({ layout: 'batch', concurrency: 32, records: 3_500, processorWait: 0.6 })]),
      measured([9_000, 6_000, 12_000].map((records) => result({ layout: 'container', concurrency: 8, records }))),
    ],
    failures: [FAILURE],
    leftovers: [{ provider: 'datastore', dataset: 'run1c7', error: 'HTTP 503: <gone>' }],
  },
  { ...DEFAULT_PLAN, concurrencies: [8, 32] },
  PRICES_2026_11,
  CIRCUMSTANCES,
);

test('the prices in a report are those of the price list', () => {
  expect(report.prices).toEqual({
    date: '2026-11',
    providers: {
      datastore: {
        region: 'us-central1',
        billed: 'each entity read, written or deleted, batched or not',
        dollarsPerRead: 0.03 / 100_000,
        dollarsPerWrite: 0.09 / 100_000,
        dollarsPerDelete: 0.01 / 100_000,
        source: 'https://cloud.google.com/datastore/pricing',
      },
      'azure-tables': {
        region: 'eastus, standard account, locally redundant (LRS)',
        billed: 'each request; a group transaction counts as one',
        dollarsPerRead: 0.00036 / 10_000,
        dollarsPerWrite: 0.00036 / 10_000,
        dollarsPerDelete: 0.00036 / 10_000,
        source: 'https://azure.microsoft.com/pricing/details/storage/tables/',
      },
    },
  });
});

function encoded(latenciesMs: readonly number[]): string {
  const histogram = newHistogram();
  for (const latencyMs of latenciesMs) recordLatency(histogram, latencyMs);
  return encodeHistogram(histogram);
}

describe('histograms', () => {
  test('merge into one of all samples', () => {
    const merged = mergeHistograms([encoded(Array<number>(98).fill(1)), encoded([50, 100])]);
    expect(merged.totalCount).toBe(100);
    const { p50Ms, p95Ms, p99Ms, maxMs } = percentilesOf(merged);
    expect([p50Ms, p95Ms]).toEqual([1, 1]);
    expect(p99Ms).toBeCloseTo(50, 0);
    expect(maxMs).toBeCloseTo(100, 0);
  });

  test.each([
    [19, []],
    [20, ['p50Ms']],
    [199, ['p50Ms']],
    [200, ['p50Ms', 'p95Ms']],
    [999, ['p50Ms', 'p95Ms']],
    [1_000, ['p50Ms', 'p95Ms', 'p99Ms']],
  ])('of %i operations give the percentiles that ten of them exceed: %j', (operations, expected) => {
    const latencies = latenciesOf(decodeHistogram(encoded(Array<number>(operations).fill(3))));
    const given = (['p50Ms', 'p95Ms', 'p99Ms'] as const).filter((name) => latencies[name] !== null);
    expect(given).toEqual(expected);
    expect(latencies.operations).toBe(operations);
    expect(latencies.maxMs).toBeCloseTo(3, 1);
  });

  test('survive encoding to three digits', () => {
    expect(percentilesOf(decodeHistogram(encoded([1.234]))).p50Ms).toBeCloseTo(1.234, 2);
  });

  test('keep what is longer than a minute as a minute', () => {
    expect(decodeHistogram(encoded([500_000])).totalCount).toBe(1);
  });
});

describe('the report', () => {
  test('keeps its schema', () => {
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  test('shows the median run of a repeated cell, with the rates of all', () => {
    const cell = report.cells[0]!;
    expect(cell.recordsPerSecond).toBe(3_000);
    expect(cell.repetitions).toEqual([1_000, 4_000, 3_000]);
  });

  test('compares layouts at their best concurrency, a repeated one by its median though a single run was faster', () => {
    const [row] = report.summary;
    expect(row?.best.batch).toMatchObject({ recordsPerSecond: 3_000, concurrency: 8 });
    expect(row?.best.container?.recordsPerSecond).toBe(9_000);
    expect(row?.containerToBatch).toBe(3);
    expect(row?.containerToRecord).toBeNull();
  });

  test('spreads what the whole cell spent over its records', () => {
    const [cell] = reportOf(
      { cells: [measured([result()])], failures: [], leftovers: [] },
      DEFAULT_PLAN,
      PRICES_2026_11,
      CIRCUMSTANCES,
    ).cells;
    expect(cell).toMatchObject({
      requests: 100,
      billableOperations: 200,
      requestsPer1000Records: 100,
      billableOperationsPer1000Records: 200,
    });
  });

  test('is readable in a terminal of 120 columns, failures included', () => {
    const text = reportText(report);
    expect(
      Math.max(
        ...text
          .split('\n')
          .slice(1)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(120);
    expect(text).toContain('datastore record read x8: <b>no</b>');
    expect(text).toMatch(/container\s+8\s+9,000\*/);
  });

  test('is a page that loads nothing and runs nothing', () => {
    const html = reportHtml(report);
    expect(html).not.toMatch(/<script|<link|<img|@import|url\((?!#)/i);
    expect(html.match(/<svg/g)?.length).toBeGreaterThanOrEqual(5);
  });

  test('draws each chart for a page and for a phone, in colours that the dark changes', () => {
    const html = reportHtml(report);
    const charts = html.match(/<figure/g)?.length;
    expect(charts).toBeGreaterThanOrEqual(5);
    expect(html.match(/<div class="wide"><svg width="720"/g)).toHaveLength(charts!);
    expect(html.match(/<div class="narrow"><svg width="340"/g)).toHaveLength(charts!);
    const charted = html
      .split('<figure')
      .slice(1)
      .map((rest) => rest.split('</figure>')[0]!)
      .join('');
    const texts = charted.match(/<text [^>]*>/g) ?? [];
    expect(texts.length).toBeGreaterThan(20);
    expect(texts.filter((text) => !text.includes('fill="var(--ink)"'))).toEqual([]);
    expect(charted).toContain('fill="var(--datastore-container)"');
    expect(html).toContain('prefers-color-scheme: dark');
  });

  test('says a dash for a percentile that too few operations bear, beside their number', () => {
    expect(reportHtml(report)).toMatch(
      /<td class="n">1<\/td>\s*<td class="n">2\.00<\/td>\s*<td class="n">-<\/td>\s*<td class="n">-<\/td>/,
    );
    expect(reportText(report)).toMatch(/3,500 +1 +2\.00 +- +- /);
  });

  test.each([
    ['page', reportHtml],
    ['text', reportText],
  ])('warns of a busy machine, and of what could not be removed: %s', (_name, show) => {
    const shown = show(report).replaceAll(/\s+/g, ' ');
    expect(shown).toContain('The machine was busy with other work in 1 of 3 cells');
    expect(shown).toContain('60 %');
    expect(shown).toContain('run1c7');
    const quiet = { ...report, cells: report.cells.filter(({ processorWait }) => processorWait! < 0.2), leftovers: [] };
    expect(show(quiet)).not.toMatch(/busy with|not be removed|NOT REMOVED/);
  });

  test('escapes whatever comes from outside', () => {
    const html = reportHtml(report);
    expect(html).toContain('A &lt;fast&gt; CPU');
    expect(html).toContain('&lt;b&gt;no&lt;/b&gt;');
    expect(html).toContain('HTTP 503: &lt;gone&gt;');
  });
});
