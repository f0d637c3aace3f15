// The figures of a plan for a terminal, plain ASCII: what was modelled, a block for each provider and group, a line for each cell, the goals.
import { PROVIDERS } from '../../kit/dimensions.ts';
import { PROVIDER_NAMES } from '../names.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import { type GoalResult, goalsOf, type PlayedRow } from './goals.ts';

const COLUMNS = [
  'case',
  'layout',
  'op/s',
  ':plain',
  ':cond.',
  'p50 ms',
  'p99 ms',
  'req/op',
  'bill/op',
  'conf/op',
  '$/1M',
  'slowest',
  'proc %',
  'refused',
  'failed',
];

/** All rows as tables, then the goals, with a final newline. */
export function playedText(played: readonly PlayedRow[]): string {
  const blocks = PROVIDERS.flatMap((provider) => {
    const own = played.filter(({ row }) => row.provider === provider);
    const groups = Map.groupBy(own, ({ row }) => row.group);
    return [...groups].map(([title, rows]) => {
      const lines = rows.flatMap(({ results }) => results.map((result) => lineOf(result, results)));
      return `${PROVIDER_NAMES[provider]}, modelled. ${title}\n${table(COLUMNS, lines, 2)}`;
    });
  });
  const goals = goalsOf(played);
  return `${[...blocks, ...(goals.length === 0 ? [] : [goalsText(goals)]), EXPLAINED].join('\n\n')}\n`;
}

const EXPLAINED = [
  ':plain, :cond. throughput against single entities written without a condition, and read and written if unchanged, in the same case.',
  'slowest: operations of the slowest caller, of the mean caller. proc %: of the busiest instance. refused: throttled, or for a lock. -: too few operations, or nothing to compare.',
].join('\n');

function lineOf(result: ModelResult, row: readonly ModelResult[]): string[] {
  const { cell } = result;
  const failed = Object.values(result.errors).reduce((sum, count) => sum + count, 0) + result.unfinished;
  return [
    cell.case,
    cell.layout,
    decimal(result.operationsPerSecond),
    ratio(result, row, 'record'),
    ratio(result, row, 'conditional'),
    latency(result.p50Ms),
    latency(result.p99Ms),
    decimal(result.requestsPerOperation),
    decimal(result.billedPerOperation),
    decimal(result.conflictsPerOperation),
    result.dollarsPerMillion.toPrecision(2),
    result.slowestCaller === null ? '-' : result.slowestCaller.toFixed(2),
    (result.processorBusiest * 100).toFixed(0),
    String(result.throttled + result.contended),
    String(failed),
  ];
}

/** Throughput against another layout's in the same row. */
function ratio(result: ModelResult, row: readonly ModelResult[], layout: 'record' | 'conditional'): string {
  const other = row.find(({ cell }) => cell.layout === layout);
  if (other === undefined || other === result || other.operationsPerSecond === 0) return '-';
  return (result.operationsPerSecond / other.operationsPerSecond).toFixed(2);
}

function goalsText(goals: readonly GoalResult[]): string {
  const lines = goals.map(({ row, case: name, what, wanted, value, isReached }) => [
    row.provider,
    name,
    what,
    wanted,
    value === null ? '-' : value.toFixed(2),
    isReached ? 'yes' : 'NO',
  ]);
  const reached = goals.filter(({ isReached }) => isReached).length;
  const title = `GOALS of the container layout: ${reached} of ${goals.length} reached`;
  return `${title}\n${table(['provider', 'case', 'figure', 'wanted', 'is', 'reached'], lines, 4)}`;
}

function latency(ms: number | null): string {
  return ms === null ? '-' : decimal(ms);
}

function decimal(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);
}

/** The first `leftColumns` columns are text, the rest numbers. */
function table(columns: readonly string[], rows: readonly string[][], leftColumns: number): string {
  const widths = columns.map((title, at) => Math.max(title.length, ...rows.map((cells) => cells[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, at) => (at < leftColumns ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`.trimEnd();
  return [line(columns), ...rows.map(line)].join('\n');
}
