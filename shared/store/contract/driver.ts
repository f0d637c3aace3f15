// The contract between the engine and one provider. The engine's safety rests on the guarantees
// here, which drivers/conformance checks for every driver.
//
// A driver stores entities. An entity has an id, a version that the provider assigns, and named
// parts of bytes. Each container is one entity; the driver does not know what its bytes mean.

import type { Branded } from './brand.ts';

/** ASCII letters, digits and `. _ - ! ~`, at most `limits.idBytesMax` long. */
export type EntityId = Branded<'EntityId'>;

/** Assigned by the provider at every change of the entity. Opaque; compared only for equality. */
export type EntityVersion = Branded<'EntityVersion'>;

/**
 * One lower-case letter, then up to four digits (`h`, `c`, `p0`, `p17`). A part without a number is
 * read often and has at most 32 KiB.
 */
export type PartName = Branded<'PartName'>;

/** Where a listing of the same prefix goes on. Opaque; the driver's own. */
export type ListCursor = Branded<'ListCursor'>;

export interface DriverCallOptions {
  /** After this time a read or list rejects with `unavailable`; a write or removal is `unknown`. */
  readonly timeoutMs: number;
}

/**
 * After a silence this long a read or list ends with `unavailable`, since its connection may be
 * dead. A reply that is slow, or waits behind others on its connection, is not silent.
 */
export const SILENCE_MS = 4_000;

/** A provider's limits. Sizes are in bytes; counts are the most that is allowed. */
export interface DriverLimits {
  /** For messages and measurements only: `memory`, `datastore`, `azure-tables`. */
  readonly provider: string;
  /** For messages only: where requests go. */
  readonly address?: string;
  /**
   * Bounds `entityOverheadBytes` plus, for each chunk, dead or not, its bytes and
   * `chunkOverheadBytes`.
   */
  readonly entityBytesMax: number;
  /** The size of an entity without its chunks, with the longest id. */
  readonly entityOverheadBytes: number;
  /** The size of a chunk without its bytes. */
  readonly chunkOverheadBytes: number;
  /** A longer part is stored as several chunks of this size, each one property of the entity. */
  readonly chunkBytes: number;
  /** The most chunks of an entity, dead ones included. */
  readonly chunksMax: number;
  readonly idBytesMax: number;
  /** The most entities in one `read`. */
  readonly readsMax: number;
  /** The most writes in one `write`, and removals in one `remove`. */
  readonly writesMax: number;
  /** The most bytes of parts in one `write` of several writes. A lone write may fill an entity. */
  readonly writeBytesMax: number;
  /** The most ids in one `list`. */
  readonly listMax: number;
  /** The most reads in flight of one store, and the most commits; the driver has room for both. */
  readonly inFlightMax: number;
  /** Whether commits of one entity wait for each other, as for a lock, before one is refused. */
  readonly commitsWait: boolean;
  /** Writes to ids of the same lane may share one `write`. A pure function that never changes. */
  lane(id: EntityId): string;
}

/**
 * Asks for an entity with all its parts or with the named ones; with none, for its version alone.
 */
export interface ReadRequest {
  readonly id: EntityId;
  readonly parts: 'all' | readonly PartName[];
}

/** An entity as one reply showed it: all parts are of this version. Empty parts are left out. */
export interface Entity {
  readonly id: EntityId;
  readonly version: EntityVersion;
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
}

export interface Part {
  readonly name: PartName;
  /** In a patch, empty bytes drop the part. */
  readonly bytes: Uint8Array;
  /**
   * The largest number of chunks that this part has had since the entity's last insert or replace.
   * A provider that cannot delete properties empties the surplus ones in the same write.
   */
  readonly chunksBefore: number;
}

/** Every write has a condition. */
export type Write =
  /** Creates the entity; refused (`condition`) if it exists. */
  | { readonly kind: 'insert'; readonly id: EntityId; readonly parts: readonly Part[] }
  /** Changes only the named parts; refused (`condition`) at another version or if it is missing. */
  | { readonly kind: 'patch'; readonly id: EntityId; readonly version: EntityVersion; readonly parts: readonly Part[] }
  /** As `patch`, but the parts that are not named disappear. */
  | {
      readonly kind: 'replace';
      readonly id: EntityId;
      readonly version: EntityVersion;
      readonly parts: readonly Part[];
    };

/**
 * The write was certainly not applied, by any transmission of its request (if `throttled`: by the
 * one that was answered). A driver may say so of the only write of a request, and of all writes of
 * a request that is atomic or was rejected as a whole.
 */
export interface Refused {
  readonly kind: 'refused';
  /**
   * - `condition`: the entity has another version or is missing; of a lone insert: it exists.
   * - `limit`: too large. `invalid`: the provider rejects the form of the request.
   * - `denied`: the credentials do not allow it.
   * - `throttled`: rejected unread. If a proxy sent it twice, the other copy may have been applied.
   * - `unsent`: no byte of it left this machine, for lack of a connection or a token. If a
   * connection broke later, the outcome is `unknown`.
   */
  readonly reason: 'condition' | 'limit' | 'invalid' | 'denied' | 'throttled' | 'unsent';
  /**
   * With `denied`, `throttled` and `unsent` a StoreError that says what to grant, how long to wait,
   * or what stood in the way. If it is not `retryable`, the call ends.
   */
  readonly cause?: unknown;
}

/** The write may have been applied, or may still be. This is the answer whenever there is doubt. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: 'throttled' | 'other';
  readonly cause?: unknown;
}

export type WriteOutcome = { readonly kind: 'written'; readonly version: EntityVersion } | Refused | Unknown;

/** Removes an entity at exactly this version. */
export interface Removal {
  readonly id: EntityId;
  readonly version: EntityVersion;
}

export type RemoveOutcome = { readonly kind: 'removed' } | Refused | Unknown;

export interface ListPage {
  readonly ids: readonly EntityId[];
  /** Where the listing goes on; undefined at its end. Even an empty page may have one. */
  readonly cursor: ListCursor | undefined;
}

/**
 * One provider. Neither side changes a buffer after passing it on. A driver never sends a write or
 * a removal twice. It takes any number of calls at a time; the caller limits them.
 */
export interface Driver {
  readonly limits: DriverLimits;

  /**
   * Reads up to `limits.readsMax` entities with distinct ids. Gives them in order; undefined for
   * one that certainly did not exist. Shows every write that was acknowledged before the call.
   * Rejects with a StoreError (`throttled`, `unavailable`), never because an entity is missing.
   * Cost: one round trip, or more if the provider defers keys.
   */
  read(requests: readonly ReadRequest[], options: DriverCallOptions): Promise<readonly (Entity | undefined)[]>;

  /**
   * Sends up to `limits.writesMax` writes of one lane, with distinct ids, in one request. Gives an
   * outcome for each, in order. Rejects only for misuse, with a TypeError. Cost: one round trip.
   */
  write(writes: readonly Write[], options: DriverCallOptions): Promise<readonly WriteOutcome[]>;

  /** As `write`. The removal of a missing entity is refused (`condition`). */
  remove(removals: readonly Removal[], options: DriverCallOptions): Promise<readonly RemoveOutcome[]>;

  /**
   * Lists up to `count` ids that begin with `prefix`, in the driver's own order. An entity that
   * exists from the first page's call to the last page's reply is listed exactly once. Rejects as
   * `read`. Cost: one round trip.
   */
  list(prefix: string, cursor: ListCursor | undefined, count: number, options: DriverCallOptions): Promise<ListPage>;

  /** Releases the sockets. Calls under way may fail, later ones do. May be called again. */
  close(): Promise<void>;
}

/** The beginning of the ids of entities that probe a provider. A vacuum removes what is left. */
export const PROBE_PREFIX = 'p~';

const PART_NAME = /^[a-z][0-9]{0,4}$/;

export function isPartName(name: string): name is PartName {
  return PART_NAME.test(name);
}

/** The number of chunks of a part; an empty part has none. */
export function chunksOf(bytes: number, limits: Pick<DriverLimits, 'chunkBytes'>): number {
  return Math.ceil(bytes / limits.chunkBytes);
}

export function partBytes(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.bytes.byteLength, 0);
}
