// The page's section of one workload: its charts, and behind them the table of every cell.
import { LAYOUTS, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import { operationsNeeded } from '../kit/histogram.ts';
import { sumOfStoreCounters } from '../load/store-counters.ts';
import { callersOf, chartsOf } from './charts.ts';
import { decimal, dollars, whole } from '../kit/format.ts';
import { chartHtml, coursesHtml, legendHtml } from './html-charts.ts';
import { escape } from '../kit/html.ts';
import { mark } from './html-parts.ts';
import { figureHtml, ratioHtml } from './html-summary.ts';
import { tableHtml } from '../kit/html-table.ts';
import { PROVIDER_SHORT_NAMES } from './names.ts';
import type { Comparison, Report, ReportCell } from './schema.ts';
import { loadWords, WORKLOAD_TITLES } from './words.ts';

export function workloadHtml(report: Pick<Report, 'cells' | 'comparisons'>, workload: Workload): string {
  const cells = report.cells.filter((cell) => cell.workload === workload);
  const sizes = [...new Set(cells.map(({ recordBytes }) => recordBytes))];
  const parts = sizes.map((recordBytes) => {
    const own = cells.filter((cell) => cell.recordBytes === recordBytes);
    const comparisons = report.comparisons.filter(
      (one) => one.workload === workload && one.recordBytes === recordBytes,
    );
    const title = sizes.length > 1 ? `<h3>Records of ${whole(recordBytes)} bytes</h3>` : '';
    return `${title}${chartsOf(own).map(chartHtml).join('')}${cellsTable(own, workload)}${storeTable(own)}${comparisonsTable(comparisons)}${coursesHtml(own)}`;
  });
  return `<section id="${workload}"><h2>${escape(WORKLOAD_TITLES[workload])}</h2>
${legendHtml(cells)}${parts.join('')}</section>`;
}

const CELL_COLUMNS = [
  'records/s',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'p99.9 ms',
  'operations',
  'requests / 1,000',
  'billed / 1,000',
  '$ / million',
  'failed',
  'retries',
  'sound runs',
];

function cellsTable(cells: readonly ReportCell[], workload: Workload): string {
  return `<details open><summary>Every cell of ${workload}</summary>
${tableHtml({
  caption: `Every cell of ${workload}: medians, and below them the interval of the median`,
  columns: [{ title: 'Cell' }, { title: 'load' }, ...CELL_COLUMNS.map((title) => ({ title, isNumber: true }))],
  rows: inOrder(cells).map(cellRow),
})}
<p class="words">Small in place of a percentile: the operations of the run that had the fewest, and how many of each run the percentile needs, as ten have to be slower.
Longer windows have more.</p></details>`;
}

const STORE_COLUMNS = [
  'commits',
  'conflicts',
  'others’ commits seen',
  'read first',
  'rests',
  'splits',
  'for traffic',
  'lost',
];

/** What the container layout's store did; empty where no cell has one. */
function storeTable(cells: readonly ReportCell[]): string {
  const rows = inOrder(cells).flatMap((cell) => {
    const counted = cell.runs.flatMap(({ store }) => store ?? []);
    if (counted.length === 0) return [];
    const { commits, foreignCommits, readsFirst, rests, splits, splitsByTraffic, lostSplits } =
      sumOfStoreCounters(counted);
    const conflicts = cell.runs.reduce((total, { usage }) => total + usage.conflicts, 0);
    const counts = [commits, conflicts, foreignCommits, readsFirst, rests, splits, splitsByTraffic, lostSplits];
    return [[nameHtml(cell), loadWords(cell), ...counts.map(whole)]];
  });
  if (rows.length === 0) return '';
  return `<details><summary>What the store did in the container layout</summary>
${tableHtml({
  caption: 'Counters of the store, of all runs together, warm-ups included',
  columns: [{ title: 'Cell' }, { title: 'load' }, ...STORE_COLUMNS.map((title) => ({ title, isNumber: true }))],
  rows,
})}
<p class="words">Others are the other instances of a cell. Read first: a commit that was likely to meet another’s read its container before. Rests: pauses while another
instance split a container. Splits are for size or, where many write, for traffic; those that others’ commits prevented are lost.</p></details>`;
}

/** By cloud, layout and load. */
function inOrder(cells: readonly ReportCell[]): ReportCell[] {
  return cells.toSorted((one, other) => seriesPlace(one) - seriesPlace(other) || loadPlace(one) - loadPlace(other));
}

function seriesPlace({ provider, layout }: ReportCell): number {
  return LAYOUTS.length * PROVIDERS.indexOf(provider) + LAYOUTS.indexOf(layout);
}

/** Closed loops before open ones. */
function loadPlace(cell: ReportCell): number {
  return cell.ratePerSecond === null ? callersOf(cell) : OPEN_LOOPS + cell.ratePerSecond;
}

/** More callers than any cell has. */
const OPEN_LOOPS = 1_000_000;

function cellRow(cell: ReportCell): string[] {
  const { runs } = cell;
  const failed = sum(cell.errors) + cell.unfinished;
  const codes = Object.entries(cell.errors).map(([code, count]) => `${code}: ${count}`);
  const sound = runs.filter(({ isSound }) => isSound).length;
  return [
    nameHtml(cell),
    loadWords(cell),
    figureHtml(cell.recordsPerSecond, whole),
    percentileHtml(cell, 'p50Ms', 50),
    percentileHtml(cell, 'p95Ms', 95),
    percentileHtml(cell, 'p99Ms', 99),
    percentileHtml(cell, 'p999Ms', 99.9),
    whole(cell.operations),
    figureHtml(cell.requestsPer1000Records, decimal),
    figureHtml(cell.billableOperationsPer1000Records, decimal),
    figureHtml(cell.dollarsPerMillionRecords, dollars),
    failed === 0 ? '0' : `${whole(failed)} <small>${escape(codes.join(', '))}</small>`,
    cell.retries === null ? 'hidden' : whole(sum(cell.retries)),
    `${sound} of ${runs.length}`,
  ];
}

function nameHtml({ provider, layout, containerKib }: ReportCell): string {
  return `${mark(provider, layout)}&nbsp;${PROVIDER_SHORT_NAMES[provider]} ${layout}${containerKib === null ? '' : ` ${containerKib} KiB`}`;
}

/** Where a run had too few operations: how many, of how many. */
function percentileHtml({ latency, runs }: ReportCell, name: keyof ReportCell['latency'], percentile: number): string {
  const figure = latency[name];
  if (figure !== null) return figureHtml(figure, decimal);
  const fewest = Math.min(...runs.map(({ operations }) => operations));
  return `<small>${whole(fewest)} of ${whole(operationsNeeded(percentile))}</small>`;
}

function comparisonsTable(comparisons: readonly Comparison[]): string {
  if (comparisons.length === 0) return '';
  const alike = comparisons.filter(({ isLikeWithLike }) => isLikeWithLike);
  const undecided = alike.filter(({ recordsPerSecond }) => recordsPerSecond?.verdict === 'undecided').length;
  const rows = comparisons.map((one) => [
    `${PROVIDER_SHORT_NAMES[one.provider]} ${one.numerator}${one.containerKib === null ? '' : ` ${one.containerKib} KiB`} to ${one.denominator}`,
    loadWords(one),
    ratioHtml(one.recordsPerSecond, [], one.isLikeWithLike),
    ratioHtml(one.dollarsPerMillionRecords, [], one.isLikeWithLike),
  ]);
  return `<details><summary>Layout against layout at each load: ${undecided} of ${alike.length} cannot be told apart</summary>
${tableHtml({
  caption: 'Layouts against each other at the same load',
  columns: [
    { title: 'Layouts' },
    { title: 'load' },
    { title: 'throughput', isNumber: true },
    { title: 'dollars a record', isNumber: true },
  ],
  rows,
})}</details>`;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
