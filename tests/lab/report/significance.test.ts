import { describe, expect, test } from 'vitest';
import { mannWhitneyP } from '../../../shared/lab/report/against.ts';

/** 1 to n, and n values that all lie above them. */
const apart = (n: number): [number[], number[]] => [
  Array.from({ length: n }, (_, at) => at + 1),
  Array.from({ length: n }, (_, at) => at + 101),
];

describe('the Mann-Whitney test', () => {
  // Two ways of all to deal out the values are this far apart: 2 / (2n over n).
  test.each([
    [1, 2 / 2],
    [2, 2 / 6],
    [3, 2 / 20],
    [4, 2 / 70],
    [5, 2 / 252],
    [10, 2 / 184_756],
  ])('gives samples of %i that do not overlap the smallest possible probability', (n, p) => {
    const [low, high] = apart(n);
    expect(mannWhitneyP(low, high)).toBeCloseTo(p, 12);
    expect(mannWhitneyP(high, low)).toBeCloseTo(p, 12);
  });

  // R's documented example on the permeability of membranes: wilcox.test(at, later). Its one-sided
  // p is .1272, so ours is twice that.
  test("agrees with R's documented example", () => {
    const at = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const later = [1.15, 0.88, 0.9, 0.74, 1.21];
    expect(mannWhitneyP(at, later)).toBeCloseTo(0.2544, 4);
  });

  test('is exact with ties: equal samples differ by nothing but chance', () => {
    expect(mannWhitneyP([3, 3, 3], [3, 3, 3])).toBe(1);
    // The ranks are 1.5 1.5 3.5 3.5. Two of the six ways are this far apart.
    expect(mannWhitneyP([1, 1], [2, 2])).toBeCloseTo(2 / 6, 12);
  });

  test('gives 1 without values', () => {
    expect(mannWhitneyP([], [1, 2, 3, 4])).toBe(1);
  });

  test('depends on ranks alone: an outlier counts no more than the first of the rest', () => {
    expect(mannWhitneyP([1, 2, 3, 9_999], [4, 5, 6, 7])).toBe(mannWhitneyP([1, 2, 3, 8], [4, 5, 6, 7]));
  });
});
