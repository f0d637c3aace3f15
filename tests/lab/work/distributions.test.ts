// Each distribution against the exact probabilities of its formula, by the chi-square test.
import { describe, expect, test } from 'vitest';
import { latestIndexes, uniformIndexes, Zipfian, zipfianIndexes } from '../../../shared/lab/work/distributions.ts';
import { scramble32, seededRandom } from '../../../shared/lab/kit/random.ts';

const COUNT = 2_000;
const DRAWS = 200_000;
const THETA = 0.99;

/** By rank, from the formula of Gray et al., solved for where each rank begins. */
function grayShares(count: number): number[] {
  const zeta = Array.from({ length: count }, (_, rank) => (rank + 1) ** -THETA).reduce((sum, each) => sum + each, 0);
  const ofTwo = (1 + 2 ** -THETA) / zeta;
  const eta = (1 - (2 / count) ** (1 - THETA)) / (1 - ofTwo);
  const begins = (rank: number): number => Math.max(ofTwo, ((rank / count) ** (1 - THETA) - 1 + eta) / eta);
  const rest = Array.from({ length: count - 2 }, (_, at) => (at + 3 === count ? 1 : begins(at + 3)) - begins(at + 2));
  return [1 / zeta, ofTwo - 1 / zeta, ...rest];
}

function counted(draw: () => number, count: number): number[] {
  const counts = Array.from({ length: count }, () => 0);
  for (let drawn = 0; drawn < DRAWS; drawn++) counts[draw()]! += 1;
  return counts;
}

/** How many standard deviations chi-square lies from its mean: its degrees of freedom, with twice that variance. Indexes of too few draws are left out. */
function deviation(counts: readonly number[], shares: readonly number[]): number {
  let chi = 0;
  let freedom = -1;
  for (const [index, share] of shares.entries()) {
    const expected = share * DRAWS;
    if (expected === 0 && counts[index]! > 0) return Infinity;
    if (expected < 5) continue;
    chi += (counts[index]! - expected) ** 2 / expected;
    freedom += 1;
  }
  return (chi - freedom) / Math.sqrt(2 * freedom);
}

const LIMIT = 4;

describe('keys are drawn', () => {
  test('evenly by the uniform distribution', () => {
    const shares = Array.from({ length: COUNT }, () => 1 / COUNT);
    expect(Math.abs(deviation(counted(uniformIndexes(COUNT, seededRandom(3)), COUNT), shares))).toBeLessThan(LIMIT);
  });

  test('as the formula of Gray says by the zipfian one', () => {
    const shares = grayShares(COUNT);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    const random = seededRandom(3);
    const zipfian = new Zipfian(COUNT);
    expect(
      Math.abs(
        deviation(
          counted(() => zipfian.rank(random()), COUNT),
          shares,
        ),
      ),
    ).toBeLessThan(LIMIT);
  });

  test('near the law of Zipf, as far as the formula allows', () => {
    const shares = grayShares(10_000);
    const zeta = Array.from({ length: 10_000 }, (_, rank) => (rank + 1) ** -THETA).reduce((sum, one) => sum + one, 0);
    const ratios = shares.map((share, rank) => share / ((rank + 1) ** -THETA / zeta));
    expect(ratios.slice(0, 2)).toEqual([expect.closeTo(1, 10), expect.closeTo(1, 10)]);
    expect(Math.max(...ratios)).toBeCloseTo(1.183, 3);
    expect(Math.min(...ratios)).toBeGreaterThan(0.97);
  });

  test('by the scrambled zipfian one with the shares of the ranks that its hash lays on them', () => {
    const shares = Array.from({ length: COUNT }, () => 0);
    for (const [rank, share] of grayShares(COUNT).entries()) shares[scramble32(rank + 1) % COUNT]! += share;
    const counts = counted(zipfianIndexes(COUNT, seededRandom(3)), COUNT);
    expect(Math.abs(deviation(counts, shares))).toBeLessThan(LIMIT);
  });

  test('from the end by the latest one, also as the end moves on', () => {
    let count = COUNT - 500;
    const draw = latestIndexes(() => count, seededRandom(3));
    draw();
    count = COUNT;
    const counts = counted(draw, COUNT).toReversed();
    expect(Math.abs(deviation(counts, grayShares(COUNT)))).toBeLessThan(LIMIT);
  });

  test.each([1, 2, 3])('of %i records too', (count) => {
    const draws = [uniformIndexes, zipfianIndexes].map((indexes) => indexes(count, seededRandom(3)));
    for (const draw of [...draws, latestIndexes(() => count, seededRandom(3))])
      for (let drawn = 0; drawn < 1_000; drawn++) expect([...Array(count).keys()]).toContain(draw());
  });
});
