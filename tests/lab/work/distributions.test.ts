// Our keys against those of YCSB's Java program. ycsb.json holds its draws, and says how it drew.
import { describe, expect, test } from 'vitest';
import { KEY_CHOICES, type KeyChoice } from '../../../shared/lab/kit/dimensions.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { fnvHash, keyIndexes } from '../../../shared/lab/work/distributions.ts';
import ycsb from './ycsb.json' with { type: 'json' };

interface Case {
  readonly distribution: string;
  readonly records: number;
  readonly insertShare: number;
}

/** Draws from the case's records, of which `inserted` are new. */
function drawing({ distribution, records, insertShare }: Case, seed: number, inserted: () => number): () => number {
  const space = { count: () => records + inserted(), insertsExpected: Math.floor(2 * insertShare * records) };
  return keyIndexes(distribution as KeyChoice, space, seededRandom(seed));
}

const DRAWS = 400_000;

/**
 * Chi-square of two samples, in standard deviations from its mean. The mean is its degrees of
 * freedom, the variance twice that. YCSB's own chance is a twenty-fifth.
 */
function deviation(ours: readonly number[], theirs: readonly number[], drawnByThem: number): number {
  const terms = theirs.map((count, at) => {
    const expected = (count / drawnByThem) * DRAWS;
    return (ours[at]! - expected) ** 2 / (expected * (1 + DRAWS / drawnByThem));
  });
  const freedom = terms.length - 1;
  return (terms.reduce((sum, term) => sum + term, 0) - freedom) / Math.sqrt(2 * freedom);
}

/** How often each key was drawn. */
function counted(one: Case & { readonly inserts: number }): Uint32Array {
  // Drawing begins before the inserts come.
  let inserted = 0;
  const draw = drawing(one, 3, () => inserted);
  inserted = one.inserts;
  const counts = new Uint32Array(one.records + one.inserts);
  for (let drawn = 0; drawn < DRAWS; drawn++) counts[draw()]! += 1;
  return counts;
}

function withRest(some: readonly number[], all: number): number[] {
  return [...some, all - some.reduce((sum, count) => sum + count, 0)];
}

const caseName = '$distribution of $records records and $inserts new ones';

describe('keys are drawn as YCSB draws them', () => {
  test.each([1_000, 10_001, 2 ** 32, 10 ** 9])('with its hash, modulo %i', (limit) => {
    const theirs = ycsb.fnvhash64.map(([, hash]) => Number(BigInt(hash!) % BigInt(limit)));
    expect(ycsb.fnvhash64.map(([value]) => fnvHash(Number(value), limit))).toEqual(theirs);
  });

  test.each(ycsb.drawn)(`from the same chance the same keys: ${caseName}`, (one) => {
    let inserted = 0;
    const draw = drawing(one, ycsb.seed, () => inserted);
    const keys = one.keys.map((_, at) => {
      if (at === 40) inserted = one.inserts;
      return draw();
    });
    expect(keys).toEqual(one.keys);
  });

  // Uniform keys are left out: chance decides which of them is the hottest.
  test.each(ycsb.counted.filter(({ distribution }) => distribution !== 'uniform'))(
    `the hottest as often: ${caseName}`,
    (one) => {
      const counts = counted(one);
      const ours = one.hottest.map((key) => counts[key]!);
      const [all, allOfTheirs] = [withRest(ours, DRAWS), withRest(one.counts, one.draws)];
      expect(deviation(all, allOfTheirs, one.draws)).toBeLessThan(4);
    },
  );

  test.each(ycsb.counted)(`from each twentieth as often: ${caseName}`, (one) => {
    const counts = counted(one);
    const ours = one.twentieths.map(() => 0);
    for (const [key, count] of counts.entries()) ours[Math.floor((key * 20) / counts.length)]! += count;
    const drawn = one.twentieths.flatMap((count, at) => (count === 0 ? [] : [at]));
    const of = (all: readonly number[]): number[] => drawn.map((at) => all[at]!);
    expect(deviation(of(ours), of(one.twentieths), one.draws)).toBeLessThan(4);
    expect(ours.flatMap((count, at) => (count === 0 ? [] : [at]))).toEqual(drawn);
  });
});

test('zipfian-over-records is hotter than YCSB is, and leaves a third of the keys alone', () => {
  const counts = counted({ distribution: 'zipfian-over-records', records: 10_000, insertShare: 0, inserts: 0 });
  expect(Math.max(...counts) / DRAWS).toBeGreaterThan(0.09);
  expect(counts.filter((count) => count === 0).length).toBeGreaterThan(3_000);
});

test.each([1, 2, 3])('of %i records each choice draws those that are there', (count) => {
  for (const choice of KEY_CHOICES) {
    const draw = keyIndexes(choice, { count: () => count, insertsExpected: 0 }, seededRandom(3));
    for (let drawn = 0; drawn < 1_000; drawn++) expect([...Array(count).keys()]).toContain(draw());
  }
});
