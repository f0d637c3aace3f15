// Figures and ratios with their intervals, drift, and figures in words.
import { describe, expect, test } from 'vitest';
import { driftOf, figureOf, type Pair, ratioOf } from '../../../shared/lab/kit/figure.ts';
import * as format from '../../../shared/lab/kit/figure-format.ts';

describe('a figure', () => {
  test('is the median, with the range of few values and its confidence', () => {
    expect(figureOf([5])).toEqual({ median: 5, low: 5, high: 5, confidence: 0, values: [5] });
    expect(figureOf([3, 1, 2])).toMatchObject({ median: 2, low: 1, high: 3, confidence: 0.75, values: [3, 1, 2] });
    expect(figureOf([4, 3, 1, 2])).toMatchObject({ median: 2.5, low: 1, high: 4, confidence: 0.875 });
  });

  // Ranks by Conover, "Practical Nonparametric Statistics", table of the binomial with p = 1/2.
  test.each([
    [6, 1, 0.96875],
    [20, 6, 0.958610535],
    [50, 18, 0.967160861],
  ])('of %i values takes the one of rank %i from each end: %d', (count, rank, confidence) => {
    const figure = figureOf(Array.from({ length: count }, (_, at) => at + 1));
    expect([figure.low, figure.high]).toEqual([rank, count + 1 - rank]);
    expect(figure.confidence).toBeCloseTo(confidence, 8);
  });
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Pairs of these numerators; all denominators are 1, if none are given. */
function pairsOf(numerators: readonly number[], denominators?: readonly number[]): Pair[] {
  return numerators.map((numerator, at) => ({ numerator, denominator: denominators?.[at] ?? 1 }));
}

describe('a ratio', () => {
  test('is taken within each block, so that a block that disturbs both sides does not change it', () => {
    const denominators = [10, 40, 90, 20, 70, 15];
    const ratio = ratioOf(pairsOf([13, 48, 108, 24, 84, 18], denominators))!;
    expect(ratio).toMatchObject({ confidence: 1 - 2 / 64, pairs: 6, verdict: 'higher' });
    expect([ratio.ratio, ratio.low, ratio.high]).toEqual([1.2, 1.2, 1.3].map((one) => expect.closeTo(one, 10)));
    expect(ratioOf(pairsOf(denominators, [13, 48, 108, 24, 84, 18]))).toMatchObject({ verdict: 'lower' });
  });

  // Wilcoxon and Wilcox, "Some Rapid Approximate Statistical Procedures" (1964), table 2: two-sided
  // critical values at 5 %. As many sums are left out at each end.
  test.each([
    [6, 0],
    [8, 3],
    [20, 52],
    [25, 89],
  ])('of %i pairs leaves out %i means of two at each end', (count, critical) => {
    const logs = upTo(count).map((one) => 2 ** one);
    const means = logs.flatMap((one, at) => logs.slice(at).map((other) => (one + other) / 2)).toSorted((a, b) => a - b);
    const scale = 700 / 2 ** count;
    const ratio = ratioOf(pairsOf(logs.map((log) => Math.exp(log * scale))))!;
    expect(Math.log(ratio.low) / scale).toBeCloseTo(means[critical]!, 6);
    expect(Math.log(ratio.high) / scale).toBeCloseTo(means.at(-1 - critical)!, 6);
  });

  test('is undecided where its interval contains 1, or ends there but for rounding', () => {
    expect(ratioOf(pairsOf([2, 3, 4, 5, 6, 0.9]))).toMatchObject({ verdict: 'undecided', low: expect.closeTo(0.9) });
    expect(ratioOf(pairsOf(upTo(6).map(() => 1 + Number.EPSILON)))).toMatchObject({ verdict: 'undecided' });
  });

  test('has no verdict from fewer than six pairs, however far apart they lie', () => {
    const few = ratioOf(pairsOf(upTo(5).map((one) => 100 * one)));
    expect(few).toMatchObject({ verdict: 'too-few-runs', confidence: 1 - 2 / 32 });
  });

  test('is void where the rates drifted by as much, and stands where they drifted by less', () => {
    const doubled = pairsOf(upTo(6).map((one) => 2 + one / 100));
    expect(ratioOf(doubled, 1.9)).toMatchObject({ verdict: 'higher' });
    expect(ratioOf(doubled, 2.1)).toMatchObject({ verdict: 'drifting' });
    const halved = pairsOf(upTo(6).map((one) => 1 / (2 + one / 100)));
    expect(ratioOf(halved, 1.9)).toMatchObject({ verdict: 'lower' });
    expect(ratioOf(halved, 2.1)).toMatchObject({ verdict: 'drifting' });
    expect(ratioOf(pairsOf([2, 3, 4, 5, 6, 0.9]), 9)).toMatchObject({ verdict: 'undecided' });
  });

  test('of one run has no confidence, and no runs give no ratio', () => {
    expect(ratioOf(pairsOf([3], [2]))).toMatchObject({ ratio: expect.closeTo(1.5), confidence: 0, pairs: 1 });
    expect(ratioOf([])).toBeNull();
    expect(ratioOf(pairsOf([3], [0]))).toBeNull();
    expect(ratioOf(pairsOf([0], [3]))).toMatchObject({ ratio: 0 });
  });
});

const window = (early: number, late: number, operations: number) => {
  return { records: early + late, recordsFirstHalf: early, operations };
};

test('a steady rate has no drift, and a rate that doubles has the part that chance does not explain', () => {
  expect(driftOf([window(50, 50, 100)])).toBe(1);
  // The logarithm of the halves' ratio varies by 4 / replies: two deviations of 10,000 are 0.04.
  expect(driftOf([window(5_000, 10_000, 10_000)])).toBeCloseTo(2 * Math.exp(-0.04), 10);
  expect(driftOf([window(10_000, 5_000, 10_000)])).toBeCloseTo(2 * Math.exp(-0.04), 10);
  expect(driftOf([window(0, 100, 100)])).toBe(Infinity);
});

test('few replies show no drift, but many such windows together do', () => {
  const [few] = [window(8, 12, 20)];
  expect(driftOf([few])).toBe(1);
  expect(driftOf(Array.from({ length: 200 }, () => few))).toBeGreaterThan(1.3);
});

const { cents, decimal, dollars, factor, intervalText, threeDigits, whole } = format;

test.each([
  [
    factor,
    [26.4, 9.96, 1, 0.996, 0.32, 0.00666, 0],
    ['26 x', '10.0 x', '1.0 x', '1.00 x', '0.32 x', '0.0067 x', '0 x'],
  ],
  [decimal, [1_234.5, 99.94, 9.996, 0.123], ['1,235', '99.9', '10.00', '0.12']],
  [threeDigits, [1_111_111.1, 112.6, 2.584, 0.0123, -0.5], ['1,111,111', '113', '2.58', '0.0123', '-0.5']],
  [dollars, [12_345, 1.239, 0.9, 0.0061, 0], ['12,345', '1.24', '0.9', '0.0061', '0']],
  [cents, [1_234.5, 0.005, 0.004, 0, 1.234e12], ['1,234.50', '0.01', '< 0.01', '0.00', '1.23e+12']],
] as const)('%o gives few digits, whatever the size', (format, values, texts) => {
  expect(values.map(format)).toEqual(texts);
});

test('an interval whose ends read alike is one number, and one run has none', () => {
  expect(intervalText(figureOf([10.1, 12]), whole)).toBe('10 to 12');
  expect(intervalText(figureOf([10.1, 10.2]), whole)).toBe('10');
  expect(intervalText(figureOf([10]), whole)).toBe('one run');
});
