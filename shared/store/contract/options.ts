// The options that callers give, and the items of batches.
import type { Driver } from './driver.ts';
import type { Compression, Runtime } from './runtime.ts';
import type { StandardSchema } from './standard-schema.ts';
import type { VacuumReport } from './vacuum.ts';
import type { Finding } from './verify.ts';

export interface CallOptions {
  /**
   * Ends the call after as many milliseconds: with `aborted` if nothing was written, with `unknown`
   * if a write is undecided. Default: the store's `timeoutMs`.
   */
  readonly timeoutMs?: number;
  /**
   * Ends the call early, with the same two codes. Its reason is the `cause`. An `aborted` has the
   * name AbortError, as with `fetch`; an `unknown` has not, as the write may have taken effect.
   */
  readonly signal?: AbortSignal;
}

export interface StoreOptions {
  /** Stores may share it, each with its own cache and limits. The last one closes it. */
  readonly driver: Driver;
  /**
   * Bytes of memory for cached containers. Default 64 MiB. Headers of evicted ones take 1/16 more,
   * at least 256 KiB; what else a store holds is some 2 MiB, and the writes that wait, to 64 MiB.
   */
  readonly cacheBytesMax?: number;
  /** Default deadline of every call, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Compression of pages written from now on. Every page stays readable. Default `zstd`. */
  readonly compression?: Compression;
  /** Clock, timer and randomness. Default: the system's. */
  readonly runtime?: Runtime;
}

/** Options of a verification. `timeoutMs` bounds the whole walk: a day by default. */
export interface VerifyOptions extends CallOptions {
  /** Hears each finding as it is met, also those that the report leaves out. Must not throw. */
  readonly onFinding?: (finding: Finding) => void;
}

/**
 * `hash` spreads load, for whole scans. `key` keeps byte order, for range and prefix scans; growing
 * keys then all meet in one container.
 */
export type Order = 'hash' | 'key';

/**
 * The encoding of written values. A record is read by the codec stored with it.
 *
 * - `msgpack` (default): JSON's values, undefined inside them, every number, bigints, Maps, Sets,
 *   Dates, ArrayBuffers, DataViews and typed arrays except Float16Array.
 * - `json`: null, booleans, finite numbers, strings, arrays and plain objects.
 * - `bytes`: a Uint8Array.
 * - `encoded`: an EncodedValue.
 *
 * A value of at most VALUE_DEPTH_MAX levels comes back the same (an object without a prototype with
 * the usual one), or the put fails with `invalid`.
 */
export type CodecName = 'msgpack' | 'json' | 'bytes' | 'encoded';

/** A value with its encoding, as stored. Tables of codec `encoded` take and give it. */
export interface EncodedValue {
  readonly codec: 'msgpack' | 'json' | 'bytes';
  readonly bytes: Uint8Array;
}

/** `V` as JSON gives it back. Types that JSON lacks become `never`. */
export type JsonOf<V> = unknown extends V
  ? V
  : V extends string | number | boolean | null
    ? V
    : V extends ((...args: never) => unknown) | bigint | symbol | undefined
      ? never
      : { [Name in keyof V]: JsonOf<V[Name]> };

export interface TableOptions extends CallOptions {
  /** Default `hash`, or the existing table's. `conflict` if an existing table has another. */
  readonly order?: Order;
  /**
   * One character of ASCII, `!` to `~`, for order `key`, at creation. Keys that begin alike up to
   * and with its first occurrence form a group (`a/1`, `a/2` by `/`), for `table.batch`. It stays
   * in one container: a write that outgrows it fails with `too_large`, puts slow down before (from
   * 70 % on), and it takes no more writes a second than one container. `conflict` if a table has
   * another.
   */
  readonly groupBy?: string;
  /** Leaves at creation, 1 to 256, order `hash` only. Default 1. Ignored if the table exists. */
  readonly containers?: number;
  /** Default `msgpack`. */
  readonly codec?: CodecName;
  /**
   * A Standard Schema, such as zod, Valibot and ArkType make. This handle stores what it makes of
   * each value, or refuses the value as `invalid`, by its place; `cause` has the issues. It must be
   * synchronous, else a TypeError. Values that are read are not validated again.
   */
  readonly schema?: StandardSchema;
  /**
   * Records that this handle creates expire in as many milliseconds, unless their call says
   * otherwise. Not stored: other handles have their own. Default: never.
   */
  readonly ttlMs?: number;
  /**
   * A container's size in bytes; a commit splits above 70 % of it. From 16,384 to the provider's
   * limit, the default: 1,000,000 on Datastore, 720,000 on Azure Tables. Smaller containers let
   * many callers wait less; at 131,072 loads cost 4 to 5 times as much and scans 6 times.
   *
   * Not stored: processes may differ, and the smallest one splits. The handles that a store has in
   * use share the first one's value (`invalid` otherwise). Larger records get their own container.
   */
  readonly containerBytesMax?: number;
  /** Creates a missing table (default true); otherwise `not_found`. */
  readonly create?: boolean;
}

export interface VacuumOptions extends CallOptions {
  /**
   * Merges containers that at most one process wrote for as many milliseconds, from 0 to a day, and
   * purges those that nobody wrote. Default 120,000.
   * The call takes at least as long: its default deadline is the store's `timeoutMs` plus this.
   */
  readonly quietMs?: number;
  /** Of a report: goes on from there, once more after `quietMs`. */
  readonly cursor?: string;
  /** Hears several times a call what was done by then. */
  readonly onProgress?: (report: VacuumReport) => void;
  /** Merges up to 0.6 of it. Default: the open handles' value, else that of TableOptions. */
  readonly containerBytesMax?: number;
}

export interface GetOptions extends CallOptions {
  /** Answers without I/O from a read at most as many milliseconds old. Default 0: linearizable. */
  readonly maxAgeMs?: number;
}

export interface GetManyOptions extends GetOptions {
  /**
   * Values that the call may give, in bytes. Further ones fail as `too_large`, unread if the call
   * reads its leaves bit by bit. Default: 64 MiB.
   */
  readonly bytesMax?: number;
}

export interface PutOptions extends CallOptions {
  /** Writes only a record at this version; else `conflict`. */
  readonly ifVersion?: string;
  /** Writes only if there is no record; else `conflict`. Not together with `ifVersion`. */
  readonly ifAbsent?: boolean;
  /** The record expires in as many milliseconds, a positive integer. Default: the table's. */
  readonly ttlMs?: number;
  /** The record expires then, in milliseconds since 1970, be it past. Not together with `ttlMs`. */
  readonly expiresAtMs?: number;
}

export interface UpdateOptions extends CallOptions {
  /**
   * The record expires in as many milliseconds. Default: as before; if it is new, the table's. A
   * record that expires while the call is under way may be absent for others, and then there again.
   */
  readonly ttlMs?: number;
}

/** An update whose function gives it back deletes the record. */
export const DELETE: unique symbol = Symbol.for('stowage.delete');

export interface TouchOptions extends CallOptions, Pick<PutOptions, 'ttlMs' | 'expiresAtMs'> {}

export interface DeleteOptions extends CallOptions {
  /** Deletes only a record at this version; else `conflict`. */
  readonly ifVersion?: string;
}

export interface PutItem<V> extends Omit<PutOptions, keyof CallOptions> {
  readonly key: string;
  readonly value: V;
}

export interface DeleteItem extends Omit<DeleteOptions, keyof CallOptions> {
  readonly key: string;
}

/** A put, or with `delete: true` a deletion. */
export type BatchItem<V> = (PutItem<V> & { readonly delete?: false }) | (DeleteItem & { readonly delete: true });

/** Bounds of keys, order `key` only. `timeoutMs` bounds the reading of each leaf, not the whole. */
export interface RangeOptions extends CallOptions {
  /** Keys that begin with this. Not together with other bounds. */
  readonly prefix?: string;
  /** First key, inclusive. */
  readonly from?: string;
  /** First key, exclusive. Not together with `from`. */
  readonly after?: string;
  /** Last key, exclusive. */
  readonly to?: string;
  /** Last key, inclusive. Not together with `to`. */
  readonly through?: string;
}

export interface ScanOptions extends RangeOptions {
  /** From the last key to the first, order `key` only. Reads one leaf at a time. */
  readonly reverse?: boolean;
  /** The most records to give. Default: all. */
  readonly limit?: number;
  /**
   * Continues the scan that gave it, with that scan's bounds and direction. Others beside it, or a
   * cursor of another table, are `invalid`. It is neither secret nor signed: to confine a caller to
   * some keys, pass the bounds again with the caller's cursor.
   */
  readonly cursor?: string;
}
