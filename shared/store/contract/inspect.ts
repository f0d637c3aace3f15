// One container as it is stored: what `store.inspect` shows.
import type { CallOptions, Order } from './options.ts';

/** Names one container; without either it is the root. */
export interface InspectOptions extends CallOptions {
  /** The entity's id at the provider, as findings and errors name it. */
  readonly container?: string;
  /** Takes the leaf that owns the key. Not together with `container`. */
  readonly key?: string;
}

/** A page of a container. Its stretch is as in `Finding`. */
export interface PageInfo {
  readonly slot: number;
  /** 0 for the base; the records of a higher layer count before those of a lower one. */
  readonly layer: number;
  readonly from: string;
  readonly to: string | undefined;
  readonly number: number;
  /** As stored. */
  readonly bytes: number;
  readonly compression: 'none' | 'deflate' | 'zstd' | 'unknown';
  /** As the header says. */
  readonly records: number;
  /** Records past their expiry; they go once that was 5 minutes ago. Undefined if unreadable. */
  readonly expired: number | undefined;
  /** Deletions; they go when their layer joins the base. Undefined if unreadable. */
  readonly tombstones: number | undefined;
  /** Says why the page cannot be read. */
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
  /** Milliseconds since 1970; of a merged leaf the time at which its pages went. */
  readonly createdAtMs: number;
  /** Until then a vacuum keeps a merged leaf's header; undefined for all others. */
  readonly keptUntilMs: number | undefined;
  readonly origin: { readonly id: string; readonly version: string } | undefined;
  readonly deadSlots: number;
}

export interface ContainerInfo {
  readonly container: string;
  readonly version: string;
  /** Stored bytes of each part. */
  readonly parts: Readonly<Record<string, number>>;
  /** Undefined if it cannot be read. */
  readonly header: HeaderInfo | undefined;
  /** Says why the header cannot be read. */
  readonly damage: string | undefined;
  readonly pages: readonly PageInfo[];
}
