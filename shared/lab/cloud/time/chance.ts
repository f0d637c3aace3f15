// Chance from a run's seed. Each use has its own source: one more leaves the others as they were.
import { type Random, scramble32, seededRandom } from '../../kit/random.ts';

/** Users of chance: the first part of a source's name. */
export const CHANCE = { ties: 0, service: 1, runtime: 2, keys: 3, arrivals: 4, dataset: 5 } as const;

export function seedOf(seed: number, ...name: readonly number[]): number {
  let mixed = scramble32(seed);
  for (const part of name) mixed = scramble32((mixed ^ Math.imul(part + 1, 0x9e3779b1)) >>> 0);
  return mixed;
}

export function sourceOf(seed: number, ...name: readonly number[]): Random {
  return seededRandom(seedOf(seed, ...name));
}
