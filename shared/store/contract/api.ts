// The public surface of the store, as types: what a user of the library calls, gives and gets.
import type { Driver } from './driver.ts';
import type { StoreError } from './errors.ts';
import type { Compression, Runtime } from './runtime.ts';
import type { TableStats } from './stats.ts';

/** Bounds of one call. */
export interface CallOptions {
  /** The call ends after this many milliseconds (default: the store's `timeoutMs`): with `aborted` if nothing was written, with `unknown` if a write is still undecided. */
  readonly timeoutMs?: number;
  /** Ends the call early, with the same two codes. */
  readonly signal?: AbortSignal;
}

export interface StoreOptions {
  readonly driver: Driver;
  /** Memory for cached containers, in bytes. Default 64 MiB. Headers of those that had to go take up to a sixteenth more, or 256 KiB. */
  readonly cacheBytesMax?: number;
  /** Default deadline of every call. Default 30,000. */
  readonly timeoutMs?: number;
  /** Compression of pages written from now on; every page is readable whatever this says. Default `zstd`. */
  readonly compression?: Compression;
  /** Clock, timer and randomness; default the system's. */
  readonly runtime?: Runtime;
}

/** How a vacuum goes about it. */
export interface VacuumOptions extends CallOptions {
  /**
   * Containers that were not written for this many milliseconds, from 0 to a day, may be merged. Default 120,000. The call takes as long at
   * least; its default deadline is the store's `timeoutMs` and this together.
   */
  readonly quietMs?: number;
  /** The container size that the table is opened with, for what merging leaves; default that of its open handles in this store, else as `TableOptions` has it. */
  readonly containerBytesMax?: number;
}

/** `hash` spreads load and allows full scans; `key` keeps keys in byte order for range and prefix scans, at the price of a hot right edge. */
export type Order = 'hash' | 'key';

/**
 * How values are written: `msgpack` (default), `json` text, raw `bytes` (Uint8Array), or `encoded`: values already encoded, with their codec's name. A
 * record is read by the codec stored with it, whatever the table was opened with.
 *
 * What is put comes back the same, or the put is refused with `invalid` and what to do. `json` carries null, truth values, finite numbers, strings, arrays
 * and plain objects, also those without a prototype, which come back with the usual one; `msgpack` undefined inside them, every number, bigints, Maps, Sets, Dates, ArrayBuffers, DataViews and typed arrays as well
 * (Float16Array excepted); neither carries other classes, symbols as keys, holes in arrays, cycles, or more than `VALUE_DEPTH_MAX` levels.
 * `bytes` gives any Uint8Array back as one; what `encoded` is given is not looked into.
 */
export type CodecName = 'msgpack' | 'json' | 'bytes' | 'encoded';

/** A value with its encoding, as stored: tables opened with the codec `encoded` take and give it. */
export interface EncodedValue {
  readonly codec: 'msgpack' | 'json' | 'bytes';
  readonly bytes: Uint8Array;
}

/** `V` as far as JSON gives it back the same: what JSON lacks is `never` in it. */
export type JsonOf<V> = unknown extends V
  ? V
  : V extends string | number | boolean | null
    ? V
    : V extends ((...args: never) => unknown) | bigint | symbol | undefined
      ? never
      : { [Name in keyof V]: JsonOf<V[Name]> };

/** How a table is opened, or created. */
export interface TableOptions extends CallOptions {
  /** Default `hash`. Given and different from the existing table's: `conflict`. */
  readonly order?: Order;
  /** Leaves to begin with, 1 to 256 (default 1); a hint for creation only, `hash` only. */
  readonly containers?: number;
  /** Default `msgpack`. */
  readonly codec?: CodecName;
  /**
   * Size of a container in bytes, as the provider counts an entity's: a commit splits one that takes more than 70 % of it. From 16,384 to what the
   * provider takes (1,000,000 on Datastore, 720,000 on Azure Tables), which is the default, as few containers make loads, batches and scans cheap. At
   * 131,072 a load in calls of 500 is billed 4 to 5 times as much and a scan 6 times; lone calls cost the same, and many callers of a small table
   * wait less for each other. A record that is larger, up to 512 KiB, has a container to itself.
   *
   * It is not stored: processes may differ, and the smallest then decides. A container that is larger splits when it is next written, and
   * a vacuum merges up to 0.6 of its own store's value. All handles of a table in one store share the value of the first that was opened: `invalid` if another is given.
   */
  readonly containerBytesMax?: number;
  /** Whether to create the table if it does not exist (default true); otherwise `not_found`. */
  readonly create?: boolean;
}

/**
 * Tables in one provider. Errors are StoreErrors, and a TypeError for misuse. `await using` closes it at the end of its block.
 *
 * @example
 * await using store = openStore({ driver: memoryDriver() });
 * const users = await store.table<User>('users', { order: 'key' });
 * await users.put('user:1', { name: 'Ada' });
 */
export interface Store extends AsyncDisposable {
  /**
   * Opens a table, creating it if need be. The codec says what its values may be: `V`, which JSON must be able to hold for `json`. Cost: 1 request for an
   * existing table, 3 to create one, more to pre-split it.
   */
  table(name: string, options: TableOptions & { readonly codec: 'bytes' }): Promise<Table<Uint8Array>>;
  table(name: string, options: TableOptions & { readonly codec: 'encoded' }): Promise<Table<EncodedValue>>;
  table<V = unknown>(name: string, options: TableOptions & { readonly codec: 'json' }): Promise<Table<JsonOf<V>>>;
  table<V = unknown>(name: string, options?: TableOptions & { readonly codec?: 'msgpack' | 'json' }): Promise<Table<V>>;
  table(name: string, options?: TableOptions): Promise<Table<unknown>>;
  /** All tables, by name. Cost: 1 request for each page of roots listed, and the reads of the roots. */
  tables(options?: CallOptions): Promise<TableInfo[]>;
  /** Removes a table and all its containers; false if there was none. Cost: in proportion to its containers. */
  drop(name: string, options?: CallOptions): Promise<boolean>;
  /**
   * Removes containers that interrupted splits and drops left behind, then purges and merges containers that fell quiet or empty. Safe at any time beside
   * anything. Cost: four reads a container, and some eight requests for each one merged.
   */
  vacuum(name: string, options?: VacuumOptions): Promise<VacuumReport>;
  /** Waits (at most 5 s) for work under way, fails what is left, closes the driver. Idempotent. */
  close(): Promise<void>;
}

/** A table as `tables` lists it. */
export interface TableInfo {
  readonly name: string;
  readonly order: Order;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
}

/** What a vacuum found. */
export interface VacuumReport {
  /** Containers looked at. */
  readonly listed: number;
  /** Orphans removed. */
  readonly removed: number;
  /** Orphans and merged containers whose removal, or emptying, could not be shown to be safe, or was refused, this time. */
  readonly left: number;
  /** Containers of an incarnation that nobody dropped: the root of a table was lost, and created anew. They stay: restore the root from a backup. */
  readonly foreign: number;
  /** Containers that were merged into their left neighbours. Also those of which another vacuum or a writer was interrupted. */
  readonly merged: number;
  /** Merged containers of which only a header was left, so that whoever remembers them finds their content. A day later it is removed. */
  readonly stripped: number;
  /** Containers written anew without their deleted and expired records, or with fewer pages. */
  readonly purged: number;
  /** Pairs of small neighbours that stay two, as one of them was written within `quietMs`. */
  readonly busy: number;
  /** Containers with a damaged page, which are neither merged nor written anew nor taken in. Reads of what they hold say which. */
  readonly damaged: number;
  /** Routing entries that merges left over. */
  readonly entriesDropped: number;
}

/** A record as read. `version` is opaque, never returns for the same key, and fits an HTTP ETag. */
export interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly version: string;
  /** Milliseconds since 1970; undefined if it never expires. */
  readonly expiresAtMs: number | undefined;
}

export interface GetOptions extends CallOptions {
  /** Serve without I/O what was read at most this many milliseconds ago. Default 0: a linearizable read. */
  readonly maxAgeMs?: number;
}

export interface PutOptions extends CallOptions {
  /** Write only if the record is at this version; else `conflict`. */
  readonly ifVersion?: string;
  /** Write only if there is no record; else `conflict`. Not together with `ifVersion`. */
  readonly ifAbsent?: boolean;
  /** The record expires this many milliseconds from now (a positive integer); default never. */
  readonly ttlMs?: number;
}

export interface UpdateOptions extends CallOptions {
  /** The record expires this many milliseconds from now (a positive integer); default as before. */
  readonly ttlMs?: number;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only if the record is at this version; else `conflict`. */
  readonly ifVersion?: string;
}

/** One record of `putMany`; the options are those of `put`. */
export interface PutItem<V> {
  readonly key: string;
  readonly value: V;
  readonly ifVersion?: string;
  readonly ifAbsent?: boolean;
  readonly ttlMs?: number;
}

/** One record of `deleteMany`; the options are those of `delete`. */
export interface DeleteItem {
  readonly key: string;
  readonly ifVersion?: string;
}

/** What became of one key of `getMany`. */
export type GetOutcome<V> =
  | ({ readonly status: 'found' } & Entry<V>)
  | { readonly status: 'absent'; readonly key: string }
  | { readonly status: 'failed'; readonly key: string; readonly error: StoreError };

/** What became of one item of `putMany`. */
export type PutOutcome =
  | { readonly status: 'written'; readonly key: string; readonly version: string }
  | { readonly status: 'failed'; readonly key: string; readonly error: StoreError };

/** What became of one item of `deleteMany`. */
export type DeleteOutcome =
  /** `version` is that of the deletion. */
  | { readonly status: 'deleted'; readonly key: string; readonly version: string }
  | { readonly status: 'absent'; readonly key: string }
  | { readonly status: 'failed'; readonly key: string; readonly error: StoreError };

/** `timeoutMs` bounds the reading of each leaf, not the whole scan: its consumer may take its time. */
export interface ScanOptions extends CallOptions {
  /** Keys that begin with this; tables of order `key` only; not together with `from` and `to`. */
  readonly prefix?: string;
  /** First key, inclusive; tables of order `key` only. */
  readonly from?: string;
  /** Last key, exclusive; tables of order `key` only. */
  readonly to?: string;
  /** At most this many records. Default all. */
  readonly limit?: number;
  /**
   * Continues the scan that gave it; its bounds are in it, and need not be given again. Others are `invalid`, and so is a cursor of another table.
   * It is not secret, and can be forged: where bounds keep a caller out of other records, give them again beside his cursor.
   */
  readonly cursor?: string;
}

/**
 * Records in position order, each that existed throughout exactly once. To be iterated once; leaving the loop early ends the scan.
 *
 * Damage ends the scan with a StoreError `corrupt`: a record whose value cannot be decoded (named by `key`), a page or a leaf (named by `container`).
 * `cursor` has then moved behind that record, page or leaf, and a scan that begins there gives the rest; where it has not moved, nobody can
 * say what lies behind. Each such error means records that were left out.
 *
 * @example
 * const scan = users.scan({ prefix: 'user:', limit: 100 });
 * for await (const { key, value } of scan) console.log(key, value);
 * // In any process, later, if there is more:
 * if (scan.cursor !== undefined) resume(users.scan({ cursor: scan.cursor, limit: 100 }));
 */
export interface Scan<V> extends AsyncIterable<Entry<V>> {
  /** Resumes, in any process, after the last record given, or behind the damage that ended the scan; undefined when the scan has reached its end. */
  readonly cursor: string | undefined;
}

/**
 * A table. Every operation on one record is linearizable. Errors are StoreErrors, and a TypeError for misuse (an option that does not exist,
 * a value of the wrong type): `scan` throws it, the others reject with it. The cost of each verb is the usual number of requests to the provider
 * with the branches cached.
 */
export interface Table<V> {
  readonly name: string;
  readonly order: Order;
  /** Whether the call that opened this handle created the table; otherwise `containers` had no effect. */
  readonly isNew: boolean;
  /** The record, or undefined if there is none. Cost: 1 request (0 within `maxAgeMs`), 2 when the container is not cached. */
  get(key: string, options?: GetOptions): Promise<Entry<V> | undefined>;
  /** An outcome for each key, in order; duplicates allowed. A damaged page fails its own keys alone. Cost: requests by containers, not by keys. */
  getMany(keys: readonly string[], options?: GetOptions): Promise<GetOutcome<V>[]>;
  /**
   * Writes a record, whatever is there unless a condition is given. Cost: 1 request when the container is cached; concurrent writes to a container
   * share one.
   *
   * @example
   * const { version } = await users.put('user:1', { name: 'Ada' }, { ifAbsent: true });
   * await users.put('user:1', { name: 'Ada L.' }, { ifVersion: version });
   */
  put(key: string, value: V, options?: PutOptions): Promise<{ readonly version: string }>;
  /**
   * An outcome for each item, in order; equal keys take effect in order. Items must not change until it settles: a large batch is encoded as its
   * turn comes. Cost: requests by containers.
   */
  putMany(items: readonly PutItem<V>[], options?: CallOptions): Promise<PutOutcome[]>;
  /**
   * Reads and writes in one step: `change` gets the present record and returns the new value, or undefined to change nothing. It is
   * synchronous and may run again. An expiry time stays unless `ttlMs` is given. What it throws is thrown to the caller.
   * Resolves to the record as it then stands. Cost: as `put`.
   *
   * @example
   * await visits.update('home', (current) => (current?.value ?? 0) + 1);
   */
  update(
    key: string,
    change: (current: Entry<V> | undefined) => V | undefined,
    options?: UpdateOptions,
  ): Promise<Entry<V> | undefined>;
  /** Deletes a record; deleting one that is absent is no error. `version` is that of the deletion. Cost: as `put`. */
  delete(
    key: string,
    options?: DeleteOptions,
  ): Promise<{ readonly deleted: boolean; readonly version: string | undefined }>;
  /** An outcome for each item, in order. Cost: requests by containers. */
  deleteMany(items: readonly (string | DeleteItem)[], options?: CallOptions): Promise<DeleteOutcome[]>;
  /** Records in position order. Cost: 1 request a leaf; a scan without `limit` reads leaves ahead. */
  scan(options?: ScanOptions): Scan<V>;
  /** Counters since the table was first opened in this store. */
  stats(): TableStats;
}
