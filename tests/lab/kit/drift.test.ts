import { expect, test } from 'vitest';
import { driftOf } from '../../../shared/lab/kit/figure.ts';

const window = (early: number, late: number, operations: number) => {
  return { records: early + late, recordsFirstHalf: early, operations };
};

test('a steady rate has no drift, and a rate that doubles has the part that chance does not explain', () => {
  expect(driftOf([window(50, 50, 100)])).toBe(1);
  // The logarithm of the halves' ratio varies by 4 / replies: two deviations of 10,000 are 0.04.
  expect(driftOf([window(5_000, 10_000, 10_000)])).toBeCloseTo(2 * Math.exp(-0.04), 10);
  expect(driftOf([window(10_000, 5_000, 10_000)])).toBeCloseTo(2 * Math.exp(-0.04), 10);
});

test('few replies show no drift, but many such windows together do', () => {
  const [few] = [window(8, 12, 20)];
  expect(driftOf([few])).toBe(1);
  expect(driftOf(Array.from({ length: 200 }, () => few))).toBeGreaterThan(1.3);
});

test('a rate of 0 in one half is an infinite drift', () => {
  expect(driftOf([window(0, 100, 100)])).toBe(Infinity);
  expect(driftOf([window(100, 0, 100)])).toBe(Infinity);
});
