// The contract between the engine and one provider. The engine's safety rests on its guarantees,
// which drivers/conformance checks on every driver.
//
// A driver stores entities: an id, a version that the provider assigns, and named parts of bytes.
// Each container is an entity. The driver does not know what the bytes mean.

import type { Branded } from './brand.ts';

/** ASCII letters, digits and `. _ - ! ~`, at most `limits.idBytesMax` long. */
export type EntityId = Branded<'EntityId'>;

/** Assigned by the provider at every change of the entity. Opaque, compared for equality only. */
export type EntityVersion = Branded<'EntityVersion'>;

/**
 * One lower-case letter, then up to four digits (`h`, `c`, `p0`, `p17`). A part without a number is
 * read often and has at most 32 KiB.
 */
export type PartName = Branded<'PartName'>;

/** Continues a listing of the same prefix. Opaque, the driver's own. */
export type ListCursor = Branded<'ListCursor'>;

export interface DriverCallOptions {
  /** After it a read or list rejects with `unavailable`; a write or removal answers `unknown`. */
  readonly timeoutMs: number;
}

/**
 * A read or list also ends, with `unavailable`, after a silence this long: its connection may be
 * dead, and another would answer. A slow reply goes on, and one behind others on its connection.
 */
export const SILENCE_MS = 4_000;

/** A provider's limits. Sizes are in bytes, counts are inclusive maxima. */
export interface DriverLimits {
  /** For messages and measurements only: `memory`, `datastore`, `azure-tables`. */
  readonly provider: string;
  /** For messages only: where requests go. */
  readonly address?: string;
  /** Bounds `entityOverheadBytes` plus each chunk's bytes and `chunkOverheadBytes`, dead or not. */
  readonly entityBytesMax: number;
  /** An entity's size beside its chunks, with the longest id. */
  readonly entityOverheadBytes: number;
  /** A chunk's size beside its bytes. */
  readonly chunkOverheadBytes: number;
  /** A longer part is stored as several chunks of this size, each a property of the entity. */
  readonly chunkBytes: number;
  /** Chunks an entity may have, dead ones included. */
  readonly chunksMax: number;
  readonly idBytesMax: number;
  /** Entities in one `read`. */
  readonly readsMax: number;
  /** Writes in one `write`, and removals in one `remove`. */
  readonly writesMax: number;
  /** Sum of the parts' bytes in one `write` of several. A lone write may fill an entity. */
  readonly writeBytesMax: number;
  /** Ids in one `list`. */
  readonly listMax: number;
  /** Reads that a store has in flight, and as many commits: the driver has connections for both. */
  readonly inFlightMax: number;
  /** Whether commits of one entity wait for each other, as under a lock, before one is refused. */
  readonly commitsWait: boolean;
  /** Writes to ids of one lane may share a `write`. A pure function, never changed. */
  lane(id: EntityId): string;
}

/** Asks for an entity with all parts, or the named ones only; without any, for its version. */
export interface ReadRequest {
  readonly id: EntityId;
  readonly parts: 'all' | readonly PartName[];
}

/** An entity of one reply: its parts have its version. Absent and empty parts are left out. */
export interface Entity {
  readonly id: EntityId;
  readonly version: EntityVersion;
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
}

export interface Part {
  readonly name: PartName;
  /** Empty bytes drop the part, in a patch only. */
  readonly bytes: Uint8Array;
  /**
   * The most chunks of this part since the entity's last insert or replace, without this write; 0:
   * none. A provider that cannot delete a property empties the surplus in the same write.
   */
  readonly chunksBefore: number;
}

/** Each write is conditional; there is no unconditional one. */
export type Write =
  /** Creates the entity; refused (`condition`) if it exists. */
  | { readonly kind: 'insert'; readonly id: EntityId; readonly parts: readonly Part[] }
  /** Changes the named parts only. Refused (`condition`) at another version, or if it is gone. */
  | { readonly kind: 'patch'; readonly id: EntityId; readonly version: EntityVersion; readonly parts: readonly Part[] }
  /** As `patch`, but parts that are not named disappear. */
  | {
      readonly kind: 'replace';
      readonly id: EntityId;
      readonly version: EntityVersion;
      readonly parts: readonly Part[];
    };

/**
 * Certainly not applied, by any transmission of this request (`throttled`: by the one answered).
 * Allowed for the single write of a request, for all writes of an atomic one, or of one rejected as
 * a whole.
 */
export interface Refused {
  readonly kind: 'refused';
  /**
   * `condition`: another version, or absent against the condition; of a lone insert: the provider
   * says that the entity exists. `limit`: too large. `invalid`: the provider rejects the form.
   * `denied`: the credentials may not do this. `throttled`: rejected unread; if a proxy sent it
   * twice, the other copy may have been applied. `unsent`: no byte of it left, as the driver knows
   * by itself: no connection, no token. A connection that broke later is `unknown`.
   */
  readonly reason: 'condition' | 'limit' | 'invalid' | 'denied' | 'throttled' | 'unsent';
  /**
   * With `denied`, `throttled` and `unsent` a StoreError: what to grant, how long to wait, or what
   * was in the way and where. One that is not `retryable` ends the call.
   */
  readonly cause?: unknown;
}

/** May have been applied, or may be applied yet: the answer whenever in doubt. */
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
  /** Continues the listing; undefined at its end. An empty page may have one. */
  readonly cursor: ListCursor | undefined;
}

/**
 * One provider. Neither side changes a buffer after passing it on. A driver never resends a write
 * or removal. It takes any number of concurrent calls; the caller limits them.
 */
export interface Driver {
  readonly limits: DriverLimits;

  /**
   * Reads up to `limits.readsMax` entities of distinct ids, in order; undefined for one that
   * certainly did not exist. Shows every write acknowledged before the call. Cost: one round trip,
   * more if the provider defers keys. Rejects with a StoreError (`throttled`, `unavailable`), never
   * for absence.
   */
  read(requests: readonly ReadRequest[], options: DriverCallOptions): Promise<readonly (Entity | undefined)[]>;

  /**
   * Sends up to `limits.writesMax` writes of one lane and of distinct ids in one request. An
   * outcome for each, in order. Cost: one round trip. Rejects only with a TypeError, for misuse (no
   * or wildcard version, lanes mixed).
   */
  write(writes: readonly Write[], options: DriverCallOptions): Promise<readonly WriteOutcome[]>;

  /** As `write`. An entity that is gone is refused (`condition`). */
  remove(removals: readonly Removal[], options: DriverCallOptions): Promise<readonly RemoveOutcome[]>;

  /**
   * Up to `count` ids that begin with `prefix`, in the driver's own order. An entity that exists
   * from the first page's call to the last page's reply is listed once. Cost: one round trip.
   * Rejects as `read`.
   */
  list(prefix: string, cursor: ListCursor | undefined, count: number, options: DriverCallOptions): Promise<ListPage>;

  /** Releases sockets. Calls under way may fail; later ones do. Idempotent. */
  close(): Promise<void>;
}

/** Begins the ids of entities that probe a provider. A vacuum removes leftovers. */
export const PROBE_PREFIX = 'p~';

const PART_NAME = /^[a-z][0-9]{0,4}$/;

export function isPartName(name: string): name is PartName {
  return PART_NAME.test(name);
}

/** The chunks of a part; an empty one has none. */
export function chunksOf(bytes: number, limits: Pick<DriverLimits, 'chunkBytes'>): number {
  return Math.ceil(bytes / limits.chunkBytes);
}

export function partBytes(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.bytes.byteLength, 0);
}
