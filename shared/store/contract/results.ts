// The results of calls: records, outcomes of batches, tables, reports.
import type { StoreError } from './errors.ts';
import type { CallOptions, DELETE, Order, UpdateOptions } from './options.ts';

export interface Entry<V> {
  readonly key: string;
  readonly value: V;
  /** Opaque. It never returns for this key, and may serve as an HTTP ETag. */
  readonly version: string;
  /** In milliseconds since 1970; undefined if the record never expires. */
  readonly expiresAtMs: number | undefined;
  /** How long ago this was read, in milliseconds. Only reads with `maxAgeMs` give it. */
  readonly ageMs?: number;
}

interface Failed {
  readonly status: 'failed';
  readonly key: string;
  readonly error: StoreError;
}

interface Absent {
  readonly status: 'absent';
  readonly key: string;
}

export type GetOutcome<V> = ({ readonly status: 'found' } & Entry<V>) | Absent | Failed;

export type PutOutcome = { readonly status: 'written'; readonly key: string; readonly version: string } | Failed;

/** `version` is that of the deletion. */
interface Deleted {
  readonly status: 'deleted';
  readonly key: string;
  readonly version: string;
}

export type DeleteOutcome = Deleted | Absent | Failed;

/** An update in a batch. */
export interface UpdateItem<V, In = V> extends Omit<UpdateOptions, keyof CallOptions> {
  readonly key: string;
  readonly change: (current: Entry<V> | undefined) => In | typeof DELETE | undefined;
}

/** The record as it now stands. If a function threw, its error is the `cause` of an `invalid`. */
export type UpdateOutcome<V> = ({ readonly status: 'written' | 'unchanged' } & Entry<V>) | Deleted | Absent | Failed;

/** One item of a batch. `version`: undefined for the deletion of an absent record. */
export interface BatchOutcome {
  readonly key: string;
  readonly version: string | undefined;
}

/**
 * Records in order of position, exactly once each that existed throughout. Iterate it once; leaving
 * the loop ends the scan.
 *
 * Damage ends it with a StoreError `corrupt`, which names the `key` of a value or the `container`
 * of a page or leaf. `cursor` has then moved behind the damage: a scan from there gives the rest.
 * If it has not moved, nobody knows what follows.
 */
export interface Scan<V> extends AsyncIterable<Entry<V>> {
  /** Resumes behind the last record or the damage, in any process; undefined at the end. */
  readonly cursor: string | undefined;
}

/** Keys in order of position. Otherwise as `Scan`, but no value is decoded. */
export interface KeyScan extends AsyncIterable<string> {
  /** Resumes behind the last key, in any process, as keys or as records; undefined at the end. */
  readonly cursor: string | undefined;
}

/** A table. If it has `damage`, only its name is known. */
export interface TableInfo {
  readonly name: string;
  readonly order?: Order;
  /** As `TableOptions.groupBy`; absent without groups. */
  readonly groupBy?: string;
  /** In milliseconds since 1970. */
  readonly createdAtMs?: number;
  /** Why the root cannot be read. Calls on the table fail; `store.repair` may mend it. */
  readonly damage?: string;
}
