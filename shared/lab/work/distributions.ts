// Chooses keys as YCSB's CoreWorkload does. tests/lab/work/ycsb.json has YCSB's own draws.
import type { KeyChoice } from '../kit/dimensions.ts';
import { type Random, randomInt, scramble32 } from '../kit/random.ts';

export interface KeySpace {
  /** How many records exist now; they are numbered from 0, and none is deleted. */
  readonly count: () => number;
  /** Inserts that YCSB would expect from its configuration. */
  readonly insertsExpected: number;
}

/** Draws from [0, count()). Only `latest` and `zipfian` also draw records inserted later. */
export function keyIndexes(choice: KeyChoice, space: KeySpace, random: Random): () => number {
  if (choice === 'latest') return latestIndexes(space, random);
  const { count, insertsExpected } = space;
  const atFirst = count();
  if (choice === 'uniform') return uniformIndexes(atFirst, random);
  if (choice === 'zipfian-over-records') {
    const hotter = new Zipfian(atFirst);
    return () => scramble32(hotter.rank(random()) + 1) % atFirst;
  }
  // YCSB's bounds are inclusive: one more than it expects.
  const places = atFirst + insertsExpected + 1;
  const zipfian = new Zipfian(YCSB_ITEMS, YCSB_ZETA);
  // Popular keys stay popular while records are inserted; a place that has none yet is drawn again.
  return () => {
    for (;;) {
      const index = fnvHash(zipfian.rank(random()), places);
      if (index < count()) return index;
    }
  };
}

function uniformIndexes(count: number, random: Random): () => number {
  return () => randomInt(random, count);
}

/** The last record is the likeliest. The first is never drawn: YCSB's count is one short. */
function latestIndexes({ count }: KeySpace, random: Random): () => number {
  const zipfian = new Zipfian(count() - 1);
  return () => {
    const last = count() - 1;
    return last - zipfian.rank(random(), last);
  };
}

const THETA = 0.99;
const OF_RANK_1 = Math.pow(0.5, THETA);

/** ScrambledZipfianGenerator draws ranks of so many items, however few records there are. */
const YCSB_ITEMS = 10_000_000_001;
const YCSB_ZETA = 26.46902820178302;

/** Gray et al., SIGMOD 1994, as in YCSB's ZipfianGenerator. Exact for ranks 0 and 1 alone. */
class Zipfian {
  readonly #items: number;
  #count = 0;
  #zeta = 0;
  #eta: number;

  /** `zeta`: the sum of 1/r^0.99 over all items; left out, it is computed. */
  constructor(items: number, zeta?: number) {
    this.#items = items;
    if (zeta === undefined) this.#sumUpTo(items);
    else [this.#count, this.#zeta] = [items, zeta];
    this.#eta = this.#etaNow();
  }

  /** The rank that a number in [0, 1) falls on; `count`: how many items there are by now. */
  rank(u: number, count = this.#items): number {
    if (count > this.#count) {
      this.#sumUpTo(count);
      this.#eta = this.#etaNow();
    }
    const scaled = u * this.#zeta;
    if (scaled < 1) return 0;
    if (scaled < 1 + OF_RANK_1) return 1;
    return Math.min(count - 1, Math.floor(count * Math.pow(this.#eta * u - this.#eta + 1, 1 / (1 - THETA))));
  }

  #sumUpTo(count: number): void {
    for (let rank = this.#count + 1; rank <= count; rank++) this.#zeta += Math.pow(rank, -THETA);
    this.#count = count;
  }

  /** Uses the items of the beginning though the sum has grown, as YCSB does. */
  #etaNow(): number {
    if (this.#items < 2) return 0;
    return (1 - Math.pow(2 / this.#items, 1 - THETA)) / (1 - (1 + OF_RANK_1) / this.#zeta);
  }
}

/** YCSB's `fnvhash64(value) % limit`. `value` < 2^53, `limit` < 2^37. Faster than a BigInt. */
export function fnvHash(value: number, limit: number): number {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (let at = 0; at < 8; at++) {
    const half = at < 4 ? value : value / 2 ** 32;
    const mixed = (low ^ ((half >>> (8 * (at % 4))) & 0xff)) >>> 0;
    // Times 2^40 + 0x1b3; `>>>` takes what exceeds 32 bits away.
    const product = mixed * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + mixed * 0x100) >>> 0;
    low = product >>> 0;
  }
  if (high >= 2 ** 31) [high, low] = low === 0 ? [2 ** 32 - high, 0] : [2 ** 32 - 1 - high, 2 ** 32 - low];
  const upper = ((high % limit) * 2 ** 16 + (low >>> 16)) % limit;
  return (upper * 2 ** 16 + (low & 0xffff)) % limit;
}
