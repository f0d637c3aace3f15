// One version of a container in memory: its decoded header, and those of its pages that are known.
import type { Entity, EntityId, EntityVersion } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';
import { COMMIT_PART, HEADER_PART, nodeId, slotOfPart } from '../format/entity-ids.ts';
import { openPage, type PageAddress } from '../format/envelope.ts';
import { decodeHeader, encodeHeader, type Header } from '../format/header.ts';
import type { Page } from '../format/page-body.ts';
import type { PageRef } from '../format/page-table.ts';
import { liveCounts, sumsOf } from './container-size.ts';

/** Reading so few bytes of pages costs less than a second request for one of them. */
export const SMALL_BYTES = 32 * 1024;

/** Only the page of a single large record is larger than this. */
const SMALL_PAGE_BYTES = 16 * 1024;
/** Larger pages stay expanded only up to this ratio. Pages of zeros would expand a hundredfold. */
const EXPANSION_MAX = 8;

export interface Snapshot {
  readonly id: EntityId;
  readonly version: EntityVersion;
  readonly header: Header;
  readonly lastCommit: Id64;
  /** When the latest request that showed this version was sent. */
  seen: Moment;
}

/** A snapshot without pages. Its header is encoded, which takes a tenth of the memory. */
export interface StoredHeader extends Omit<Snapshot, 'header'> {
  readonly bytes: Uint8Array;
  readonly commitCount: number;
  /** As in `liveCounts`. */
  readonly records: number | undefined;
}

export function storedHeaderOf({ id, version, header, lastCommit, seen }: Snapshot): StoredHeader {
  // A copy, as the encoder's buffer is larger.
  const bytes = new Uint8Array(encodeHeader(header));
  const records = liveCounts.get(header.pages);
  return { id, version, lastCommit, seen, bytes, commitCount: header.commitCount, records };
}

/** The inverse of `storedHeaderOf`: a snapshot without known pages. */
export function fromStoredHeader({ id, version, lastCommit, seen, bytes, records }: StoredHeader): Snapshot {
  const header = decodeHeader(bytes);
  if (records !== undefined) liveCounts.set(header.pages, records);
  return { id, version, header, lastCommit, seen };
}

/**
 * Decodes an entity, with the pages that were read and the unchanged pages of `known`. Throws
 * `corrupt` for a damaged header, or that of another container.
 */
export function snapshotOf(entity: Entity, table: string, seen: Moment, known: Snapshot | undefined): Snapshot {
  const stored = entity.parts.get(HEADER_PART);
  const lastCommit = entity.parts.get(COMMIT_PART);
  if (stored === undefined || lastCommit === undefined || lastCommit.length !== ID64_BYTES) {
    throw new StoreError('corrupt', 'the container has no whole header', { table, container: entity.id });
  }
  const commitId = id64(lastCommit);
  const header =
    known?.version === entity.version && known.lastCommit === commitId
      ? known.header
      : newHeader(entity, stored, table, known);
  placePages(header, entity);
  return { id: entity.id, version: entity.version, header, lastCommit: commitId, seen };
}

/** Offers each row the page of its slot. There may be hundreds of rows and a single page. */
function placePages(header: Header, entity: Entity): void {
  const bySlot = new Map<number, Uint8Array>();
  for (const [name, bytes] of entity.parts) {
    const slot = slotOfPart(name);
    if (slot !== undefined) bySlot.set(slot, bytes);
  }
  if (bySlot.size > 0) for (const { slot, content } of header.pages) content.offer(bySlot.get(slot));
}

function newHeader(entity: Entity, stored: Uint8Array, table: string, known: Snapshot | undefined): Header {
  let header: Header;
  try {
    header = decodeHeader(stored);
  } catch (cause) {
    throw corrupt('damaged or newer header, nothing was changed', cause, table, entity.id);
  }
  if (nodeId(table, header.incarnation, header.container) !== entity.id) {
    throw new StoreError('corrupt', 'the header belongs to another container', { table, container: entity.id });
  }
  keepContents(header, known);
  return header;
}

function corrupt(what: string, cause: unknown, table: string, container: EntityId): StoreError {
  const detail = cause instanceof Error ? cause.message : 'it cannot be read';
  return new StoreError('corrupt', `${what}: ${detail}`, { table, container, cause });
}

function keepContents(header: Header, known: Snapshot | undefined): void {
  if (known === undefined || known.header.incarnation !== header.incarnation) return;
  const bySlot = new Map(known.header.pages.map((ref) => [ref.slot, ref]));
  for (const ref of header.pages) {
    const before = bySlot.get(ref.slot);
    if (before === undefined || before.number !== ref.number || before.crc !== ref.crc) continue;
    ref.content = before.content;
  }
}

export function addressOf(header: Header, slot: number, number: number): PageAddress {
  return { incarnation: header.incarnation, container: header.container, slot, number };
}

export function pageBytesOf({ pages }: Header): number {
  return sumsOf(pages).sealedBytes;
}

export function isKnown({ content }: PageRef): boolean {
  return content.isKnown;
}

export function isWhole(header: Header): boolean {
  return header.pages.every(isKnown);
}

/**
 * The expanded page. It stays expanded in memory unless that takes far more memory than the stored
 * form. Throws `corrupt` if it is damaged or missing, an Error if it was never read.
 */
export function pageOf(snapshot: Snapshot, ref: PageRef, table: string): Page {
  const page = peekPage(snapshot, ref, table);
  const keptMax = Math.max(SMALL_PAGE_BYTES, ref.sealedBytes * EXPANSION_MAX);
  if (ref.content.page === undefined && page.body.length <= keptMax) ref.content.expandTo(page);
  return page;
}

/** As `pageOf`, but leaves the form in memory as it is, as the stored bytes may be needed later. */
export function peekPage(snapshot: Snapshot, ref: PageRef, table: string): Page {
  const { content } = ref;
  if (content.page !== undefined) return content.page;
  if (content.sealed === undefined)
    throw content.damage ?? new Error(`page ${ref.slot} of ${snapshot.id} was not read`);
  try {
    return openPage(content.sealed, addressOf(snapshot.header, ref.slot, ref.number), ref.crc);
  } catch (cause) {
    const damage = corrupt(`damaged page ${ref.slot}`, cause, table, snapshot.id);
    content.forget(damage);
    throw damage;
  }
}

/** Measured memory of a snapshot's objects, and of a row with its encoded form. */
const SNAPSHOT_BYTES = 1_536;
const ROW_BYTES = 448;

/** The memory that a snapshot takes, which the cache's bound counts. */
export function memoryBytes(snapshot: Snapshot): number {
  let bytes = SNAPSHOT_BYTES + snapshot.header.commitIds.length;
  for (const { content } of snapshot.header.pages) bytes += ROW_BYTES + content.heldBytes;
  return bytes;
}
