// What a table tells of its work.

/** What a table has done, in numbers that only grow, except where one says "now" or "in use". */
export interface TableStats {
  /** Requests sent to the provider: reads, writes, removals and lists. */
  readonly requests: number;
  readonly readRequests: number;
  readonly writeRequests: number;
  /** Commits that met another's. */
  readonly conflicts: number;
  /** Commits acknowledged. */
  readonly commits: number;
  /** Commits whose outcome had to be settled by reading. */
  readonly unknownOutcomes: number;
  /** Operations whose page was served from memory. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Containers that were split, for their size or for their traffic. */
  readonly splits: number;
  /** Those of them that were split for their traffic. */
  readonly splitsByTraffic: number;
  /** Splits for traffic that others' commits prevented, or whose outcome is unknown: what they inserted is for vacuum to remove. */
  readonly lostSplits: number;
  /** Commits of other processes that reads have shown. */
  readonly foreignCommits: number;
  /** Reads sent before a commit, because others had probably written to the container. */
  readonly readsFirst: number;
  /** Pauses before a commit, because another process was splitting the container. */
  readonly rests: number;
  /** Steps from a node that was split to a part of it, because a branch did not know of the split yet. */
  readonly rightWalks: number;
  /** Searches for a leaf's content to the left of it, because it had been merged into its left neighbour. */
  readonly leftSearches: number;
  /** Merges of a leaf into its left neighbour that this process finished. */
  readonly merges: number;
  /** Changes waiting for their commit, now. */
  readonly queueDepth: number;
  /** Reads, and commits, that the store may have in flight, now: from 2 to the driver's `inFlightMax`, adapted to the throughput, halved after a throttled reply. */
  readonly readsInFlightMax: number;
  readonly commitsInFlightMax: number;
  /** The container size in use: `TableOptions.containerBytesMax`, or its default. */
  readonly containerBytesMax: number;
}
