// When a container splits for its size, or for commits that fail. Else: `machine/contention.ts`.
import type { DriverLimits } from '../contract/driver.ts';
import { fits, type Size } from './container-size.ts';

/** A container splits beyond this share of a budget: room is left for the next commit. */
const SPLIT_SHARE = 0.7;
/** After so many failed commits in a row one entity may be too little for the traffic. */
const FAILURES_BEFORE_SPLIT = 8;
/** Whether it is too large for one entity; `size`: as `sizesOf` counts it. */
export function isFull(size: Size, limits: DriverLimits): boolean {
  return !fits(size, limits, SPLIT_SHARE);
}

/** Whether the container must split, however small it is. */
export function failsTooOften(failuresInARow: number): boolean {
  return failuresInARow >= FAILURES_BEFORE_SPLIT;
}
