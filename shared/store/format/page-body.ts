// A page's body, and the records in it (FORMAT.md, "Page"). Pages are cut and joined by copying
// bytes undecoded.
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/options.ts';
import { ByteReader, ByteWriter, compareBytes, compareRange, EMPTY_BYTES, owned, type ScratchMemory } from './bytes.ts';
import {
  compareHashed,
  groupOf,
  HASH_BYTES,
  keyPosition,
  type Position,
  type PositionOf,
  positionsOf,
  separatorBetween,
} from './position.ts';

/** The bit of `flags` that says that an expiry follows the version. */
const FLAG_EXPIRES = 0x08;

/** The bits of `flags` that hold the codec. */
const CODEC_MASK = 0x07;

/** `version` is a number within the table's incarnation, `codec` a tag of FORMAT.md. */
export interface StoredRecord {
  readonly key: Uint8Array;
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number | undefined;
  readonly codec: number;
  readonly value: Uint8Array;
}

/** In place of a codec: the key was removed. Hides the key's older records in the layers below. */
const TOMBSTONE = 7;

export function tombstoneOf(key: Uint8Array, version: number): StoredRecord {
  return { key, version, expiresAtMs: undefined, codec: TOMBSTONE, value: EMPTY_BYTES };
}

export function isTombstone(record: StoredRecord): boolean {
  return record.codec === TOMBSTONE;
}

/** Whether a record with these `flags` is a tombstone or expires, so that a purge may drop it. */
function mayBeDead(flags: number): boolean {
  return flags === TOMBSTONE || (flags & FLAG_EXPIRES) !== 0;
}

export function isExpired(record: StoredRecord, nowMs: number): boolean {
  return record.expiresAtMs !== undefined && record.expiresAtMs <= nowMs;
}

/** An expanded page: its body and the offsets of its records. The last one is the body's length. */
export interface Page {
  readonly body: Uint8Array;
  readonly starts: readonly number[];
  /** False only if no record is a tombstone or expires, so that a purge has nothing to drop. */
  readonly mayHoldDead: boolean;
}

export const EMPTY_PAGE: Page = { body: new Uint8Array(0), starts: [0], mayHoldDead: false };

export function recordCount(page: Page): number {
  return page.starts.length - 1;
}

/** Finds the records of a body. Throws a RangeError if it is damaged. */
export function parsePage(body: Uint8Array): Page {
  const reader = new ByteReader(body);
  const starts: number[] = [];
  let mayHoldDead = false;
  while (reader.left > 0) {
    starts.push(reader.position);
    reader.skipBytes();
    const flags = reader.u8();
    reader.varint();
    if ((flags & FLAG_EXPIRES) !== 0) reader.varint();
    mayHoldDead ||= mayBeDead(flags);
    reader.skipBytes();
  }
  starts.push(body.length);
  return { body, starts, mayHoldDead };
}

/** The record at `index`. Its key and value are views into the page. */
export function recordAt({ body, starts }: Page, index: number): StoredRecord {
  const reader = new ByteReader(body, starts[index]);
  const key = reader.bytes();
  const flags = reader.u8();
  const version = reader.varint();
  const expiresAtMs = (flags & FLAG_EXPIRES) === 0 ? undefined : reader.varint();
  return { key, version, expiresAtMs, codec: flags & CODEC_MASK, value: reader.bytes() };
}

/** All records, as `recordAt` returns them. */
export function recordsOf(page: Page): StoredRecord[] {
  return Array.from({ length: recordCount(page) }, (_, index) => recordAt(page, index));
}

/** A view of the key at `index`. */
export function keyAt(page: Page, index: number): Uint8Array {
  return page.body.subarray(keyStart(page, index), keyEnd(page, index));
}

/** The length of a key takes one or two bytes, as keys have at most 1,024. */
function keyStart({ body, starts }: Page, index: number): number {
  return starts[index]! + (body[starts[index]!]! < 0x80 ? 1 : 2);
}

function keyEnd({ body, starts }: Page, index: number): number {
  const start = starts[index]!;
  const first = body[start]!;
  return first < 0x80 ? start + 1 + first : start + 2 + ((first & 0x7f) | (body[start + 1]! << 7));
}

/** Compares the key at `index` with `key`, as bytes. Allocates nothing. */
export function compareKeyAt(page: Page, index: number, key: Uint8Array): number {
  return compareRange(page.body, keyStart(page, index), keyEnd(page, index), key);
}

/** The index of the record with this key, or -1. Scans the page without computing positions. */
export function indexOfKey(page: Page, key: Uint8Array): number {
  for (let index = 0; index < recordCount(page); index += 1) {
    if (isKeyAt(page, index, key)) return index;
  }
  return -1;
}

/** Compares from the end, as neighbours' keys begin alike. */
function isKeyAt(page: Page, index: number, key: Uint8Array): boolean {
  const { body } = page;
  const start = keyStart(page, index);
  const { length } = key;
  if (keyEnd(page, index) - start !== length) return false;
  for (let at = length - 1; at >= 0; at -= 1) if (body[start + at] !== key[at]) return false;
  return true;
}

/** The first index from `from` on whose position is not below `position`; else the record count. */
export function lowerBound(page: Page, position: Position, positionOf: PositionOf, from = 0): number {
  return lowerBoundWithin(page, position, positionOf, { low: from, high: recordCount(page) });
}

/** As `lowerBound`, but starts with the next `near` records and doubles that until it is enough. */
export function lowerBoundNear(
  page: Page,
  position: Position,
  positionOf: PositionOf,
  { from, near }: { readonly from: number; readonly near: number },
): number {
  const count = recordCount(page);
  let low = from;
  let high = near < count ? Math.min(count, from + near - 1) : count;
  for (let step = near; high < count && comparePositionAt(page, high, position, positionOf) < 0; step *= 2) {
    low = high + 1;
    high = Math.min(count, high + step);
  }
  return lowerBoundWithin(page, position, positionOf, { low, high });
}

/** Searches the records from `low` to `high` (exclusive), and returns `high` if all are below. */
function lowerBoundWithin(
  page: Page,
  position: Position,
  positionOf: PositionOf,
  range: { readonly low: number; readonly high: number },
): number {
  let { low, high } = range;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePositionAt(page, middle, position, positionOf) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function comparePositionAt(page: Page, index: number, position: Position, positionOf: PositionOf): number {
  if (positionOf === keyPosition) return compareKeyAt(page, index, position);
  return compareHashed(keyAt(page, index), position);
}

/** The most bytes that a record takes beside its key and value. The writer's last step needs 8. */
const RECORD_FRAME_BYTES = 32;

/** Builds a page of records that are sorted by position, in `memory` or in a buffer of its own. */
export function pageFrom(records: readonly StoredRecord[], memory?: ScratchMemory): Page {
  const bytesMax = records.reduce((sum, { key, value }) => sum + key.length + value.length + RECORD_FRAME_BYTES, 0);
  const writer = new ByteWriter(memory?.take(bytesMax) ?? bytesMax);
  const starts: number[] = [];
  let mayHoldDead = false;
  for (const record of records) {
    starts.push(writer.length);
    mayHoldDead = mayBeDead(writeRecord(writer, record)) || mayHoldDead;
  }
  starts.push(writer.length);
  return { body: writer.view(), starts, mayHoldDead };
}

/** Writes a record, and returns its `flags`. */
function writeRecord(writer: ByteWriter, record: StoredRecord): number {
  const flags = record.codec | (record.expiresAtMs === undefined ? 0 : FLAG_EXPIRES);
  writer.bytes(record.key);
  writer.u8(flags);
  writer.varint(record.version);
  if (record.expiresAtMs !== undefined) writer.varint(record.expiresAtMs);
  writer.bytes(record.value);
  return flags;
}

/** Cuts a copy of the page into pieces of about `targetBytes`, as equal as its records allow. */
export function cutPage(page: Page, targetBytes: number): Page[] {
  const { starts } = page;
  const count = recordCount(page);
  const share = page.body.length / Math.max(1, Math.round(page.body.length / targetBytes));
  const pieces: Page[] = [];
  let first = 0;
  for (let end = 1; end < count; end += 1) {
    if (starts[end + 1]! - starts[first]! - share < share - (starts[end]! - starts[first]!)) continue;
    pieces.push(slicePage(page, first, end));
    first = end;
  }
  pieces.push(slicePage(page, first, count));
  return pieces;
}

/** Copies the records from `first` to `end` (exclusive). */
export function slicePage(page: Page, first: number, end: number): Page {
  const from = page.starts[first]!;
  const to = page.starts[end]!;
  const starts: number[] = [];
  for (let index = first; index <= end; index += 1) starts.push(page.starts[index]! - from);
  // A small page in the cache must not keep a whole bulk write in memory, nor Node's buffer pool.
  const body = Buffer.allocUnsafeSlow(to - from);
  body.set(page.body.subarray(from, to));
  return { body, starts, mayHoldDead: mayHoldDead(page, first, end) };
}

/** Whether any record from `first` to `end` (exclusive) expires or is a tombstone. */
export function mayHoldDead(page: Page, first = 0, end = recordCount(page)): boolean {
  if (!page.mayHoldDead) return false;
  for (let index = first; index < end; index += 1) if (mayBeDead(page.body[keyEnd(page, index)]!)) return true;
  return false;
}

/**
 * The low of the right one of two neighbouring pages: the shortest separator. In a branch it is the
 * first entry, as a split must know that child. If a group begins with the right page, it is the
 * beginning of the group, so that a leaf can be split there.
 */
export function lowBetween(
  left: Page,
  right: Page,
  { level, groupBy }: { readonly level: number; readonly groupBy: string | undefined },
  positionOf: PositionOf,
): Position {
  const first = positionOf(keyAt(right, 0));
  if (level > 0) return owned(first);
  const last = positionOf(keyAt(left, recordCount(left) - 1));
  const group = groupBy === undefined ? last : groupOf(first, groupBy);
  return compareBytes(last, group) < 0 ? owned(group) : separatorBetween(last, first);
}

/**
 * A fingerprint is one byte per record (FORMAT.md, "Header"). A page whose fingerprints lack a
 * key's does not hold that key (filters of fingerprints: Fan et al., "Cuckoo Filter", 2014). It is
 * the last byte of the key's hash, or of its CRC-32. Either is uniform among a leaf's keys.
 */
export function fingerprintOf(position: Position, order: Order): number {
  return order === 'hash' ? position[HASH_BYTES - 1]! : crc32(position) & 0xff;
}

/** The fingerprints of a leaf's page, in the order of its records. */
export function fingerprintsOf(page: Page, order: Order): Uint8Array {
  const positionOf = positionsOf(order, 0);
  return Uint8Array.from({ length: recordCount(page) }, (_, index) =>
    fingerprintOf(positionOf(keyAt(page, index)), order),
  );
}
