// The figures of a plan for a terminal: a block for each provider, a line for each cell, plain ASCII.
import { PROVIDERS } from '../../compare/dimensions.ts';
import { PROVIDER_NAMES } from '../../compare/report/names.ts';
import type { ModelResult } from './cell.ts';

const COLUMNS = [
  'case',
  'layout',
  'op/s',
  '/plain',
  '/cond.',
  'p50 ms',
  'p99 ms',
  'req/op',
  'bill/op',
  'conf/op',
  '$/1M',
  'slowest',
  'busy %',
  'errors',
];

/** All results as tables, with a final newline. */
export function resultsText(results: readonly ModelResult[]): string {
  const blocks = PROVIDERS.flatMap((provider) => {
    const own = results.filter(({ cell }) => cell.provider === provider);
    return own.length === 0
      ? []
      : [`${PROVIDER_NAMES[provider]} (modelled)\n${table(own.map((one) => row(one, own)))}`];
  });
  return `${blocks.join('\n\n')}\n`;
}

function row(result: ModelResult, all: readonly ModelResult[]): string[] {
  const { cell } = result;
  const errors = Object.values(result.errors).reduce((sum, count) => sum + count, 0);
  return [
    cell.case,
    cell.layout,
    decimal(result.operationsPerSecond),
    ratio(result, all, 'record'),
    ratio(result, all, 'conditional'),
    latency(result.p50Ms),
    latency(result.p99Ms),
    decimal(result.requestsPerOperation),
    decimal(result.billedPerOperation),
    decimal(result.conflictsPerOperation),
    result.dollarsPerMillion.toPrecision(2),
    result.slowestCaller === null ? '-' : result.slowestCaller.toFixed(2),
    (result.processorBusiest * 100).toFixed(0),
    String(errors + result.unfinished),
  ];
}

/** Throughput against another layout's in the same case. */
function ratio(result: ModelResult, all: readonly ModelResult[], layout: 'record' | 'conditional'): string {
  const other = all.find(({ cell }) => cell.case === result.cell.case && cell.layout === layout);
  if (other === undefined || other === result || other.operationsPerSecond === 0) return '-';
  return (result.operationsPerSecond / other.operationsPerSecond).toFixed(2);
}

function latency(ms: number | null): string {
  return ms === null ? '-' : decimal(ms);
}

function decimal(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);
}

/** The first two columns are text, the rest numbers. */
function table(rows: readonly string[][]): string {
  const widths = COLUMNS.map((title, at) => Math.max(title.length, ...rows.map((cells) => cells[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`.trimEnd();
  return [line(COLUMNS), ...rows.map(line)].join('\n');
}
