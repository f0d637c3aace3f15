// What a vacuum has done so far.
import type { VacuumReport } from '../contract/api.ts';

export type Tally = { -readonly [Name in keyof VacuumReport]: number };

export function newTally(): Tally {
  return { listed: 0, removed: 0, left: 0, merged: 0, stripped: 0, purged: 0, busy: 0, damaged: 0, entriesDropped: 0 };
}
