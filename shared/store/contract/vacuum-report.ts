// What a vacuum did.

/** Counts of one vacuum, and where the next one goes on. */
export interface VacuumReport {
  /** Set if the time ended before all was done. The next vacuum goes on from it. */
  readonly cursor?: string;
  /** Containers that were looked at. */
  readonly listed: number;
  /** Orphans that were removed. */
  readonly removed: number;
  /** Orphans and merged containers that stay, since their removal was refused or may be unsafe. */
  readonly left: number;
  /**
   * Containers of an incarnation that nobody dropped, because the table's root was lost and created
   * anew. They stay. Restore the root from a backup.
   */
  readonly foreign: number;
  /** Leaves that were examined for merging. */
  readonly passed: number;
  /** Containers that were merged into their left neighbours, including merges begun earlier. */
  readonly merged: number;
  /** The stored bytes of the pages that moved with them. */
  readonly movedBytes: number;
  /** Merged containers reduced to a header, which guides old caches and is removed a day later. */
  readonly stripped: number;
  /**
   * Containers that were rewritten without dead records or with fewer pages. A record is dead once
   * it was deleted or expired 5 minutes ago.
   */
  readonly purged: number;
  /** Pairs of small neighbours that stay apart, since several processes wrote to them. */
  readonly busy: number;
  /** Containers with a damaged page. They stay; reads of their records name the page. */
  readonly damaged: number;
  /** Routing entries that merges left behind, and that were removed. */
  readonly entriesDropped: number;
}
