// A page: a sorted run of records. FORMAT.md, "Page":
//   envelope: version u8 | compression u8 | incarnation 8 | container 8 | slot u16 | number varint | raw bytes u32 | body | crc32 u32
//   body:     records in position order, each: key bytes | flags u8 | version varint | [expiry varint] | value bytes
// The envelope names its place, so bytes in a wrong place are noticed. A page is changed by splicing its body, never by
// decoding the values.
import { crc32 } from 'node:zlib';
import {
  asBuffer,
  ByteReader,
  ByteWriter,
  compareBytes,
  compareRange,
  EMPTY_BYTES,
  type Id64,
  varintBytes,
} from './bytes.ts';
import { type Compressed, decompress } from './compression.ts';
import { keyPlacer, type Placer, type Position, separatorBetween } from './position.ts';

export const FORMAT_VERSION = 1;

/** No page expands to more: a record's limit is far below, and this bounds what damage can make us allocate. */
export const PAGE_RAW_BYTES_MAX = 2 * 1024 * 1024;

const FLAG_EXPIRES = 0x08;
const CODEC_MASK = 0x07;
const ENVELOPE_BYTES = 2 + 8 + 8 + 2 + 8 + 4 + 4;

/** A record as it lies in a page. `version` is a number of the table's incarnation; `codec` a tag of FORMAT.md. */
export interface StoredRecord {
  readonly key: Uint8Array;
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number | undefined;
  readonly codec: number;
  readonly value: Uint8Array;
}

/** An expanded page: the body, and where each record begins (one entry more than records: the end). */
export interface Page {
  readonly body: Uint8Array;
  readonly starts: readonly number[];
  /** Whether it may hold what a base sheds in time: tombstones, and records with an expiry time. */
  readonly mortal: boolean;
}

export const EMPTY_PAGE: Page = { body: new Uint8Array(0), starts: [0], mortal: false };

/** The tag, in place of a codec's, of a record that says its key was removed: in layers above the base, where older records may lie below. */
const TOMBSTONE = 7;

export function tombstoneOf(key: Uint8Array, version: number): StoredRecord {
  return { key, version, expiresAtMs: undefined, codec: TOMBSTONE, value: EMPTY_BYTES };
}

export function isTombstone(record: StoredRecord): boolean {
  return record.codec === TOMBSTONE;
}

export function recordCount(page: Page): number {
  return page.starts.length - 1;
}

/** Where a page belongs. */
export interface PagePlace {
  readonly incarnation: Id64;
  readonly container: Id64;
  readonly slot: number;
  readonly number: number;
}

/** A page in its envelope, as stored. */
export interface SealedPage {
  readonly bytes: Uint8Array;
  readonly crc: number;
  readonly compression: number;
}

/** Finds the records of a body. Throws a RangeError if it is damaged. */
export function parsePage(body: Uint8Array): Page {
  const reader = new ByteReader(body);
  const starts: number[] = [];
  let mortal = false;
  while (reader.left > 0) {
    starts.push(reader.position);
    reader.bytes();
    const flags = reader.u8();
    reader.varint();
    if ((flags & FLAG_EXPIRES) !== 0) reader.varint();
    if (flags === TOMBSTONE || (flags & FLAG_EXPIRES) !== 0) mortal = true;
    reader.bytes();
  }
  starts.push(body.length);
  return { body, starts, mortal };
}

/** The record at `index`; key and value are views into the page. */
export function recordAt(page: Page, index: number): StoredRecord {
  const reader = new ByteReader(page.body.subarray(page.starts[index], page.starts[index + 1]));
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
    if (compareKeyAt(page, index, key) === 0) return index;
  }
  return -1;
}

/** First index, from `from` on, whose position is not below `position`; the record count if there is none. */
export function lowerBound(page: Page, position: Position, place: Placer, from = 0): number {
  let low = from;
  let high = recordCount(page);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePlaced(page, middle, position, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function comparePlaced(page: Page, index: number, position: Position, place: Placer): number {
  if (place === keyPlacer) return compareKeyAt(page, index, position);
  return compareBytes(place(keyAt(page, index)), position);
}

/** Bytes a record takes in a body. */
function recordBytes(record: StoredRecord): number {
  const expiry = record.expiresAtMs === undefined ? 0 : varintBytes(record.expiresAtMs);
  const { key, value } = record;
  return (
    varintBytes(key.length) +
    key.length +
    1 +
    varintBytes(record.version) +
    expiry +
    varintBytes(value.length) +
    value.length
  );
}

function writeRecord(writer: ByteWriter, record: StoredRecord): void {
  writer.bytes(record.key);
  writer.u8(record.codec | (record.expiresAtMs === undefined ? 0 : FLAG_EXPIRES));
  writer.varint(record.version);
  if (record.expiresAtMs !== undefined) writer.varint(record.expiresAtMs);
  writer.bytes(record.value);
}

/** A page of these records, which are given in order of their positions. */
export function pageFrom(records: readonly StoredRecord[]): Page {
  let bytes = 0;
  let mortal = false;
  for (const record of records) {
    bytes += recordBytes(record);
    if (record.expiresAtMs !== undefined || isTombstone(record)) mortal = true;
  }
  const writer = new ByteWriter(bytes);
  const starts: number[] = [];
  for (const record of records) {
    starts.push(writer.length);
    writeRecord(writer, record);
  }
  starts.push(writer.length);
  return { body: writer.view(), starts, mortal };
}

/** Cuts a page into runs of about `targetBytes`, never inside a record: each cut is at the boundary nearest to an even share. */
export function cutPage(page: Page, targetBytes: number): Page[] {
  const pieces = Math.max(1, Math.round(page.body.length / targetBytes));
  if (pieces === 1) return [page];
  const share = page.body.length / pieces;
  const cut: Page[] = [];
  let first = 0;
  for (let index = 1; index <= recordCount(page); index += 1) {
    const bytes = page.starts[index]! - page.starts[first]!;
    const isLast = index === recordCount(page);
    const bytesWithNext = isLast ? bytes : page.starts[index + 1]! - page.starts[first]!;
    if (!isLast && bytesWithNext - share < share - bytes) continue;
    cut.push(slicePage(page, first, index));
    first = index;
  }
  return cut;
}

/** The records from `first` to `end` (exclusive), as a page of its own. */
export function slicePage(page: Page, first: number, end: number): Page {
  const offset = page.starts[first]!;
  return {
    // A copy: one small page in the cache must not keep the whole of a bulk write in memory.
    body: Buffer.from(page.body.subarray(offset, page.starts[end])),
    starts: page.starts.slice(first, end + 1).map((start) => start - offset),
    mortal: page.mortal,
  };
}

/**
 * Where the right one of two neighbouring pages begins. In a leaf as short as separates them; in a branch exactly at its first entry,
 * because a branch that is split there must know the child that owns its low.
 */
export function lowBetween(left: Page, right: Page, level: number, place: Placer): Position {
  const first = place(keyAt(right, 0));
  return level > 0 ? Buffer.from(first) : separatorBetween(place(keyAt(left, recordCount(left) - 1)), first);
}

/** A body of `rawBytes` bytes that is compressed already, in its envelope. */
export function sealCompressed({ tag, bytes }: Compressed, rawBytes: number, place: PagePlace): SealedPage {
  return seal(bytes, tag, rawBytes, place);
}

/** The same compressed body in the envelope of another place, without expanding it. */
export function moveSealed(sealed: Uint8Array, place: PagePlace): SealedPage {
  const { body, tag, rawBytes } = openEnvelope(sealed);
  return seal(body, tag, rawBytes, place);
}

function seal(body: Uint8Array, tag: number, rawBytes: number, place: PagePlace): SealedPage {
  const writer = new ByteWriter(ENVELOPE_BYTES + body.length);
  writer.u8(FORMAT_VERSION);
  writer.u8(tag);
  writer.id(place.incarnation);
  writer.id(place.container);
  writer.u16(place.slot);
  writer.varint(place.number);
  writer.u32(rawBytes);
  writer.raw(body);
  const crc = crc32(writer.view());
  writer.u32(crc);
  return { bytes: writer.view(), crc, compression: tag };
}

interface Envelope extends PagePlace {
  readonly tag: number;
  readonly rawBytes: number;
  readonly body: Uint8Array;
  readonly crc: number;
}

/** Reads an envelope and checks its CRC-32 and format version; throws a RangeError that says what is wrong. */
function openEnvelope(sealed: Uint8Array): Envelope {
  const bytes = asBuffer(sealed);
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version !== FORMAT_VERSION) throw new RangeError(`page format ${version} is not known to this release`);
  if (bytes.length < 5) throw new RangeError('page is cut short');
  const crc = bytes.readUInt32BE(bytes.length - 4);
  if (crc32(bytes.subarray(0, -4)) !== crc) throw new RangeError('page checksum does not match');
  const tag = reader.u8();
  const incarnation = reader.id();
  const container = reader.id();
  const slot = reader.u16();
  const number = reader.varint();
  const rawBytes = reader.u32();
  return { tag, incarnation, container, slot, number, rawBytes, crc, body: reader.raw(reader.left - 4) };
}

/** Opens a stored page that the page table places here, with this CRC-32. Throws a RangeError that says what is wrong. */
export function openPage(sealed: Uint8Array, place: PagePlace, crc: number): Page {
  const envelope = openEnvelope(sealed);
  const misplaced =
    envelope.incarnation !== place.incarnation ||
    envelope.container !== place.container ||
    envelope.slot !== place.slot ||
    envelope.number !== place.number ||
    envelope.crc !== crc;
  if (misplaced) throw new RangeError('page belongs to another place or time');
  if (envelope.rawBytes > PAGE_RAW_BYTES_MAX) throw new RangeError('page claims more bytes than any page has');
  return parsePage(decompress(envelope.body, envelope.tag, envelope.rawBytes));
}
