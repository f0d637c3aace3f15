// A look into a table: what `store.verify` checks and reports.
/**
 * The fault of something stored.
 * `damaged`: a header, page or value that cannot be read. `missing`: a page or container that a
 * header names is not there. `misplaced`: it can be read, but does not belong where it lies.
 * `foreign`: a container of an incarnation that nobody dropped, so the table's root was lost.
 */
export type FindingKind = 'damaged' | 'missing' | 'misplaced' | 'foreign';

/** One thing that is wrong, and where. */
export interface Finding {
  readonly kind: FindingKind;
  /** The entity's id at the provider. */
  readonly container: string;
  /** The slot of the page; undefined if the finding concerns the whole container. */
  readonly page: number | undefined;
  /** The record, if one can be named. */
  readonly key: string | undefined;
  /**
   * The stretch of the table that is concerned, `to` exclusive and undefined at its end: keys where
   * the order is `key`, else 16 hexadecimal digits of the hash and the key.
   */
  readonly from: string;
  readonly to: string | undefined;
  /** Says what is wrong, in words. */
  readonly message: string;
}

/** The containers of one level of the tree; 0 is that of the leaves. */
export interface LevelReport {
  readonly level: number;
  readonly containers: number;
  readonly pages: number;
  readonly bytes: number;
}

/** The result of a verification. Without findings the stored table can be read whole. */
export interface VerifyReport {
  /** Containers that belong to the table, branches included. */
  readonly containers: number;
  /** Branches among them. */
  readonly branches: number;
  readonly pages: number;
  /** Records that are neither deleted nor expired. */
  readonly records: number;
  /** Bytes of headers and pages as stored. */
  readonly bytes: number;
  /** The same by level, the root's first, leaves last. */
  readonly levels: readonly LevelReport[];
  /** The leaves' share of the largest container that the provider takes, on average. */
  readonly fill: number;
  /** When the oldest and the newest container was made, in milliseconds since 1970. */
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
  /** Containers that no link leads to: of interrupted splits, or merged. A vacuum judges them. */
  readonly unlinked: number;
  /** How many findings there are. */
  readonly findingCount: number;
  /** The first 1,000 of them. */
  readonly findings: readonly Finding[];
}
