// Figures with intervals. A median of a few runs moves from comparison to comparison; the interval says how far, with no assumption on how runs scatter.
import * as z from 'zod';
import { median } from './median.ts';

const finite = z.number();

export const figureSchema = z.strictObject({
  /** Of the values; of an even number the mean of the two in the middle. */
  median: finite,
  /** The interval's ends: two of the values. Of one value, itself. */
  low: finite,
  high: finite,
  /** How likely such an interval holds the true median: 0 of one value, 0.75 of three, above 0.95 from six on. */
  confidence: z.number().min(0).max(1),
  /** One for each repetition, in the order they ran. */
  values: z.array(finite).min(1),
});

export type Figure = z.infer<typeof figureSchema>;

/** What arises by chance more rarely than this counts as a difference. */
export const SIGNIFICANCE = 0.05;

/** What is wanted of an interval; with fewer than six values the widest one has less. */
export const CONFIDENCE_WANTED = 1 - SIGNIFICANCE;

/**
 * The median and the narrowest interval of order statistics around it with 95 % confidence; where the values are too few for that, their whole range with
 * the confidence it has. Throws a RangeError without values.
 *
 * Between the j-th smallest and the j-th largest of n independent values lies the true median with 1 - 2 (C(n,0) + ... + C(n,j-1)) / 2^n, whatever their
 * distribution (David and Nagaraja, "Order Statistics", 3rd edition, section 7.1).
 */
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

/** Of the interval from the j-th smallest to the j-th largest of `count` values. */
function confidenceOf(count: number, j: number): number {
  let ways = 1;
  let below = 0;
  for (let k = 0; k < j; k += 1) {
    below += ways;
    ways = (ways * (count - k)) / (k + 1);
  }
  return Math.max(0, 1 - (2 * below) / 2 ** count);
}
