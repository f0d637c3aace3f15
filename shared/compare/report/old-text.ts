// The report for a terminal: at most 110 columns, plain ASCII, numbers right-aligned.
import { busyWarning } from './old-busy-warning.ts';
import { PROVIDER_NAMES } from './names.ts';
import type { Report, ReportCell, SummaryRow } from './old-schema.ts';
import { sameCallSize } from './summary.ts';

/** The whole text, with a final newline. */
export function reportText(report: Report): string {
  const parts = [
    heading(report),
    ...sections(report),
    warningsText(report),
    failuresText(report),
    summaryText(report),
    whereText(report),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function heading({ machine, plan, providers }: Report): string {
  const ran = providers.map(({ provider, backend }) => `${PROVIDER_NAMES[provider]}: ${backend}`);
  return [
    `Comparison "${plan.name}": ${plan.recordBytes}-byte records, ${machine.cores} x ${machine.cpu}, Node ${machine.node}`,
    ...ran,
  ].join('\n');
}

const TITLES = {
  load: 'load: 500 new records a call',
  read: 'read: uniform keys; batch: 500 keys a lookup on Datastore, single gets on Azure',
  update: 'update: half reads, half writes, zipfian keys; batch: 500 operations a call on Datastore, 100 on Azure',
} as const;

const COLUMNS = [
  'provider',
  'layout',
  'callers',
  'records/s',
  'ops',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'req/1k',
  'billed/1k',
  '$/1M',
  'errors',
  'retries',
];

function sections({ cells }: Report): string[] {
  return (['load', 'read', 'update'] as const).flatMap((workload) => {
    const some = cells.filter((cell) => cell.workload === workload);
    if (some.length === 0) return [];
    const sorted = some.toSorted(
      (one, other) => seriesOf(one).localeCompare(seriesOf(other)) || one.concurrency - other.concurrency,
    );
    return [`${TITLES[workload]}\n${table(COLUMNS, sorted.map(rowOf), 2)}`];
  });
}

function seriesOf({ provider, layout }: ReportCell): string {
  const order = { record: 1, conditional: 2, batch: 3, container: 4 }[layout];
  return `${provider === 'datastore' ? 0 : 1}${order}`;
}

function rowOf(cell: ReportCell): string[] {
  return [
    cell.provider,
    cell.layout,
    String(cell.concurrency),
    whole(cell.recordsPerSecond) + (cell.repetitions.length > 1 ? '*' : ' '),
    whole(cell.operations),
    ...[cell.p50Ms, cell.p95Ms, cell.p99Ms].map((ms) => (ms === null ? '-' : decimal(ms))),
    decimal(cell.requestsPer1000Records),
    decimal(cell.billableOperationsPer1000Records),
    dollars(cell.dollarsPerMillionRecords),
    String(cell.errors + cell.unfinished),
    cell.retries === null ? '?' : String(cell.retries),
  ];
}

function warningsText({ cells, leftovers }: Report): string {
  const busy = busyWarning(cells);
  const left = leftovers.map(({ provider, dataset, error }) => `  ${provider} ${dataset}: ${error}`);
  return [
    ...(busy === undefined ? [] : wrapped(`WARNING: ${busy}`)),
    ...(left.length === 0 ? [] : ['NOT REMOVED, delete it yourself:', ...left]),
  ].join('\n');
}

function wrapped(text: string): string[] {
  return text.match(/.{1,110}(?= |$)/g)?.map((line) => line.trim()) ?? [];
}

function failuresText({ failures }: Report): string {
  if (failures.length === 0) return '';
  const lines = failures.map(
    ({ provider, layout, workload, concurrency, error }) =>
      `  ${provider} ${layout} ${workload} x${concurrency}: ${error}`,
  );
  return ['FAILED CELLS', ...lines].join('\n');
}

function summaryText({ summary, plan }: Report): string {
  const header = ['best of each', 'workload', 'record', 'batch', 'container', 'container/batch', 'container/record'];
  const text = table(header, summary.map(summaryRow), 2);
  return [
    text,
    `(n): one record a call against hundreds a call. * median of ${plan.loadRepetitions} runs, of fewer where another concurrency proved better.`,
    'ops: operations that were timed; -: too few for this percentile. ?: the client hides its retries.',
  ].join('\n');
}

function summaryRow({ provider, workload, best, containerToBatch, containerToRecord }: SummaryRow): string[] {
  return [
    provider,
    workload,
    rate(best.record),
    rate(best.batch),
    rate(best.container),
    times(containerToBatch, sameCallSize(best.container, best.batch)),
    times(containerToRecord, sameCallSize(best.container, best.record)),
  ];
}

function whereText({ prices, providers }: Report): string {
  const emulated = providers.some(({ isEmulator, ran }) => isEmulator && ran);
  const caveat = emulated
    ? 'Emulators that share this machine with the functions: compare layouts, do not take the rates for the clouds.\n'
    : '';
  return `${caveat}Dollars are list prices of ${prices.date}, operations only.`;
}

/** In brackets where one call hands over more records than the other: a different kind of operation. */
function times(ratio: number | null, isLike: boolean): string {
  if (ratio === null) return '-';
  const text = `${ratio.toFixed(ratio < 1 ? 2 : 1)} x`;
  return isLike ? `${text} ` : `(${text})`;
}

function rate(best: { readonly recordsPerSecond: number; readonly concurrency: number } | null): string {
  return best === null ? '-' : `${whole(best.recordsPerSecond)} (x${best.concurrency})`;
}

/** The first `leftColumns` columns are text, the rest numbers. */
function table(header: readonly string[], rows: readonly string[][], leftColumns: number): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, at) => (at < leftColumns ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`.trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function decimal(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(value >= 10 ? 1 : 2);
}

/** Prices differ by powers of ten between the clouds: two significant digits. */
function dollars(value: number): string {
  return value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(2);
}
