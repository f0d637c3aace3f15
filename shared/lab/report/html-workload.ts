// The page's section of one workload: the table of every cell, and layout against layout.
import type { Workload } from '../kit/dimensions.ts';
import { operationsNeeded } from '../kit/histogram.ts';
import { decimal, dollars, whole, whyUndecided } from '../kit/format.ts';
import { columnsOf, folded, mark } from './html-parts.ts';
import { escape, tableHtml } from '../kit/html.ts';
import { figureHtml, ratioHtml } from './html-summary.ts';
import { totalOf } from '../kit/usage.ts';
import { failedIn, loadWords, PROVIDER_SHORT_NAMES, WORKLOAD_TITLES } from './names.ts';
import type { Comparison, Report, ReportCell } from './schema.ts';

export function workloadHtml(report: Pick<Report, 'cells' | 'comparisons'>, workload: Workload): string {
  const cells = report.cells.filter((cell) => cell.workload === workload);
  const sizes = [...new Set(cells.map(({ recordBytes }) => recordBytes))];
  const parts = sizes.map((recordBytes) => {
    const own = cells.filter((cell) => cell.recordBytes === recordBytes);
    const isOwn = (one: Comparison): boolean => one.workload === workload && one.recordBytes === recordBytes;
    const title = sizes.length > 1 ? `<h3>Records of ${whole(recordBytes)} bytes</h3>` : '';
    return `${title}${cellsTable(own, workload)}${comparisonsTable(report.comparisons.filter(isOwn))}`;
  });
  return `<section id="${workload}"><h2>${escape(WORKLOAD_TITLES[workload])}</h2>
${parts.join('')}</section>`;
}

const PERCENTILES = ['p50 ms', 'p99 ms', 'p99.9 ms'];
const CELL_COLUMNS = ['records/s', ...PERCENTILES, 'billed / 1,000', '$ / million', 'failed', 'retries', 'sound runs'];

function cellsTable(cells: readonly ReportCell[], workload: Workload): string {
  const table = tableHtml({
    caption: `Every cell of ${workload}: medians, and below them the interval of the median`,
    columns: columnsOf(['Cell'], CELL_COLUMNS),
    rows: cells.map(cellRow),
  });
  return `${table}
<p class="words">Small in place of a percentile: the operations of the run that had the fewest, and how many of each run it needs. Longer windows have more.</p>`;
}

function cellRow(cell: ReportCell): string[] {
  const { runs } = cell;
  const failed = failedIn(cell);
  const codes = Object.entries(cell.errors).map(([code, count]) => `${code}: ${count}`);
  const sound = runs.filter(({ isSound }) => isSound).length;
  return [
    nameHtml(cell),
    figureHtml(cell.recordsPerSecond, whole),
    percentileHtml(cell, 'p50Ms', 50),
    percentileHtml(cell, 'p99Ms', 99),
    percentileHtml(cell, 'p999Ms', 99.9),
    figureHtml(cell.billableOperationsPer1000Records, decimal),
    figureHtml(cell.dollarsPerMillionRecords, dollars),
    failed === 0 ? '0' : `${whole(failed)} <small>${escape(codes.join(', '))}</small>`,
    cell.retries === null ? 'hidden' : whole(totalOf(cell.retries)),
    `${sound} of ${runs.length}`,
  ];
}

function nameHtml(cell: ReportCell): string {
  const { provider, layout, containerKib } = cell;
  return `${mark(provider, layout)}&nbsp;${PROVIDER_SHORT_NAMES[provider]} ${layout}${containerKib === null ? '' : ` ${containerKib} KiB`} <small>${loadWords(cell)}</small>`;
}

/** A percentile, or the operations there were of those needed. */
function percentileHtml({ latency, runs }: ReportCell, name: keyof ReportCell['latency'], percentile: number): string {
  const figure = latency[name];
  if (figure !== null) return figureHtml(figure, decimal);
  const fewest = Math.min(...runs.map(({ operations }) => operations));
  return `<small>${whole(fewest)} of ${whole(operationsNeeded(percentile))}</small>`;
}

function comparisonsTable(comparisons: readonly Comparison[]): string {
  if (comparisons.length === 0) return '';
  const alike = comparisons.filter(({ isLikeWithLike }) => isLikeWithLike);
  const undecided = alike.filter(
    ({ recordsPerSecond }) => recordsPerSecond !== null && whyUndecided(recordsPerSecond) !== undefined,
  ).length;
  const rows = comparisons.map((one) => [
    `${PROVIDER_SHORT_NAMES[one.provider]} ${one.numerator}${one.containerKib === null ? '' : ` ${one.containerKib} KiB`} to ${one.denominator} <small>${loadWords(one)}</small>`,
    ratioHtml(one.recordsPerSecond, one.isLikeWithLike),
    ratioHtml(one.dollarsPerMillionRecords, one.isLikeWithLike),
  ]);
  const table = tableHtml({
    caption: 'Layouts against each other at the same load',
    columns: columnsOf(['Cell'], ['throughput', 'dollars a record']),
    rows,
  });
  const isOneRun = alike.every(({ recordsPerSecond }) => recordsPerSecond?.pairs === 1);
  const decided = isOneRun ? 'one run of each' : `${undecided} of ${alike.length} cannot be told apart`;
  const verdict = alike.length === 0 ? 'calls of other sizes' : decided;
  return folded(`Layout against layout at each load: ${verdict}`, table);
}
