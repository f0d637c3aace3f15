// The Mann-Whitney test, two-sided and exact: it compares ranks, so one slow run cannot decide.
import { wilcoxonRankSum } from 'simple-statistics';
import { sum } from '../kit/numbers.ts';

/**
 * The probability of ranks at least as far apart by chance, ties exact. 1 where a side is empty.
 * Effort grows with the fourth power of the values.
 */
export function mannWhitneyP(one: readonly number[], other: readonly number[]): number {
  if (one.length === 0 || other.length === 0) return 1;
  const pooled = [...one, ...other];
  // The average rank of equal values may end in a half: doubled, all are whole.
  const ranks = pooled.map((value, at) => 2 * wilcoxonRankSum([value], pooled.toSpliced(at, 1)));
  const seen = sum(ranks.slice(0, one.length));
  const expected = one.length * (pooled.length + 1);
  const ways = waysToSum(ranks, one.length);
  const atLeastAsFar = [...ways].filter(([own]) => Math.abs(own - expected) >= Math.abs(seen - expected));
  return total(atLeastAsFar) / total([...ways]);
}

/** In how many ways `count` of the ranks add up to each sum. */
function waysToSum(ranks: readonly number[], count: number): ReadonlyMap<number, number> {
  const byCount = Array.from({ length: count + 1 }, () => new Map<number, number>());
  byCount[0]!.set(0, 1);
  for (const rank of ranks) {
    for (let taken = count; taken > 0; taken -= 1) {
      const into = byCount[taken]!;
      for (const [below, ways] of byCount[taken - 1]!) into.set(below + rank, (into.get(below + rank) ?? 0) + ways);
    }
  }
  return byCount[count]!;
}

function total(ways: readonly (readonly [sum: number, ways: number])[]): number {
  return sum(ways.map(([, count]) => count));
}
