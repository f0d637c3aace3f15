/** Counters since the table was opened, except those that say "now" or "in use". */
export interface TableStats {
  /** Requests sent to the provider, without those of calls on whole tables. */
  readonly requests: number;
  readonly readRequests: number;
  readonly writeRequests: number;
  /** Commits that were refused because another came first. */
  readonly conflicts: number;
  /** Acknowledged commits. */
  readonly commits: number;
  /** Commits whose outcome had to be settled by reading. */
  readonly unknownOutcomes: number;
  /** Operations that a page in memory answered. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Splits of containers, for size or contention. */
  readonly splits: number;
  /** Splits for contention alone. */
  readonly contentionSplits: number;
  /** Splits for contention that did not land. Vacuum removes their new nodes. */
  readonly lostSplits: number;
  /** Commits of other processes that reads have shown. */
  readonly foreignCommits: number;
  /** Reads before a commit, because others had probably written to the container. */
  readonly readsFirst: number;
  /** Pauses before a commit, to let other processes commit or split the container. */
  readonly yields: number;
  /** Steps to the right of a node, because a branch did not know of its split yet. */
  readonly rightWalks: number;
  /** Searches to the left of a leaf that was merged into its left neighbour. */
  readonly leftSearches: number;
  /** Merges of a leaf into its left neighbour that this process finished. */
  readonly merges: number;
  /** Changes that wait for their commit now. */
  readonly queueDepth: number;
  /** The container size in use: `TableOptions.containerBytesMax`, or its default. */
  readonly containerBytesMax: number;
}
