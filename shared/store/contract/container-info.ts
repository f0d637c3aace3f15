// What `store.inspect` shows: one container as it is stored.
import type { CallOptions, Order } from './options.ts';

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
