// How keys are chosen, as YCSB chooses them: indexes of records, drawn from a seed.
import { power } from '../kit/exact-math.ts';
import { type Random, randomInt, scramble32 } from '../kit/random.ts';

/** Indexes in [0, count), each as likely as the other. */
export function uniformIndexes(count: number, random: Random): () => number {
  return () => randomInt(random, count);
}

/** Indexes in [0, count), ranks of `Zipfian` scattered by a hash: YCSB's scrambled zipfian. The scattering may lay two ranks on one index. */
export function zipfianIndexes(count: number, random: Random): () => number {
  const zipfian = new Zipfian(count);
  return () => scramble32(zipfian.rank(random()) + 1) % count;
}

/** Indexes in [0, count()), where `count` grows: the last one is the likeliest, and those before it by the ranks of `Zipfian`. YCSB's latest. */
export function latestIndexes(count: () => number, random: Random): () => number {
  const zipfian = new Zipfian(count());
  return () => {
    const now = count();
    zipfian.grow(now);
    return now - 1 - zipfian.rank(random());
  };
}

/** YCSB's constant: the exponent of its zipfian distribution. */
const THETA = 0.99;

/**
 * Ranks from 0, rank r about in proportion to 1/(r+1)^0.99, by the formula of Gray et al., "Quickly generating billion-record synthetic databases",
 * SIGMOD 1994, which YCSB uses. It is exact for the ranks 0 and 1 and an approximation beyond: of 10,000 records rank 2 comes 18 % more often than by the
 * law, rank 10 2 %, and the ranks behind the thirtieth up to 2.5 % less often.
 */
export class Zipfian {
  #count = 0;
  #zeta = 0;
  #eta = 0;

  constructor(count: number) {
    this.grow(count);
  }

  /** More records than before; fewer are ignored. */
  grow(count: number): void {
    if (count <= this.#count) return;
    for (let rank = this.#count + 1; rank <= count; rank++) this.#zeta += power(rank, -THETA);
    this.#count = count;
    const ofTwo = count < 2 ? 1 : 1 + power(2, -THETA);
    this.#eta = (1 - power(2 / count, 1 - THETA)) / (1 - ofTwo / this.#zeta);
  }

  /** The rank that a number in [0, 1) falls on. */
  rank(u: number): number {
    const scaled = u * this.#zeta;
    if (scaled < 1 || this.#count === 1) return 0;
    if (scaled < 1 + power(0.5, THETA) || this.#count === 2) return 1;
    const place = power(this.#eta * u - this.#eta + 1, 1 / (1 - THETA));
    return Math.min(this.#count - 1, Math.floor(this.#count * place));
  }
}
