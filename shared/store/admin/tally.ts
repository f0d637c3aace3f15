// Counts a vacuum's work.
import type { VacuumReport } from '../contract/results.ts';

/** As `VacuumReport`, with the ids of damaged containers, as several looks meet the same one. */
export type Tally = { -readonly [Name in keyof Omit<VacuumReport, 'damaged'>]: number } & {
  readonly damaged: Set<string>;
};

export function newTally(): Tally {
  const found = { listed: 0, removed: 0, left: 0, foreign: 0 };
  const merging = { merged: 0, stripped: 0, purged: 0, busy: 0, entriesDropped: 0 };
  return { ...found, ...merging, damaged: new Set() };
}
