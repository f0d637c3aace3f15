// The counts of a table's engine; `TableStats` is the public view of it.
import type { TableStats } from '../contract/stats.ts';
import type { StoreEvent } from '../contract/trace.ts';
import { noteEvent } from '../system/tracing.ts';

export type Counters = { -readonly [Name in Exclude<keyof TableStats, `${string}Max`>]: number };

/** A table's counters, and its name for who listens. */
export interface Counted {
  readonly table: string;
  readonly counters: Counters;
}

/** Counts, and tells the diagnostics channel. */
export function count({ table, counters }: Counted, event: StoreEvent['event'] & keyof Counters, times = 1): void {
  counters[event] += times;
  noteEvent(event, table, times);
}

export function newCounters(): Counters {
  return {
    requests: 0,
    readRequests: 0,
    writeRequests: 0,
    conflicts: 0,
    commits: 0,
    unknownOutcomes: 0,
    cacheHits: 0,
    cacheMisses: 0,
    splits: 0,
    contentionSplits: 0,
    lostSplits: 0,
    foreignCommits: 0,
    readsFirst: 0,
    yields: 0,
    rightWalks: 0,
    leftSearches: 0,
    merges: 0,
    queueDepth: 0,
  };
}
