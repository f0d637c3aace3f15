// Whether a load is warm, so that the rate of its replies changes no more.
import { sum } from '../kit/numbers.ts';

export const STEADINESS = ['steady', 'unsteady', 'not known'] as const;

export type Steadiness = (typeof STEADINESS)[number];

/** At least so many of the last time slices are compared with as many before them. */
const SLICES = 3;

/** A warm-up that lasts its shortest time is cut into two such groups. */
export const SLICES_LEAST = 2 * SLICES;

/** The last slices together may differ by so much from those before. */
const TOLERANCE = 0.1;

/** With so many replies, nine of ten loads that double are recognized; with half, one of two. */
const REPLIES_NEEDED = 100;

/** Whether the last slices differ from those before by a tenth at most, or as by chance. */
export function steadiness(repliesBySlice: readonly number[]): Steadiness {
  for (let slices = SLICES; 2 * slices <= repliesBySlice.length; slices += 1) {
    const late = sum(repliesBySlice.slice(-slices));
    const early = sum(repliesBySlice.slice(-2 * slices, -slices));
    if (early + late < REPLIES_NEEDED) continue;
    const mayDiffer = Math.max(TOLERANCE * early, 2 * Math.sqrt(early + late));
    return Math.abs(late - early) <= mayDiffer ? 'steady' : 'unsteady';
  }
  return 'not known';
}
