// The columns of a cell's figures, the same in the terminal and on the page.
import { decimal, dollars } from '../../kit/format.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';

/** `row`: the results of the cell's own row, itself among them. */
type Column = (result: ModelResult, row: readonly ModelResult[]) => string;

export const COLUMNS: Readonly<Record<string, Column>> = {
  'op/s': (result) => decimal(result.operationsPerSecond),
  ':plain': (result, row) => ratio(result, row, 'record'),
  ':cond.': (result, row) => ratio(result, row, 'conditional'),
  'p50 ms': (result) => decimalOr(result.p50Ms),
  'p99 ms': (result) => decimalOr(result.p99Ms),
  'req/op': (result) => decimal(result.requestsPerOperation),
  'bill/op': (result) => decimal(result.billedPerOperation),
  'conf/op': (result) => decimal(result.conflictsPerOperation),
  '$/1M': (result) => dollars(result.dollarsPerMillion),
  slowest: (result) => decimalOr(result.slowestCaller),
  'proc %': (result) => (result.processorBusiest * 100).toFixed(0),
  refused: (result) => String(result.throttled + result.contended),
  failed: (result) => String(failedOf(result)),
};

export const COLUMN_WORDS = [
  'Case: instances x callers of each. :plain, :cond. throughput against single entities written without a condition, and read and written if unchanged, in the same case.',
  'slowest: operations of the slowest caller, of the mean caller. proc %: of the busiest instance. refused: throttled, or for a lock. -: too few operations, or nothing to compare.',
];

function failedOf({ errors, unfinished }: Pick<ModelResult, 'errors' | 'unfinished'>): number {
  return Object.values(errors).reduce((sum, count) => sum + count, unfinished);
}

export function decimalOr(value: number | null): string {
  return value === null ? '-' : decimal(value);
}

/** Throughput against another layout's in the same row. */
function ratio(result: ModelResult, row: readonly ModelResult[], layout: 'record' | 'conditional'): string {
  const other = row.find(({ cell }) => cell.layout === layout);
  if (other === undefined || other === result || other.operationsPerSecond === 0) return '-';
  return decimal(result.operationsPerSecond / other.operationsPerSecond);
}
