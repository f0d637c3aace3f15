// Reads and writes the primitives of FORMAT.md. Damaged bytes make a reader throw a RangeError,
// never read past the end. Callers turn that error into `corrupt`.
import { crc32 } from 'node:zlib';
import type { Branded } from '../contract/brand.ts';

/** An incarnation, container id or attempt id in memory: eight random bytes in hexadecimal. */
export type Id64 = Branded<'Id64'>;

export const ID64_BYTES = 8;

/** The container id of every root. */
export const ROOT_CONTAINER: Id64 = '0000000000000000' as Id64;

/** The version byte that headers and page envelopes begin with. */
export const FORMAT_VERSION = 1;

/** The id in the first eight bytes. */
export function id64(bytes: Uint8Array): Id64 {
  return asBuffer(bytes).toString('hex', 0, ID64_BYTES) as Id64;
}

/** A view of the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** How much longer than a view its memory may be before `owned` copies the view. */
const SPARE_BYTES_MAX = 64;

/**
 * The bytes in memory of their own: a copy, unless they already fill theirs. The cache keeps only
 * such bytes. A view would keep a whole reply in memory, or the 64 KiB of Node's buffer pool.
 */
export function owned(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer.byteLength <= bytes.length + SPARE_BYTES_MAX) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/** The bytes as a string, for the keys of Maps and Sets. */
export function asName(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}

/** Compares as unsigned bytes; a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareRange(a, 0, a.length, b);
}

/** Compares `a` from `start` to `end` with `b`. For positions a loop beats Buffer.compare. */
export function compareRange(a: Uint8Array, start: number, end: number, b: Uint8Array): number {
  const length = end - start;
  const shared = Math.min(length, b.length);
  for (let i = 0; i < shared; i += 1) {
    const difference = a[start + i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return length - b.length;
}

/** The length of the longest prefix of both. */
export function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared += 1;
  return shared;
}

/** Also serves as the empty position. */
export const EMPTY_BYTES: Uint8Array = Buffer.alloc(0);

/** Appends primitives to a buffer that grows as needed. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  /** Writes into `memory`, or into a new buffer of that many bytes. */
  constructor(memory: Buffer | number) {
    this.#buffer = typeof memory === 'number' ? Buffer.allocUnsafeSlow(memory) : memory;
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  id(value: Id64): void {
    this.#reserve(ID64_BYTES);
    this.#length += this.#buffer.write(value, this.#length, ID64_BYTES, 'hex');
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The length as a varint, then the bytes. */
  bytes(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** A view of the bytes written so far, valid until the next write. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads primitives in sequence. Throws a RangeError at the end, or for a varint above 2^53 - 1. */
export class ByteReader {
  readonly #buffer: Buffer;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#buffer = asBuffer(bytes);
    this.position = position;
  }

  get left(): number {
    return this.#buffer.length - this.position;
  }

  u8(): number {
    return this.#buffer[this.#advance(1)]!;
  }

  u16(): number {
    return this.#buffer.readUInt16BE(this.#advance(2));
  }

  u32(): number {
    return this.#buffer.readUInt32BE(this.#advance(4));
  }

  varint(): number {
    let value = this.u8();
    if (value < 0x80) return value;
    value &= 0x7f;
    let scale = 0x80;
    for (let count = 1; count < 8; count += 1) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new RangeError('varint out of range');
  }

  id(): Id64 {
    return id64(this.raw(ID64_BYTES));
  }

  /** A view, not a copy. */
  raw(count: number): Buffer {
    const start = this.#advance(count);
    return this.#buffer.subarray(start, start + count);
  }

  bytes(): Buffer {
    return this.raw(this.varint());
  }

  /** The first `shared` bytes of `before` and then `bytes`, copied into memory of their own. */
  bytesAfter(before: Uint8Array, shared: number): Uint8Array {
    const count = this.varint();
    const start = this.#advance(count);
    if (shared > before.length) throw new RangeError('bytes begin with more than there is');
    const whole = Buffer.allocUnsafeSlow(shared + count);
    for (let at = 0; at < shared; at += 1) whole[at] = before[at]!;
    for (let at = 0; at < count; at += 1) whole[shared + at] = this.#buffer[start + at]!;
    return whole;
  }

  skipBytes(): void {
    this.#advance(this.varint());
  }

  #advance(count: number): number {
    const start = this.position;
    if (start + count > this.#buffer.length) throw new RangeError('bytes end too early');
    this.position = start + count;
    return start;
  }
}

export const CRC_BYTES = 4;

/** Checks the CRC-32 in the last four bytes, and returns it. `seed`: that of preceding bytes. */
export function checkCrc(bytes: Buffer, what: string, seed = 0): number {
  if (bytes.length <= CRC_BYTES) throw new RangeError(`${what} is cut short`);
  const crc = bytes.readUInt32BE(bytes.length - CRC_BYTES);
  if (crc32(bytes.subarray(0, -CRC_BYTES), seed) !== crc) throw new RangeError(`${what} checksum does not match`);
  return crc;
}

/** Writes 0 for undefined, else 1 and then the value. */
export function writeOptional<T>(writer: ByteWriter, value: T | undefined, write: (value: T) => void): void {
  writer.u8(value === undefined ? 0 : 1);
  if (value !== undefined) write(value);
}

export function readOptional<T>(reader: ByteReader, read: () => T): T | undefined {
  return reader.u8() === 0 ? undefined : read();
}

/** Reads a varint `n`, then `n` values. */
export function readMany<T>(reader: ByteReader, read: () => T): T[] {
  const values: T[] = [];
  for (let left = reader.varint(); left > 0; left -= 1) values.push(read());
  return values;
}

/** A page of the largest record, merged with the record that replaces it. More is rare. */
const KEPT_BYTES_MAX = 1024 * 1024 + 16 * 1024;
/** The buffer grows in steps of this, so that slowly growing pages do not each enlarge it. */
const STEP_BYTES = 64 * 1024;

/**
 * A buffer that is used again and again, for bytes that are copied on at once: each `take`
 * overwrites what was written after the one before. New buffers outside V8's heap make it collect
 * garbage, which took half of the time of a put of 500 KB.
 */
export class ScratchMemory {
  #memory = Buffer.alloc(0);

  /** A buffer of at least so many bytes, with any content. A very large one is not kept. */
  take(bytes: number): Buffer {
    if (bytes > KEPT_BYTES_MAX) return Buffer.allocUnsafeSlow(bytes);
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
    return this.#memory;
  }

  /** Whether the bytes lie in the buffer, so that the next `take` overwrites them. */
  holds(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory.buffer;
  }
}
