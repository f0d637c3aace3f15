/** Counters that only grow, unless they say "now" or "in use". */
export interface TableStats {
  /** Requests sent to the provider: reads and writes. Calls on whole tables do not count here. */
  readonly requests: number;
  readonly readRequests: number;
  readonly writeRequests: number;
  /** Commits refused, as another came first. */
  readonly conflicts: number;
  /** Acknowledged commits. */
  readonly commits: number;
  /** Commits whose outcome had to be settled by reading. */
  readonly unknownOutcomes: number;
  /** Operations answered from a page in memory. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Splits of containers, for size or traffic. */
  readonly splits: number;
  /** Splits for contention alone. */
  readonly contentionSplits: number;
  /** Splits for contention that failed or are unknown. Vacuum removes their new nodes. */
  readonly lostSplits: number;
  /** Other processes' commits that reads showed. */
  readonly foreignCommits: number;
  /** Reads before a commit, as others had probably written to the container. */
  readonly readsFirst: number;
  /** Pauses before a commit, as another process was splitting the container. */
  readonly yields: number;
  /** Steps to the right of a split node, as a branch did not know the split yet. */
  readonly rightWalks: number;
  /** Searches to the left of a leaf that was merged into its left neighbour. */
  readonly leftSearches: number;
  /** Merges of a leaf into its left neighbour that this process finished. */
  readonly merges: number;
  /** Changes waiting for their commit, now. */
  readonly queueDepth: number;
  /** The container size in use: `TableOptions.containerBytesMax`, or its default. */
  readonly containerBytesMax: number;
}
