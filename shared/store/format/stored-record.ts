// The encoding of a record in a page's body (FORMAT.md, "Page").
import { type ByteWriter, EMPTY_BYTES, varintBytes } from './bytes.ts';

/** The bit of `flags` that says that an expiry follows the version. */
export const FLAG_EXPIRES = 0x08;

/** The bits of `flags` that hold the codec. */
export const CODEC_MASK = 0x07;

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
export function mayBeDead(flags: number): boolean {
  return flags === TOMBSTONE || (flags & FLAG_EXPIRES) !== 0;
}

/** How many bytes `writeRecord` writes. */
export function recordBytes(record: StoredRecord): number {
  const expiry = record.expiresAtMs === undefined ? 0 : varintBytes(record.expiresAtMs);
  const { key, value } = record;
  const lengths = varintBytes(key.length) + varintBytes(value.length);
  return lengths + key.length + 1 + varintBytes(record.version) + expiry + value.length;
}

/** Writes a record, and returns its `flags`. */
export function writeRecord(writer: ByteWriter, record: StoredRecord): number {
  const flags = record.codec | (record.expiresAtMs === undefined ? 0 : FLAG_EXPIRES);
  writer.bytes(record.key);
  writer.u8(flags);
  writer.varint(record.version);
  if (record.expiresAtMs !== undefined) writer.varint(record.expiresAtMs);
  writer.bytes(record.value);
  return flags;
}

export function isExpired(record: StoredRecord, nowMs: number): boolean {
  return record.expiresAtMs !== undefined && record.expiresAtMs <= nowMs;
}
