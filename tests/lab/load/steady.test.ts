// How a warm-up is found steady, and how often that judgement errs.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import type { Steadiness } from '../../../shared/lab/load/cell.ts';
import { steadiness } from '../../../shared/lab/load/phases.ts';

const slices = (early: number, late: number): number[] => [early, early, early, late, late, late];

describe('a load', () => {
  test.each([
    ['steady', slices(1_000, 1_090)],
    ['unsteady', slices(1_000, 1_110)],
    ['unsteady', slices(1_000, 890)],
    ['steady', slices(20, 24)],
    ['unsteady', slices(0, 40)],
    ['unsteady', slices(40, 0)],
    ['not known', slices(12, 12)],
    ['not known', slices(0, 0)],
    ['not known', [1_000, 1_000, 1_000]],
  ] as const)('is %s of replies %j', (expected, replies) => {
    expect(steadiness(replies)).toBe(expected);
  });

  test('of few replies per slice is judged by more slices', () => {
    expect(steadiness(Array.from({ length: 20 }, () => 5))).toBe('steady');
    expect(steadiness(Array.from({ length: 20 }, (_, at) => (at < 10 ? 3 : 8)))).toBe('unsteady');
    expect(steadiness(Array.from({ length: 18 }, () => 5))).toBe('not known');
  });
});

const random = seededRandom(3);

/** Draws from the Poisson distribution by Knuth's method. */
function poisson(mean: number): number {
  let count = -1;
  for (let product = 1; product > Math.exp(-mean); product *= random()) count += 1;
  return count;
}

const ROUNDS = 1_000;

function shares(early: number, late: number): Record<Steadiness, number> {
  const found = { steady: 0, unsteady: 0, 'not known': 0 };
  for (let round = 0; round < ROUNDS; round += 1) found[steadiness(slices(early, late).map(poisson))] += 1 / ROUNDS;
  return found;
}

test.each([2, 6, 10, 12, 20, 60])(
  'a load that doubles from %i replies per slice is hardly ever called steady',
  (mean) => {
    expect(shares(mean, 2 * mean).steady).toBeLessThan(0.1);
  },
);

test.each([20, 60, 400])('a load that stays at %i replies per slice is mostly called steady', (mean) => {
  expect(shares(mean, mean).steady).toBeGreaterThan(0.93);
});
