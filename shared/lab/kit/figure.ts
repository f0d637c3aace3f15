// Figures and ratios with intervals, however runs scatter, and how far a rate drifted meanwhile. A
// ratio pairs two cells within each block, so that a disturbance hits both sides.
import * as z from 'zod';
import { median, sum } from './numbers.ts';

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

const positive = z.number().min(0);

export const ratioSchema = z.strictObject({
  /** The median of all means of two pairs' logarithms (Hodges and Lehmann). */
  ratio: positive,
  /** Ends of its interval, which inverts Wilcoxon's signed-rank test. */
  low: positive,
  high: positive,
  /** Probability that the interval holds the true ratio: 0 for one pair, above 0.95 from six. */
  confidence: z.number().min(0).max(1),
  /** Blocks in which both sides ran. */
  pairs: z.int().min(1),
  /**
   * `undecided`: 1 is within the interval. `drifting`: it is not, but the rates drifted by as much
   * while they were measured. `too-few-runs`: fewer than six pairs have no interval of 95 %.
   */
  verdict: z.enum(['higher', 'lower', 'undecided', 'drifting', 'too-few-runs']),
});

export type Ratio = z.infer<typeof ratioSchema>;

/** An interval within these bounds shows that two figures are the same, to a quarter. */
const SAME = { low: 0.8, high: 1.25 };

/**
 * Whether two figures are the same. That they are not told apart does not show it: their interval
 * may be wide.
 */
export function isSame({ verdict, low, high }: Ratio): boolean {
  return verdict === 'undecided' && low >= SAME.low && high <= SAME.high;
}

/** One repetition of both. */
export interface Pair {
  readonly numerator: number;
  readonly denominator: number;
}

/** Six pairs of equal things lie on one side by chance once in 32 times, five once in 16. */
const PAIRS_TO_TELL_APART = 6;

/** Sums of equal prices may differ by less than this, by rounding. */
const ROUNDING = 1e-9;

/**
 * By Wilcoxon's signed ranks (Hollander and Wolfe, 3.3). Null without pairs, or if a denominator is
 * 0. `drift`: the factor, 1 or more, by which both drifted while they were measured.
 */
export function ratioOf(pairs: readonly Pair[], drift = 1): Ratio | null {
  if (pairs.length === 0 || pairs.some(({ denominator }) => denominator <= 0)) return null;
  const logs = pairs.map(({ numerator, denominator }) => Math.log(numerator / denominator));
  const means = logs
    .flatMap((one, at) => logs.slice(at).map((other) => (one + other) / 2))
    .toSorted((one, other) => one - other);
  const { leftOut, confidence } = ends(logs.length);
  const [low, high] = [Math.exp(means[leftOut]!), Math.exp(means[means.length - 1 - leftOut]!)];
  return {
    ratio: Math.exp(median(means)),
    low,
    high,
    confidence,
    pairs: pairs.length,
    verdict: verdictOf(pairs.length, low, high, drift),
  };
}

function verdictOf(pairs: number, low: number, high: number, drift: number): Ratio['verdict'] {
  if (pairs < PAIRS_TO_TELL_APART) return 'too-few-runs';
  if (low <= 1 + ROUNDING && high >= 1 - ROUNDING) return 'undecided';
  const isHigher = low > 1;
  if (isHigher ? low <= drift : high >= 1 / drift) return drift > 1 ? 'drifting' : 'undecided';
  return isHigher ? 'higher' : 'lower';
}

/** How many means are left out at each end (none of few pairs), and the confidence of the rest. */
function ends(pairs: number): { readonly leftOut: number; readonly confidence: number } {
  const ways = waysToRankSums(pairs);
  const chanceUpTo = (most: number): number => sum(ways.slice(0, most + 1)) / 2 ** pairs;
  let leftOut = 0;
  while (chanceUpTo(leftOut + 1) <= SIGNIFICANCE / 2) leftOut += 1;
  return { leftOut, confidence: Math.max(0, 1 - 2 * chanceUpTo(leftOut)) };
}

/** In how many of the 2^n ways to sign the ranks 1 to n the positive ones add up to each sum. */
function waysToRankSums(pairs: number): number[] {
  const ways = [1, ...Array.from({ length: (pairs * (pairs + 1)) / 2 }, () => 0)];
  for (let rank = 1; rank <= pairs; rank += 1)
    for (let at = ways.length - 1; at >= rank; at -= 1) ways[at]! += ways[at - rank]!;
  return ways;
}

/** Records of one window and of its first half, and the number of replies they came in. */
export interface Halves {
  readonly records: number;
  readonly recordsFirstHalf: number;
  readonly operations: number;
}

/** Chance moves a count by more than so many of its standard deviations once in 20 times. */
const DEVIATIONS = 2;

/**
 * The factor between the two halves of all windows together, less what chance explains with so many
 * independent replies: 1 or more, Infinity where one half is empty.
 */
export function driftOf(windows: readonly Halves[]): number {
  let [early, late, operations] = [0, 0, 0];
  for (const window of windows) {
    early += window.recordsFirstHalf;
    late += window.records - window.recordsFirstHalf;
    operations += window.operations;
  }
  if (early <= 0 || late <= 0) return operations > 1 ? Infinity : 1;
  // Each half has about half of the replies: the logarithm of their ratio varies by 2 / half.
  const chance = DEVIATIONS * Math.sqrt(4 / Math.max(1, operations));
  return Math.exp(Math.max(0, Math.abs(Math.log(late / early)) - chance));
}
