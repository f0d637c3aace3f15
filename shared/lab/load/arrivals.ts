// When the calls of an open loop are due.
import type { ARRIVALS } from '../kit/dimensions.ts';
import type { Random } from '../kit/random.ts';

/** `poisson`: the gaps are exponential, as of independent callers. `equidistant`: all equal. */
export interface Arrivals {
  readonly perSecond: number;
  readonly spacing: (typeof ARRIVALS)[number];
}

/** Milliseconds from one arrival to the next, without end. */
export function gapsOf({ perSecond, spacing }: Arrivals, random: Random): () => number {
  const meanMs = 1_000 / perSecond;
  return spacing === 'equidistant' ? () => meanMs : () => -Math.log(1 - random()) * meanMs;
}
