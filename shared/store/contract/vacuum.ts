// What a vacuum did.

/** Counts of one vacuum, and where the next one goes on. */
export interface VacuumReport {
  /** There if time was over before all was done: the next vacuum goes on from it. */
  readonly cursor?: string;
  /** Containers looked at. */
  readonly listed: number;
  /** Orphans removed. */
  readonly removed: number;
  /** Orphans and merged containers that stay, as their removal was refused or not proven safe. */
  readonly left: number;
  /**
   * Containers of an incarnation that nobody dropped: the table's root was lost, and created anew.
   * They stay. Restore the root from a backup.
   */
  readonly foreign: number;
  /** Leaves that were looked at whether they merge. */
  readonly passed: number;
  /** Containers merged into their left neighbours, interrupted merges included. */
  readonly merged: number;
  /** Stored bytes of the pages that moved with them. */
  readonly movedBytes: number;
  /** Merged containers reduced to a header, which leads old caches on. Removed a day later. */
  readonly stripped: number;
  /**
   * Containers rewritten without dead records, or with fewer pages. A record is dead once it was
   * deleted, or expired 5 minutes ago: a vacuum right after an expiry keeps its bytes.
   */
  readonly purged: number;
  /** Pairs of small neighbours that stay two, as several processes wrote them in `quietMs`. */
  readonly busy: number;
  /** Containers with a damaged page. They stay; reads of their records name the page. */
  readonly damaged: number;
  /** Routing entries left over by merges, removed. */
  readonly entriesDropped: number;
}
