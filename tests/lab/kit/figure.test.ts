import { describe, expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';

describe('a figure', () => {
  test('is the median, with the range of few values and its confidence', () => {
    expect(figureOf([5])).toEqual({ median: 5, low: 5, high: 5, confidence: 0, values: [5] });
    expect(figureOf([3, 1, 2])).toMatchObject({ median: 2, low: 1, high: 3, confidence: 0.75, values: [3, 1, 2] });
    expect(figureOf([4, 3, 1, 2])).toMatchObject({ median: 2.5, low: 1, high: 4, confidence: 0.875 });
  });

  // Ranks by Conover, "Practical Nonparametric Statistics", table of the binomial with p = 1/2.
  test.each([
    [6, 1, 0.96875],
    [9, 2, 0.9609375],
    [12, 3, 0.961425781],
    [20, 6, 0.958610535],
    [50, 18, 0.967160861],
  ])('of %i values takes the one of rank %i from each end: %d', (count, rank, confidence) => {
    const figure = figureOf(Array.from({ length: count }, (_, at) => at + 1));
    expect([figure.low, figure.high]).toEqual([rank, count + 1 - rank]);
    expect(figure.confidence).toBeCloseTo(confidence, 8);
  });

  test('needs a value', () => {
    expect(() => figureOf([])).toThrow(RangeError);
  });
});
