// When a container is split for its size or failing commits; for contention: machine/contention.ts.
import type { DriverLimits } from '../contract/driver.ts';
import { fits, type Size } from './container-size.ts';

/** A container is split beyond this share of a budget, which leaves room for the next commit. */
const SPLIT_SHARE = 0.7;
/** After so many failed commits in a row, one entity may not be enough for the traffic. */
const FAILURES_BEFORE_SPLIT = 8;

/** Whether a container of this size must be split. */
export function isFull(size: Size, limits: DriverLimits): boolean {
  return !fits(size, limits, SPLIT_SHARE);
}

/** Whether a container must be split however small it is. */
export function failsTooOften(failuresInARow: number): boolean {
  return failuresInARow >= FAILURES_BEFORE_SPLIT;
}
