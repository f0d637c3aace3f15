// When the calls of an open loop are due.
import { ln } from '../kit/exact-math.ts';
import type { Random } from '../kit/random.ts';

/** `poisson`: the gaps are exponential, as those of independent callers are. `fixed`: all gaps are equal. */
export const SPACINGS = ['poisson', 'fixed'] as const;

export interface Arrivals {
  readonly perSecond: number;
  readonly spacing: (typeof SPACINGS)[number];
}

/** Draws the milliseconds from one arrival to the next, without end. Equal draws give equal gaps on any machine. */
export function gapsOf({ perSecond, spacing }: Arrivals, random: Random): () => number {
  const meanMs = 1_000 / perSecond;
  return spacing === 'fixed' ? () => meanMs : () => -ln(1 - random()) * meanMs;
}
