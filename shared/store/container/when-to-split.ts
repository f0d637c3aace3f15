// When a container splits, and into how many: for size, meeting writes, or failing commits.
import type { DriverLimits } from '../contract/driver.ts';
import { fits, type Size } from './size.ts';

/** A container splits beyond this share of a budget: room is left for the next commit. */
const SPLIT_SHARE = 0.7;
/** After so many failed commits in a row one entity may be too little for the traffic. */
const FAILURES_BEFORE_SPLIT = 8;
/** After so many refusals in a row own commits no longer show the rate: split into the most. */
const REFUSALS_BEFORE_SPLIT = 5;
/** Nodes of one split for traffic: their names fit into the header (`last-split.ts`). */
const NODES_MAX = 16;
/** Writes that may meet while one commit is under way: with more too many are refused. */
const CROWD_MAX = 0.07;
/** The crowd allowed grows by CROWD_MAX for each so many bytes: a split writes all of them anew. */
const BYTES_A_CROWD = 192 * 1024;

/** Whether it is too large for one entity; `size`: as `sizesOf` counts it. */
export function isFull(size: Size, limits: DriverLimits): boolean {
  return !fits(size, limits, SPLIT_SHARE);
}

/** Whether the container must split, however small it is. */
export function failsTooOften(failuresInARow: number): boolean {
  return failuresInARow >= FAILURES_BEFORE_SPLIT;
}

/** The traffic of one container, as one process sees it. */
export interface SplitEvidence {
  /** Commits of others, and own calls, that come while one commit is under way. */
  readonly foreignCrowd: number;
  readonly ownCrowd: number;
  readonly refusalsInARow: number;
}

/** Nodes that a leaf should be split among for its traffic; 0: it may stay as it is. */
export function nodesForTraffic(
  { foreignCrowd, ownCrowd, refusalsInARow }: SplitEvidence,
  { records, sealedBytes }: { readonly records: number; readonly sealedBytes: number },
): number {
  const least = refusalsInARow >= REFUSALS_BEFORE_SPLIT ? NODES_MAX : 0;
  const nodes = Math.max(least, nodesForCrowd(Math.max(foreignCrowd, ownCrowd), sealedBytes));
  return nodes < 2 ? 0 : Math.min(records, nodes);
}

/** Each node would have half of the crowd that is allowed. */
function nodesForCrowd(crowd: number, pageBytes: number): number {
  const crowdMax = CROWD_MAX * (1 + pageBytes / BYTES_A_CROWD);
  return crowd > crowdMax ? Math.min(NODES_MAX, Math.ceil((2 * crowd) / CROWD_MAX)) : 0;
}
