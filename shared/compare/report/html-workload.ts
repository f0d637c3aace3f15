// The page's section of one workload: its charts, and behind them the table of every cell.
import { LAYOUTS, type Provider, PROVIDERS, type Workload } from '../dimensions.ts';
import { SHAPES } from './chart-panels.ts';
import { callersOf, type Chart, chartsOf, chartWords, layoutsIn, providersIn } from './charts.ts';
import { decimal, dollars, percent, whole } from './format.ts';
import { escape } from './html-parts.ts';
import { figureHtml, ratioHtml } from './html-summary.ts';
import { tableHtml } from './html-table.ts';
import { colourOf, PROVIDER_SHORT_NAMES, SYMBOL_CHARACTERS } from './names.ts';
import type { Comparison, Report, ReportCell } from './schema.ts';
import { loadWords, WORKLOAD_TITLES } from './words.ts';
import { xyChart } from './xy-chart.ts';

export function workloadHtml(report: Pick<Report, 'cells' | 'comparisons'>, workload: Workload): string {
  const cells = report.cells.filter((cell) => cell.workload === workload);
  const sizes = [...new Set(cells.map(({ recordBytes }) => recordBytes))];
  const parts = sizes.map((recordBytes) => {
    const own = cells.filter((cell) => cell.recordBytes === recordBytes);
    const comparisons = report.comparisons.filter(
      (one) => one.workload === workload && one.recordBytes === recordBytes,
    );
    const title = sizes.length > 1 ? `<h3>Records of ${whole(recordBytes)} bytes</h3>` : '';
    return `${title}${chartsOf(own).map(chartHtml).join('')}${cellsTable(own, workload)}${comparisonsTable(comparisons)}`;
  });
  return `<section id="${workload}"><h2>${escape(WORKLOAD_TITLES[workload])}</h2>
${legendHtml(cells)}${parts.join('')}</section>`;
}

/** In each shape; the style shows the one that fits. */
export function chartHtml(chart: Chart): string {
  const drawn = SHAPES.map((shape) => `<div class="${shape.name}" aria-hidden="true">${xyChart(chart, shape)}</div>`);
  return `<figure><figcaption><b>${escape(chart.title)}</b> (${escape(chart.yName)}; both scales logarithmic). ${escape(chart.key)}</figcaption>
<div role="img" aria-label="${escape(chartWords(chart))}">${drawn.join('')}</div></figure>`;
}

export function legendHtml(cells: readonly ReportCell[]): string {
  const groups = providersIn(cells).map((provider) => {
    const layouts = layoutsIn(cells.filter((cell) => cell.provider === provider));
    const keys = layouts.map((layout) => `<span class="key">${mark(provider, layout)} ${layout}</span>`);
    return `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${keys.join(' ')}</span>`;
  });
  return `<p class="legend">${groups.join(' ')} <span class="key">Bars: the interval of a median.</span></p>`;
}

/** The series' colour and symbol, as in the charts. */
function mark(provider: Provider, layout: ReportCell['layout']): string {
  return `<i class="mark" style="color:${colourOf(provider, layout)}" aria-hidden="true">${SYMBOL_CHARACTERS[layout]}</i>`;
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
})}</details>`;
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
  const { provider, layout, containerKib, latency, runs } = cell;
  const failed = sum(cell.errors) + cell.unfinished;
  const codes = Object.entries(cell.errors).map(([code, count]) => `${code}: ${count}`);
  const sound = runs.filter(({ isSound }) => isSound).length;
  return [
    `${mark(provider, layout)}&nbsp;${PROVIDER_SHORT_NAMES[provider]} ${layout}${containerKib === null ? '' : ` ${containerKib} KiB`}`,
    loadWords(cell),
    figureHtml(cell.recordsPerSecond, whole),
    ...[latency.p50Ms, latency.p95Ms, latency.p99Ms, latency.p999Ms].map((figure) => figureHtml(figure, decimal)),
    whole(cell.operations),
    figureHtml(cell.requestsPer1000Records, decimal),
    figureHtml(cell.billableOperationsPer1000Records, decimal),
    figureHtml(cell.dollarsPerMillionRecords, dollars),
    failed === 0 ? '0' : `${whole(failed)} <small>${escape(codes.join(', '))}</small>`,
    cell.retries === null ? 'hidden' : whole(sum(cell.retries)),
    `${sound} of ${runs.length}`,
  ];
}

function comparisonsTable(comparisons: readonly Comparison[]): string {
  if (comparisons.length === 0) return '';
  const undecided = comparisons.filter(({ recordsPerSecond }) => recordsPerSecond?.verdict === 'undecided').length;
  const rows = comparisons.map((one) => [
    `${PROVIDER_SHORT_NAMES[one.provider]} ${one.numerator}${one.containerKib === null ? '' : ` ${one.containerKib} KiB`} to ${one.denominator}`,
    loadWords(one),
    ratioHtml(one.recordsPerSecond, [], one.isLikeWithLike),
    ratioHtml(one.dollarsPerMillionRecords, [], one.isLikeWithLike),
  ]);
  return `<details><summary>Layout against layout at each load: ${undecided} of ${comparisons.length} (${percent(undecided / comparisons.length)}) cannot be told apart</summary>
${tableHtml({
  caption: 'The container layout against the others at the same load',
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
