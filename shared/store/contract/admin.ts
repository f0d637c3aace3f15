// The options and reports of the calls on whole tables: vacuum, verify, inspect and repair.
import type { CallOptions, Order } from './options.ts';

export interface VacuumOptions extends CallOptions {
  /**
   * Merges neighbouring containers to which at most one process wrote during this time, and purges
   * those to which none did. From 0 ms to one day. Default: 120,000. The call takes at least this
   * long, so its default deadline is the store's `timeoutMs` plus this.
   */
  readonly quietMs?: number | undefined;
  /** The cursor of a report, from which this vacuum goes on, again after `quietMs`. */
  readonly cursor?: string | undefined;
  /** Is called several times with what has been done. */
  readonly onProgress?: ((report: VacuumReport) => void) | undefined;
  /** Merges fill up to 0.6 of this. Default: the open handles' value, else as in TableOptions. */
  readonly containerBytesMax?: number | undefined;
}

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

/** Options of a verification. `timeoutMs` bounds the whole walk; its default is one day. */
export interface VerifyOptions extends CallOptions {
  /** Is called with each finding, also with those that the report leaves out. Must not throw. */
  readonly onFinding?: ((finding: Finding) => void) | undefined;
}

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

/** Names one container; by default the root. */
export interface InspectOptions extends CallOptions {
  /** The entity's id at the provider, as findings and errors name it. */
  readonly container?: string;
  /** The leaf that owns this key. Not together with `container`. */
  readonly key?: string;
}

/** A page of a container. Its stretch is as in `Finding`. */
export interface PageInfo {
  readonly slot: number;
  /** 0 for the base. A record in a higher layer hides the same one in lower layers. */
  readonly layer: number;
  readonly from: string;
  readonly to: string | undefined;
  readonly number: number;
  /** The stored size. */
  readonly bytes: number;
  readonly compression: 'none' | 'deflate' | 'zstd' | 'unknown';
  /** The number of records, according to the header. */
  readonly records: number;
  /** Records that have expired; they are purged 5 minutes later. Undefined if unreadable. */
  readonly expired: number | undefined;
  /** Deletions, which stay until their layer is merged into the base. Undefined if unreadable. */
  readonly tombstones: number | undefined;
  /** Why the page cannot be read. */
  readonly damage: string | undefined;
}

/** The fields of a header (FORMAT.md). Positions are shown as in `Finding`. */
export interface HeaderInfo {
  readonly order: Order;
  readonly state: 'live' | 'removing' | 'removed' | 'retired' | 'merged';
  readonly level: number;
  readonly incarnation: string;
  readonly from: string;
  readonly to: string | undefined;
  /** The entity that follows on this level. */
  readonly right: string | undefined;
  readonly nextNumber: number;
  readonly commitCount: number;
  readonly lastCommit: string | undefined;
  /** In milliseconds since 1970; of a merged leaf: when it was stripped of its pages. */
  readonly createdAtMs: number;
  /** Until when a vacuum keeps a merged leaf's header; undefined for all others. */
  readonly keptUntilMs: number | undefined;
  readonly origin: { readonly id: string; readonly version: string } | undefined;
  readonly deadSlots: number;
}

export interface ContainerInfo {
  readonly container: string;
  readonly version: string;
  /** The stored bytes of each part. */
  readonly parts: Readonly<Record<string, number>>;
  /** Undefined if the header cannot be read. */
  readonly header: HeaderInfo | undefined;
  /** Why the header cannot be read. */
  readonly damage: string | undefined;
  readonly pages: readonly PageInfo[];
}

/** One container as a repair found it, and what the table loses by the repair. */
export interface Taken {
  /** The entity's id at the provider. */
  readonly container: string;
  /** Its stored parts by name, as they were read. Empty if the container is missing. */
  readonly parts: Readonly<Record<string, Uint8Array>>;
  /** Stretches, as in `Finding`, whose records are lost, if there were any. */
  readonly lost: readonly { readonly from: string; readonly to: string | undefined }[];
  /** Records that are taken away, since they cannot be decoded or lie in a wrong place. */
  readonly lostKeys: readonly string[];
  /**
   * Records that stay although an unreadable page above them may have held a newer value or their
   * deletion. They get new versions.
   */
  readonly olderKeys: readonly string[];
}

/** Options of a repair. `timeoutMs` bounds all of it; its default is one day. */
export interface RepairOptions extends CallOptions {
  /**
   * Must keep what is taken away. Nothing is changed before its promise resolves; if it rejects,
   * the repair ends. It may be called again for a container that others changed meanwhile.
   */
  readonly save: (taken: Taken) => Promise<void>;
  /** Calls `save` with what would be taken away first, and writes nothing. Default: false. */
  readonly dryRun?: boolean;
}

export interface RepairReport {
  /** Containers that were rewritten, inserted or removed. */
  readonly mended: number;
  /** The last verification. Its findings are those that a repair cannot mend. */
  readonly verified: VerifyReport;
}
