// The body of a page: records in order of their positions, one behind the other (record.ts, and FORMAT.md, "Page"):
//   key bytes | flags u8 | version varint | [expiry varint] | value bytes
// Pages are cut and joined by copying bytes, never by decoding values.
import { ByteReader, ByteWriter, compareRange } from './bytes.ts';
import { compareWithPosition, keyPosition, type PositionOf, type Position, separatorBetween } from './position.ts';
import {
  CODEC_MASK,
  FLAG_EXPIRES,
  mayBeDead,
  recordBytes,
  type StoredRecord,
  TOMBSTONE,
  writeRecord,
} from './record.ts';

/** An expanded page: its body, and the offset at which each record begins. The last offset, behind the last record, is the body's length. */
export interface Page {
  readonly body: Uint8Array;
  readonly starts: readonly number[];
  /** False if no record is a tombstone or has an expiry time: a compaction then finds nothing to drop in it. */
  readonly mayHoldDead: boolean;
  /** Of a page that was built and is not sealed yet: memory that holds its body alone, `ROOM_BEFORE_BYTES` from its begin and `ROOM_BEHIND_BYTES` from its end. */
  room?: Buffer | undefined;
}

/** Room around a body for the envelope (envelope.ts): a page that is stored as it is need not be copied into one. */
export const ROOM_BEFORE_BYTES = 32;
export const ROOM_BEHIND_BYTES = 8;

export const EMPTY_PAGE: Page = { body: new Uint8Array(0), starts: [0], mayHoldDead: false, room: undefined };

/** A page of a body that is built in `room`, where it takes `bytes`. */
function builtPage(room: Buffer, bytes: number, starts: readonly number[], mayHoldDead: boolean): Page {
  return { body: room.subarray(ROOM_BEFORE_BYTES, ROOM_BEFORE_BYTES + bytes), starts, mayHoldDead, room };
}

function roomFor(bytes: number): Buffer {
  return Buffer.allocUnsafe(ROOM_BEFORE_BYTES + bytes + ROOM_BEHIND_BYTES);
}

/** The page's room, which is the caller's from then on; undefined if it has none any more. */
export function takeRoom(page: Page): Buffer | undefined {
  const { room } = page;
  page.room = undefined;
  return room;
}

/** How many records a page holds. */
export function recordCount(page: Page): number {
  return page.starts.length - 1;
}

/** Finds where the records of a body begin. Throws a RangeError if it is damaged. */
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
    if (flags === TOMBSTONE || (flags & FLAG_EXPIRES) !== 0) mayHoldDead = true;
    reader.skipBytes();
  }
  starts.push(body.length);
  return { body, starts, mayHoldDead, room: undefined };
}

/** The record at `index`; key and value are views into the page. */
export function recordAt({ body, starts }: Page, index: number): StoredRecord {
  const reader = new ByteReader(body, starts[index]);
  const key = reader.bytes();
  const flags = reader.u8();
  const version = reader.varint();
  const expiresAtMs = (flags & FLAG_EXPIRES) === 0 ? undefined : reader.varint();
  return { key, version, expiresAtMs, codec: flags & CODEC_MASK, value: reader.bytes() };
}

/** The key of the record at `index`, a view. Keys are short: their length takes one byte or two. */
export function keyAt(page: Page, index: number): Uint8Array {
  const { body } = page;
  const start = page.starts[index]!;
  const first = body[start]!;
  if (first < 0x80) return body.subarray(start + 1, start + 1 + first);
  const length = (first & 0x7f) | (body[start + 1]! << 7);
  return body.subarray(start + 2, start + 2 + length);
}

/** Order of the key at `index` and `key`, as bytes. Allocates nothing. */
export function compareKeyAt(page: Page, index: number, key: Uint8Array): number {
  const { body } = page;
  const start = page.starts[index]!;
  const first = body[start]!;
  const isShort = first < 0x80;
  const length = isShort ? first : (first & 0x7f) | (body[start + 1]! << 7);
  const from = start + (isShort ? 1 : 2);
  return compareRange(body, from, from + length, key);
}

/** Index of the record with this key, or -1. Compares keys only: no position is computed. */
export function indexOfKey(page: Page, key: Uint8Array): number {
  for (let index = 0; index < recordCount(page); index += 1) {
    if (isKeyAt(page, index, key)) return index;
  }
  return -1;
}

/** Compares from the end: keys that are neighbours begin alike. */
function isKeyAt({ body, starts }: Page, index: number, key: Uint8Array): boolean {
  const start = starts[index]!;
  const first = body[start]!;
  const isShort = first < 0x80;
  const length = isShort ? first : (first & 0x7f) | (body[start + 1]! << 7);
  if (length !== key.length) return false;
  const from = start + (isShort ? 1 : 2);
  for (let at = length - 1; at >= 0; at -= 1) {
    if (body[from + at] !== key[at]) return false;
  }
  return true;
}

/** First index, from `from` on, whose position is not below `position`; the record count if there is none. */
export function lowerBound(page: Page, position: Position, positionOf: PositionOf, from = 0): number {
  return lowerBoundWithin(page, position, positionOf, { low: from, high: recordCount(page) });
}

/** As `lowerBound`, where it is probably among the `near` records from `from` on: each look at one hashes its key. Searches these, then twice as many. */
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

/** `high` if all from `low` to `high` (exclusive) are below. */
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
  return compareWithPosition(keyAt(page, index), position, positionOf);
}

/** A page of these records, which are given in order of their positions. */
export function pageFrom(records: readonly StoredRecord[]): Page {
  let bytes = 0;
  let mayHoldDead = false;
  for (const record of records) {
    bytes += recordBytes(record);
    mayHoldDead ||= mayBeDead(record);
  }
  const room = roomFor(bytes);
  const writer = new ByteWriter(room.subarray(ROOM_BEFORE_BYTES));
  const starts: number[] = [];
  for (const record of records) {
    starts.push(writer.length);
    writeRecord(writer, record);
  }
  starts.push(writer.length);
  return builtPage(room, bytes, starts, mayHoldDead);
}

/** Where `cutPage` would cut a page of these records: for each piece the index of the record behind it. */
export function pageEnds(records: readonly StoredRecord[], targetBytes: number): number[] {
  const starts: number[] = [];
  let bytes = 0;
  for (const record of records) {
    starts.push(bytes);
    bytes += recordBytes(record);
  }
  starts.push(bytes);
  return cutsOf(starts, targetBytes);
}

/** As `pageFrom`, a page for each of these `pageEnds`. */
export function pagesFrom(records: readonly StoredRecord[], ends: readonly number[]): Page[] {
  let first = 0;
  return ends.map((end) => {
    const page = pageFrom(records.slice(first, end));
    first = end;
    return page;
  });
}

/** Cuts a page into copies of about `targetBytes`, each cut between two records, at the boundary nearest to an even share. */
export function cutPage(page: Page, targetBytes: number): Page[] {
  let first = 0;
  return cutsOf(page.starts, targetBytes).map((end) => {
    const piece = slicePage(page, first, end);
    first = end;
    return piece;
  });
}

/** Where each piece of a page that begins its records at `starts` ends, as the index of the record behind it. */
function cutsOf(starts: readonly number[], targetBytes: number): number[] {
  const count = starts.length - 1;
  const bytes = starts[count]!;
  const share = bytes / Math.max(1, Math.round(bytes / targetBytes));
  const cuts: number[] = [];
  let first = 0;
  for (let end = 1; end < count; end += 1) {
    if (starts[end + 1]! - starts[first]! - share < share - (starts[end]! - starts[first]!)) continue;
    cuts.push(end);
    first = end;
  }
  cuts.push(count);
  return cuts;
}

/** The records from `first` to `end` (exclusive), as a page of its own. */
export function slicePage(page: Page, first: number, end: number): Page {
  const from = page.starts[first]!;
  const to = page.starts[end]!;
  const starts: number[] = [];
  for (let index = first; index <= end; index += 1) starts.push(page.starts[index]! - from);
  // A copy: one small page in the cache must not keep the whole of a bulk write in memory.
  const room = roomFor(to - from);
  room.set(page.body.subarray(from, to), ROOM_BEFORE_BYTES);
  return builtPage(room, to - from, starts, page.mayHoldDead);
}

/**
 * The low of the right one of two neighbouring pages. In a leaf the shortest position that separates them; in a branch exactly its first
 * entry, because a branch that is split there must know the child that owns its low.
 */
export function lowBetween(left: Page, right: Page, level: number, positionOf: PositionOf): Position {
  const first = positionOf(keyAt(right, 0));
  return level > 0 ? Buffer.from(first) : separatorBetween(positionOf(keyAt(left, recordCount(left) - 1)), first);
}
