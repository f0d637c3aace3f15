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

describe('keys are drawn as YCSB draws them', () => {
  test.each([1_000, 10_001, 2 ** 32, 10 ** 9])('by the same hash, modulo %i', (limit) => {
    const theirs = ycsb.fnvhash64.map(([, hash]) => Number(BigInt(hash!) % BigInt(limit)));
    expect(ycsb.fnvhash64.map(([value]) => fnvHash(Number(value), limit))).toEqual(theirs);
  });

  test.each(ycsb.drawn)('$distribution from $records records and $inserts new ones', (one) => {
    let inserted = 0;
    const draw = drawing(one, ycsb.seed, () => inserted);
    const keys = one.keys.map((_, at) => {
      if (at === 40) inserted = one.inserts;
      return draw();
    });
    expect(keys).toEqual(one.keys);
  });
});

test('zipfian-over-records draws its hottest key more often than YCSB, and a third of the keys never', () => {
  const counts = new Uint32Array(10_000);
  const draw = keyIndexes('zipfian-over-records', { count: () => 10_000, insertsExpected: 0 }, seededRandom(3));
  for (let drawn = 0; drawn < DRAWS; drawn++) counts[draw()]! += 1;
  expect(Math.max(...counts) / DRAWS).toBeGreaterThan(0.09);
  expect(counts.filter((count) => count === 0).length).toBeGreaterThan(3_000);
});

test.each([1, 2, 3])('from %i records each choice draws only existing ones', (count) => {
  for (const choice of KEY_CHOICES) {
    const draw = keyIndexes(choice, { count: () => count, insertsExpected: 0 }, seededRandom(3));
    for (let drawn = 0; drawn < 1_000; drawn++) expect([...Array(count).keys()]).toContain(draw());
  }
});
