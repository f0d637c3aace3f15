// Reads protobuf fields without decoding: entities stay bytes, and most are never read.
import { invalid } from './status.ts';

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;

/** The fields below describe what `next()` found; the next call overwrites them. */
export class WireReader {
  readonly bytes: Buffer;
  /** Number and wire type of the field. */
  field = 0;
  type = 0;
  /** The field's beginning, its tag included. */
  tagStart = 0;
  /** The content's beginning and end. */
  start = 0;
  end: number;
  readonly #limit: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.end = start;
    this.#limit = end;
  }

  /** False at the end of the message. Throws if the bytes are no message. */
  next(): boolean {
    if (this.end >= this.#limit) return false;
    this.tagStart = this.end;
    const tag = this.#readVarint();
    this.field = Math.floor(tag / 8);
    this.type = tag & 7;
    if (this.field < 1 || this.field > 0x1fff_ffff) throw malformed();
    if (this.type === VARINT) {
      this.start = this.end;
      this.#readVarint();
      return true;
    }
    const size = this.type === BYTES ? this.#readVarint() : fixedSize(this.type);
    this.start = this.end;
    this.end += size;
    if (this.end > this.#limit) throw malformed();
    return true;
  }

  /** The content of a varint field as a signed 64-bit integer. */
  int64(): bigint {
    this.#expect(VARINT);
    let value = 0n;
    for (let at = this.start, shift = 0n; at < this.end; at += 1, shift += 7n) {
      value |= BigInt(this.bytes[at]! & 0x7f) << shift;
    }
    return BigInt.asIntN(64, value);
  }

  /** True unless the varint is zero. */
  flag(): boolean {
    this.#expect(VARINT);
    for (let at = this.start; at < this.end; at += 1) if ((this.bytes[at]! & 0x7f) !== 0) return true;
    return false;
  }

  /** The content as text; `expectUtf8` must have been called for text that is stored. */
  text(): string {
    this.#expect(BYTES);
    return this.bytes.toString('utf8', this.start, this.end);
  }

  /** The content, sharing memory with the message. */
  slice(): Buffer {
    this.#expect(BYTES);
    return this.bytes.subarray(this.start, this.end);
  }

  /** A reader of the content, which is a message. */
  message(): WireReader {
    this.#expect(BYTES);
    return new WireReader(this.bytes, this.start, this.end);
  }

  get sizeBytes(): number {
    return this.end - this.start;
  }

  /** Throws if the field did not come in the wire type its definition says. */
  #expect(type: number): void {
    if (this.type !== type) throw malformed();
  }

  #readVarint(): number {
    let value = 0;
    for (let scale = 1, count = 0; count < 10; count += 1, scale *= 128) {
      if (this.end >= this.#limit) throw malformed();
      const byte = this.bytes[this.end]!;
      this.end += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw malformed();
  }
}

/** A length-delimited field, tag included. */
export function bytesField(field: number, content: Uint8Array): Buffer[] {
  return [Buffer.concat([varint(field * 8 + BYTES), varint(content.byteLength)]), content as Buffer];
}

function varint(value: number): Buffer {
  let rest = value;
  const bytes: number[] = [];
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function fixedSize(type: number): number {
  if (type === FIXED64) return 8;
  if (type === FIXED32) return 4;
  // Groups were never used by this API.
  throw malformed();
}

function malformed(): Error {
  return invalid('', 'is not a well-formed protobuf message');
}
