// Figures with intervals: how far a median moves between comparisons, however runs scatter.
import * as z from 'zod';
import { median } from './numbers.ts';

const finite = z.number();

export const figureSchema = z.strictObject({
  /** Of an even number of values: the mean of the two in the middle. */
  median: finite,
  /** The interval's ends: two of the values. One value is both. */
  low: finite,
  high: finite,
  /** Probability that the interval holds the true median: 0 for one value, above 0.95 from six. */
  confidence: z.number().min(0).max(1),
  values: z.array(finite).min(1),
});

export type Figure = z.infer<typeof figureSchema>;

/** A difference counts if chance makes it more rarely than this. */
export const SIGNIFICANCE = 0.05;

/** Fewer than six values have no interval of this confidence. */
const CONFIDENCE_WANTED = 1 - SIGNIFICANCE;

/** The narrowest interval of order statistics with 95 % (David and Nagaraja, 7.1), or the range. */
export function figureOf(values: readonly number[]): Figure {
  if (values.length === 0) throw new RangeError('a figure needs a value');
  const sorted = values.toSorted((one, other) => one - other);
  let outside = 1;
  while (outside * 2 < sorted.length && confidenceOf(sorted.length, outside + 1) >= CONFIDENCE_WANTED) outside += 1;
  return {
    median: median(values),
    low: sorted[outside - 1]!,
    high: sorted[sorted.length - outside]!,
    confidence: confidenceOf(sorted.length, outside),
    values: [...values],
  };
}

/** Confidence of the interval from the j-th smallest to the j-th largest of `count` values. */
function confidenceOf(count: number, j: number): number {
  let ways = 1;
  let below = 0;
  for (let k = 0; k < j; k += 1) {
    below += ways;
    ways = (ways * (count - k)) / (k + 1);
  }
  return Math.max(0, 1 - (2 * below) / 2 ** count);
}
