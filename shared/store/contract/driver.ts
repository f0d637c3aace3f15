// The contract between the engine and one provider. Six members, none optional, none derivable from the others.
// The guarantees below are what the engine's safety rests on; tests/conformance checks them on every driver.
//
// A driver stores ENTITIES. An entity has an id, a version that the provider assigns, and named PARTS, each a run of bytes.
// The engine's containers are entities; the driver knows nothing of what the bytes mean.

import type { Branded } from './brand.ts';

/** ASCII letters, digits and `. _ - ! ~`, at most `limits.idBytesMax` long. */
export type EntityId = Branded<'EntityId'>;

/** Assigned by the provider, opaque, compared for equality only. Changes with every write that changes the entity. */
export type EntityVersion = Branded<'EntityVersion'>;

/**
 * A part's name: one lower-case letter, then up to four digits (`h`, `c`, `p0`, `p17`). A part without a number is wanted often and
 * stays small: never above 32 KiB.
 */
export type PartName = Branded<'PartName'>;

/** Where a listing goes on: the driver's own, opaque, of use to the same prefix alone. */
export type ListCursor = Branded<'ListCursor'>;

/** The bound on one call. */
export interface DriverCallOptions {
  /** After this many milliseconds the call ends: a read or list rejects with `unavailable`, a write or removal answers `unknown`. */
  readonly timeoutMs: number;
}

/**
 * A read or list also ends, with `unavailable`, when nothing more of its reply has come for this
 * long: its connection may be dead, and another would answer. One that comes slowly goes on.
 */
export const SILENCE_MS = 4_000;

/** What a provider allows; the engine has no such constants of its own. All sizes are in bytes, all counts inclusive maxima. */
export interface DriverLimits {
  /** Provider's name for messages and measurements (`memory`, `datastore`, `azure-tables`). Nobody branches on it. */
  readonly provider: string;
  /** Largest entity: `entityOverheadBytes` + for each of its chunks, dead ones included, its bytes + `chunkOverheadBytes`. */
  readonly entityBytesMax: number;
  /** What an entity costs beside its chunks, longest id included. */
  readonly entityOverheadBytes: number;
  /** What a chunk costs beside its bytes. */
  readonly chunkOverheadBytes: number;
  /** A part longer than this is stored as several chunks of this size, each a property of the entity. */
  readonly chunkBytes: number;
  /** Chunks an entity may have, dead ones included. */
  readonly chunksMax: number;
  readonly idBytesMax: number;
  /** Entities in one `read`. */
  readonly readsMax: number;
  /** Writes in one `write`, and removals in one `remove`. */
  readonly writesMax: number;
  /** Sum of the parts' bytes in one `write` of several; a single one may be larger, as far as an entity may. */
  readonly writeBytesMax: number;
  /** Ids in one `list`. */
  readonly listMax: number;
  /** Reads that a store has under way at most, and as many commits: the driver has connections for both. */
  readonly inFlightMax: number;
  /** Writes whose ids have equal lanes may share one `write`. A pure function that never changes for stored data. */
  lane(id: EntityId): string;
}

/** An entity that is wanted: with all its parts, or with the named ones only (none of them: its version alone). */
export interface ReadRequest {
  readonly id: EntityId;
  readonly parts: 'all' | readonly PartName[];
}

/** An entity as one reply showed it: version and parts belong together. A part that is absent, or empty, is not in the map. */
export interface Entity {
  readonly id: EntityId;
  readonly version: EntityVersion;
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
}

/** A part as a write sends it. */
export interface Part {
  readonly name: PartName;
  /** Empty bytes drop the part (meaningful in a patch only). */
  readonly bytes: Uint8Array;
  /**
   * The most chunks this part has taken since the entity's last insert or replace, this write left out (0: none).
   * A provider that cannot delete a property empties the chunks beyond the new ones in the same write.
   */
  readonly chunksBefore: number;
}

/** Each write is conditional; there is no unconditional one. */
export type Write =
  /** Creates the entity; refused (`condition`) if it exists. */
  | { readonly kind: 'insert'; readonly id: EntityId; readonly parts: readonly Part[] }
  /** Changes the named parts of the entity at exactly this version; its other parts stay. Refused (`condition`) at another version, or if it is gone. */
  | { readonly kind: 'patch'; readonly id: EntityId; readonly version: EntityVersion; readonly parts: readonly Part[] }
  /** As `patch`, but parts that are not named disappear. */
  | {
      readonly kind: 'replace';
      readonly id: EntityId;
      readonly version: EntityVersion;
      readonly parts: readonly Part[];
    };

/**
 * Certainly not applied, by any transmission of this request (`throttled`: by the one that was answered). May be said only of the single write of a one-write request, of all writes of a request
 * that is atomic, or of all of one that was turned away as a whole.
 */
export interface Refused {
  readonly kind: 'refused';
  /**
   * `condition`: another version, present or absent against the condition. `limit`: too large. `invalid`: the provider rejects its form.
   * `denied`: the credentials may not do this. `throttled`: turned away unread, as too much came at once; had something on the way sent it twice,
   * the other copy may have been applied.
   */
  readonly reason: 'condition' | 'limit' | 'invalid' | 'denied' | 'throttled';
  /** Of `denied` and `throttled` the StoreError with which a read would reject: it says what to grant, or how long to wait. */
  readonly cause?: unknown;
}

/** May have been applied, or may be applied yet. Said whenever in doubt. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: 'throttled' | 'other';
  readonly cause?: unknown;
}

/** What became of one write. */
export type WriteOutcome = { readonly kind: 'written'; readonly version: EntityVersion } | Refused | Unknown;

/** Removes an entity that is at exactly this version. */
export interface Removal {
  readonly id: EntityId;
  readonly version: EntityVersion;
}

/** What became of one removal. */
export type RemoveOutcome = { readonly kind: 'removed' } | Refused | Unknown;

/** One page of a listing. */
export interface ListPage {
  readonly ids: readonly EntityId[];
  /** Continues the listing; undefined at its end. A page may be empty and still have one. */
  readonly cursor: ListCursor | undefined;
}

/**
 * One provider. Bytes are copied or handed over: neither side changes a buffer after passing it on.
 * A driver never resends a write or removal. It may be called concurrently without bound; whoever calls it limits.
 */
export interface Driver {
  readonly limits: DriverLimits;

  /**
   * Reads up to `limits.readsMax` entities with distinct ids; the answers stand in the order of the requests, undefined for an
   * entity that certainly did not exist. Each answer is strongly consistent: it shows every write acknowledged before the call.
   * Cost: one round trip (more only where the provider defers keys, which the driver asks for again).
   * Rejects with a StoreError (`throttled`, `unavailable`); an error is never absence.
   */
  read(requests: readonly ReadRequest[], options: DriverCallOptions): Promise<readonly (Entity | undefined)[]>;

  /**
   * Sends up to `limits.writesMax` writes of one lane and of distinct ids in ONE request; an outcome for each, in order.
   * Cost: one round trip. Never rejects, save with a TypeError for misuse (no or wildcard version, lanes mixed).
   */
  write(writes: readonly Write[], options: DriverCallOptions): Promise<readonly WriteOutcome[]>;

  /** Removes each entity if it is at exactly this version. Outcomes, cost and misuse as in `write`; an entity that is gone is refused (`condition`). */
  remove(removals: readonly Removal[], options: DriverCallOptions): Promise<readonly RemoveOutcome[]>;

  /**
   * Ids that begin with `prefix`, at most `count` (at most `limits.listMax`), in an order of the driver's own. An entity that exists
   * throughout a listing, from the first page's call to the last page's reply, is returned exactly once. Cost: one round trip. Rejects as `read`.
   */
  list(prefix: string, cursor: ListCursor | undefined, count: number, options: DriverCallOptions): Promise<ListPage>;

  /** Releases sockets. Calls under way may fail; later ones do. Idempotent. */
  close(): Promise<void>;
}

/** Ids of the entities with which a driver tries its provider out begin so; a vacuum removes those that were left behind. */
export const PROBE_PREFIX = 'p~';

/** Number of chunks that `bytes` bytes take; an empty part takes none. */
export function chunksOf(bytes: number, limits: Pick<DriverLimits, 'chunkBytes'>): number {
  return Math.ceil(bytes / limits.chunkBytes);
}

/** Sum of the parts' bytes. */
export function partBytes(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.bytes.byteLength, 0);
}
