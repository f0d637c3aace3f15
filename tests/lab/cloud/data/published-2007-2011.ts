// Figures that documents B, C and E published, and whether a number of then-2007-2011.ts was fitted
// on them.

export interface PublishedRow {
  readonly document: 'B' | 'C' | 'E';
  readonly name: string;
  readonly unit: 's' | 'ms' | 'entities/s';
  /**
   * B: the mean of five runs; C: their median, as single slow runs are among them; E: its one run.
   */
  readonly value: number;
  readonly isFitted: boolean;
}

function row(document: PublishedRow['document'], unit: PublishedRow['unit']) {
  return (name: string, value: number, isFitted: 'fitted' | 'follows'): PublishedRow => ({
    document,
    name,
    unit,
    value,
    isFitted: isFitted === 'fitted',
  });
}

const b = row('B', 's');
const c = row('C', 's');
const e = row('E', 'ms');

/**
 * Variants that the model does not tell apart (the connection settings of B) stand beside the one
 * that it does.
 */
export const PUBLISHED_ROWS: readonly PublishedRow[] = [
  row('B', 'entities/s')('single', 5, 'fitted'),
  b('serial', 17.758, 'fitted'),
  b('serial, 48 connections', 18.072, 'follows'),
  b('serial, without Expect: 100-continue', 17.634, 'follows'),
  b('serial, without Nagle', 17.622, 'follows'),
  b('parallel', 6.84, 'fitted'),
  b('everything', 7.14, 'follows'),
  c('big, in a transaction', 0.154, 'fitted'),
  c('big, one by one', 0.359, 'follows'),
  c('small, one by one', 0.312, 'fitted'),
  e('single writes of 1', 40, 'fitted'),
  e('single writes of 10', 250, 'follows'),
  e('single writes of 100', 2_100, 'fitted'),
  e('single writes of 1,000', 28_000, 'fitted'),
  e('batched write of 10', 60, 'fitted'),
  e('batched write of 100', 370, 'fitted'),
  e('batched write of 1,000', 2_500, 'follows'),
  e('single reads of 1', 20, 'fitted'),
  e('single reads of 10', 100, 'follows'),
  e('single reads of 100', 750, 'fitted'),
  e('single reads of 1,000', 8_500, 'follows'),
  e('batched read of 10', 25, 'follows'),
  e('batched read of 100', 80, 'fitted'),
  e('batched read of 1,000', 400, 'fitted'),
];
