import { describe, expect, test } from 'vitest';
import { type Pair, ratioOf } from '../../../shared/lab/kit/figure.ts';

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
    [7, 2],
    [8, 3],
    [9, 5],
    [10, 8],
    [12, 13],
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
