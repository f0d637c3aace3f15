// How far a rate drifted while it was measured: a load that was still warming up, or a machine that
// grew slower, shows as halves of the windows that differ by more than chance.

/** Records of one window and of its first half, and the number of replies they came in. */
export interface Halves {
  readonly records: number;
  readonly recordsFirstHalf: number;
  readonly operations: number;
}

/** Chance moves a count by more than so many of its standard deviations once in 20 times. */
const DEVIATIONS = 2;

/**
 * The factor between the two halves of all windows together, less what chance explains with so many
 * independent replies: 1 or more, Infinity where one half is empty.
 */
export function driftOf(windows: readonly Halves[]): number {
  let [early, late, operations] = [0, 0, 0];
  for (const window of windows) {
    early += window.recordsFirstHalf;
    late += window.records - window.recordsFirstHalf;
    operations += window.operations;
  }
  if (early <= 0 || late <= 0) return operations > 1 ? Infinity : 1;
  // Each half has about half of the replies: the logarithm of their ratio varies by 2 / half.
  const chance = DEVIATIONS * Math.sqrt(4 / Math.max(1, operations));
  return Math.exp(Math.max(0, Math.abs(Math.log(late / early)) - chance));
}
