import { expect, test } from 'vitest';
import { gapsOf } from '../../../shared/lab/load/arrivals.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';

test('fixed arrivals come at equal distances', () => {
  const gap = gapsOf({ perSecond: 200, spacing: 'equidistant' }, seededRandom(1));
  expect([gap(), gap(), gap()]).toEqual([5, 5, 5]);
});

test('gaps of Poisson arrivals are exponential: mean and standard deviation are equal, and a share of 1/e is longer', () => {
  const gap = gapsOf({ perSecond: 200, spacing: 'poisson' }, seededRandom(1));
  const gaps = Array.from({ length: 100_000 }, gap);
  const mean = gaps.reduce((sum, ms) => sum + ms, 0) / gaps.length;
  const variance = gaps.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / gaps.length;
  // Four standard errors of 100,000 draws: mean 1.3 %, deviation (fourth moment 9) 1.8 %.
  expect(Math.abs(mean / 5 - 1)).toBeLessThan(0.013);
  expect(Math.abs(Math.sqrt(variance) / 5 - 1)).toBeLessThan(0.018);
  expect(gaps.filter((ms) => ms > 5).length / gaps.length).toBeCloseTo(1 / Math.E, 2);
});
