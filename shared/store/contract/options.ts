// The options that callers give, and the items of batches.
import type { Driver } from './driver.ts';
import type { Compression, Runtime } from './runtime.ts';

export interface CallOptions {
  /**
   * Ends the call after this many milliseconds: with `aborted` if nothing was written, with
   * `unknown` if a write was sent and its outcome is not known. Default: the store's `timeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Ends the call early, with the same two codes; the signal's reason becomes the `cause`. An
   * `aborted` error has the name AbortError, as with `fetch`. An `unknown` error has not, because
   * the write may have taken effect.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface StoreOptions {
  /**
   * Several stores may share a driver, each with its own cache and limits. The last one closes it.
   */
  readonly driver: Driver;
  /**
   * Bytes of memory for cached containers. Default: 64 MiB. The headers of evicted containers take
   * 1/16 more, at least 256 KiB. Apart from that a store holds some 2 MiB, and up to 64 MiB of
   * writes that wait.
   */
  readonly cacheBytesMax?: number | undefined;
  /** The deadline of calls that set none, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How pages are compressed from now on; all pages stay readable. Default: `zstd`. */
  readonly compression?: Compression | undefined;
  /** Clock, timers and randomness. Default: the system's. */
  readonly runtime?: Runtime | undefined;
}

/**
 * `hash` spreads the load evenly, and can be scanned only as a whole. `key` keeps keys in byte
 * order, for scans of ranges and prefixes; keys that only grow then all go to one container.
 */
export type Order = 'hash' | 'key';

/**
 * How values are encoded when they are written. A record is read by the codec that is stored with
 * it.
 *
 * - `msgpack` (default): JSON's values, undefined inside them, every number, bigints, Maps, Sets,
 * Dates, ArrayBuffers, DataViews and typed arrays except Float16Array.
 * - `json`: null, booleans, finite numbers, strings, arrays and plain objects.
 * - `bytes`: a Uint8Array.
 * - `encoded`: an EncodedValue.
 *
 * A value comes back the same, or the put fails with `invalid`; an object without a prototype comes
 * back with the usual one. Values have at most VALUE_DEPTH_MAX levels.
 */
export type CodecName = 'msgpack' | 'json' | 'bytes' | 'encoded';

/** An encoded value as it is stored. Tables with the codec `encoded` take and give it. */
export interface EncodedValue {
  readonly codec: 'msgpack' | 'json' | 'bytes';
  readonly bytes: Uint8Array;
}

/** The type `V` as JSON gives it back. Types that JSON lacks become `never`. */
export type JsonOf<V> = unknown extends V
  ? V
  : V extends string | number | boolean | null
    ? V
    : V extends ((...args: never) => unknown) | bigint | symbol | undefined
      ? never
      : { [Name in keyof V]: JsonOf<V[Name]> };

export interface TableOptions extends CallOptions {
  /**
   * Default: `hash`, or the existing table's. `conflict` if an existing table has another order.
   */
  readonly order?: Order | undefined;
  /**
   * One ASCII character, `!` to `~`, at the creation of a table with order `key`. Keys that are
   * equal up to its first occurrence form a group (`a/1` and `a/2` by `/`), for `table.batch`. A
   * group stays in one container, and takes no more writes per second than that. From 70 % of a
   * container's size on puts slow down, and a write that outgrows it fails with `too_large`.
   * `conflict` if an existing table has another.
   */
  readonly groupBy?: string | undefined;
  /** How many containers a new table of order `hash` begins with, 1 to 256. Default: 1. */
  readonly containers?: number | undefined;
  /** Default: `msgpack`. */
  readonly codec?: CodecName | undefined;
  /**
   * A Standard Schema, such as zod, Valibot and ArkType make. This handle stores what the schema
   * makes of each value. A value that the schema refuses is `invalid`; the message names the place,
   * and `cause` has the issues. A schema that is not synchronous causes a TypeError. Reads are not
   * validated.
   */
  readonly schema?: StandardSchema | undefined;
  /**
   * After how many milliseconds the records that this handle creates expire, unless their call says
   * otherwise. It is not stored; each handle has its own. Default: never.
   */
  readonly ttlMs?: number | undefined;
  /**
   * The size of containers in bytes, at least 16,384; above 70 % of it a container splits. Default:
   * the provider's limit, 1,000,000 on Datastore and 720,000 on Azure Tables. In smaller containers
   * many callers wait less, but at 131,072 loads cost 4 to 5 times as much, and scans 6 times. A
   * larger record gets a container of its own.
   *
   * It is not stored: processes may have different values, and the one with the smallest splits.
   * All handles of a table in one store must have the same value (`invalid` otherwise).
   */
  readonly containerBytesMax?: number | undefined;
  /** Whether to create a missing table; if not, the call fails with `not_found`. Default: true. */
  readonly create?: boolean | undefined;
}

export interface GetOptions extends CallOptions {
  /** Allows an answer from memory that was read at most this long ago. Default: 0, linearizable. */
  readonly maxAgeMs?: number | undefined;
}

export interface GetManyOptions extends GetOptions {
  /**
   * The most bytes of encoded values that the call gives. Further records fail as `too_large`.
   * Default: 64 MiB.
   */
  readonly bytesMax?: number | undefined;
}

export interface PutOptions extends CallOptions {
  /** Writes only if the record has this version; otherwise `conflict`. */
  readonly ifVersion?: string | undefined;
  /** Writes only if there is no record; otherwise `conflict`. Not together with `ifVersion`. */
  readonly ifAbsent?: boolean | undefined;
  /** After how many milliseconds the record expires. Default: the handle's `ttlMs`. */
  readonly ttlMs?: number | undefined;
  /**
   * When the record expires, in milliseconds since 1970; may be past. Not together with `ttlMs`.
   */
  readonly expiresAtMs?: number | undefined;
}

export interface UpdateOptions extends CallOptions {
  /**
   * After how many milliseconds the record expires. Default: its expiry stays; a new record gets
   * the handle's `ttlMs`. If it expires while the call is under way, others may find it absent for
   * a moment.
   */
  readonly ttlMs?: number | undefined;
}

/** An update whose function returns this deletes the record. */
export const DELETE: unique symbol = Symbol.for('stowage.delete');

export interface TouchOptions extends CallOptions, Pick<PutOptions, 'ttlMs' | 'expiresAtMs'> {}

export interface DeleteOptions extends CallOptions {
  /** Deletes only if the record has this version; otherwise `conflict`. */
  readonly ifVersion?: string | undefined;
}

export interface PutItem<V> extends Omit<PutOptions, keyof CallOptions> {
  readonly key: string;
  readonly value: V;
}

export interface DeleteItem extends Omit<DeleteOptions, keyof CallOptions> {
  readonly key: string;
}

/** A put, or with `delete: true` a delete. */
export type BatchItem<V> = (PutItem<V> & { readonly delete?: false }) | (DeleteItem & { readonly delete: true });

/** Bounds of keys, for order `key`. `timeoutMs` bounds the reading of each leaf, not of all. */
export interface RangeOptions extends CallOptions {
  /** Only keys that begin with this. Not together with other bounds. */
  readonly prefix?: string | undefined;
  /** The first key. */
  readonly from?: string | undefined;
  /** Only keys after this one. Not together with `from`. */
  readonly after?: string | undefined;
  /** Only keys before this one. */
  readonly to?: string | undefined;
  /** The last key. Not together with `to`. */
  readonly through?: string | undefined;
}

export interface ScanOptions extends RangeOptions {
  /** From the last key to the first, for order `key`. It reads one leaf at a time. */
  readonly reverse?: boolean | undefined;
  /** The most records. Default: all. */
  readonly limit?: number | undefined;
  /**
   * Goes on where the scan that gave it stopped, with that scan's bounds and direction. Other
   * bounds beside it, or a cursor of another table, are `invalid`. A cursor is neither secret nor
   * signed: to confine a caller to some keys, pass the bounds together with the caller's cursor.
   */
  readonly cursor?: string | undefined;
}

/**
 * A table asks this of a schema. It is the part of Standard Schema 1 (https://standardschema.dev,
 * made to be copied) that it uses.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the values that a schema takes. */
export type InputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];

/** The type of the values that a schema makes. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];
