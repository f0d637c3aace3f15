// The store's counts of its own work: they tell why a table with many writers is as fast as it is.
import * as z from 'zod';

const count = z.int().min(0);

/** As `table.stats()` has them, of one piece of work. */
export const storeCountersSchema = z.strictObject({
  commits: count,
  /** Commits of other processes that reads have shown. */
  foreignCommits: count,
  /** Reads sent before a commit, because others had probably written to the container. */
  readsFirst: count,
  /** Pauses before a commit, because another process was splitting the container. */
  yields: count,
  /** Containers that were split, for their size or for their traffic. */
  splits: count,
  contentionSplits: count,
  /** Splits for contention that others' commits prevented. */
  lostSplits: count,
});

export type StoreCounters = z.infer<typeof storeCountersSchema>;

/** The counters that a comparison keeps. */
export function countersIn(stats: StoreCounters): StoreCounters {
  const names = storeCountersSchema.keyof().options;
  return Object.fromEntries(names.map((name) => [name, stats[name]])) as StoreCounters;
}
