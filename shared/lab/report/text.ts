// The report for a terminal: at most 120 columns, plain ASCII, numbers right-aligned.
import { operationsNeeded } from '../kit/histogram.ts';
import { decimal, dollars, factor, intervalText, whole, whyUndecided } from '../kit/format.ts';
import { cellWords, failedIn, failureWords, loadWords, PROVIDER_NAMES, recordWords, WORKLOAD_TITLES } from './names.ts';
import type { Against, Best, Report, ReportCell, SummaryRow } from './schema.ts';
import { hasSides, shownIn, type SummaryRatio } from './summary.ts';
import { textTable, wrapped } from '../kit/text-table.ts';
import { disturbances, unlikePlaces, whereWords } from './warnings.ts';

export function reportText(report: Report): string {
  const parts = [
    headingText(report),
    ...workloadsText(report),
    warningsText(report),
    searchesText(report),
    againstText(report.against),
    summaryText(report),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function headingText({ plan, places }: Report): string {
  const title = `Plan "${plan.name}", ${recordWords(plan)}, ${plan.repetitions} ${plan.repetitions === 1 ? 'run' : 'runs'} of each cell, seed ${plan.seed}`;
  return [title, ...wrapped(whereWords(places))].join('\n');
}

const CELL_COLUMNS = [
  'provider',
  'layout',
  'load',
  'records/s',
  'interval',
  'p50 ms',
  'p99 ms',
  'billed/1k',
  '$/1M',
  'failed',
];

function workloadsText({ cells }: Report): string[] {
  const sections = Map.groupBy(cells, ({ workload, recordBytes }) => `${WORKLOAD_TITLES[workload]}, ${recordBytes} B`);
  return [...sections].map(([title, own]) => `${title}\n${textTable(CELL_COLUMNS, own.map(cellRow), 3)}`);
}

function cellRow(cell: ReportCell): string[] {
  const { latency, recordsPerSecond } = cell;
  return [
    cell.provider,
    cell.layout + (cell.containerKib === null ? '' : ` ${cell.containerKib}K`),
    loadWords(cell),
    whole(recordsPerSecond.median),
    intervalText(recordsPerSecond, whole),
    ...[latency.p50Ms, latency.p99Ms].map((figure) => (figure === null ? '-' : decimal(figure.median))),
    decimal(cell.billableOperationsPer1000Records.median),
    dollars(cell.dollarsPerMillionRecords.median),
    String(failedIn(cell)),
  ];
}

function warningsText(report: Report): string {
  const { endedEarly, failures, leftOut, leftovers, providers } = report;
  return [
    ...(endedEarly === null ? [] : wrapped(`ENDED BEFORE ITS LAST RUN: ${endedEarly}`)),
    ...[...unlikePlaces(report.places), ...disturbances(report)].flatMap((line) => wrapped(`WARNING: ${line}`)),
    ...under('FAILED RUNS', failures.map(failureWords)),
    ...providers.filter(({ ran }) => !ran).map(({ provider, why }) => `Left out: ${PROVIDER_NAMES[provider]}: ${why}`),
    ...leftOut.map(({ provider, layout, workload, why }) => `Left out: ${provider} ${layout}, ${workload}: ${why}`),
    ...under(
      'NOT REMOVED, delete it yourself:',
      leftovers.map(({ provider, dataset, error }) => `${provider} ${dataset}: ${error}`),
    ),
  ].join('\n');
}

function under(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function searchesText({ searches }: Report): string {
  return searches
    .map(
      ({ search, ratePerSecondHeld, latencyMs, ...cell }) =>
        `${cellWords(cell)}: ${whole(ratePerSecondHeld.median)} operations/s (${intervalText(ratePerSecondHeld, whole)}) hold p${search.percentile} within ${search.latencyMsMax} ms${latencyMs === null ? '' : `: ${decimal(latencyMs.median)} ms when tried again`}`,
    )
    .join('\n');
}

function againstText(against: Against | undefined): string {
  if (against === undefined) return '';
  const { changes, significance, otherwise, startedAt } = against;
  const told = changes.filter(({ verdict }) => verdict !== 'undecided');
  const rows = told.map((change) => [
    cellWords(change),
    change.figure,
    decimal(change.before.median),
    decimal(change.now.median),
    factor(change.ratio),
    change.p.toFixed(3),
  ]);
  return [
    `Against the report of ${startedAt}: ${told.length} of ${changes.length} figures changed by more than chance (Mann-Whitney, p < ${significance})`,
    ...otherwise.flatMap(wrapped),
    ...(rows.length === 0 ? [] : [textTable(['cell', 'figure', 'before', 'now', 'ratio', 'p'], rows, 2)]),
  ].join('\n');
}

function summaryText({ summary, prices }: Report): string {
  if (summary.length === 0) return '';
  const { layouts, ratios } = shownIn(summary);
  const rows = summary.map((row) => [...nameOf(row), ...layouts.map((layout) => bestText(row.best[layout]))]);
  const compared = summary.map((row) => [...nameOf(row), ...ratios.map((one) => ratioText(row, one))]);
  const titles = ratios.map(({ title }) => title);
  return [
    textTable(['best of each', 'workload', ...layouts], rows, 2),
    ...(ratios.length === 0 ? [] : [textTable(['its ratios', 'workload', ...titles], compared, 2)]),
    '?: one run, fewer than six sound ones, or not told apart. Calls differ: in the records that one hands over; no ratio.',
    'To batch is that of container-batch where container hands over single records.',
    `-: too few operations for this percentile in a run's window (p99 needs ${whole(operationsNeeded(99))}); longer windows have more.`,
    `Dollars are list prices of ${prices.date}, operations only.`,
  ].join('\n');
}

function nameOf({ provider, workload, recordBytes }: SummaryRow): string[] {
  return [provider, `${workload} ${recordBytes}B`];
}

function bestText(best: Best | null): string {
  if (best === null) return '-';
  const load = best.ratePerSecond === null ? `x${best.callers * best.instances}` : `${whole(best.ratePerSecond)}/s`;
  return `${whole(best.recordsPerSecond.median)} (${load})`;
}

function ratioText(row: SummaryRow, one: SummaryRatio): string {
  const ratio = row[one.name];
  if (ratio === null) return hasSides(row, one) ? 'calls differ  ' : '-';
  return `${factor(ratio.ratio)} ${whyUndecided(ratio) === undefined ? ' ' : '?'}`;
}
