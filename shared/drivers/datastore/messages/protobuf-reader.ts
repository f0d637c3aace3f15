// Walks over a protobuf message's fields (https://protobuf.dev/programming-guides/encoding).

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

const VARINT_BYTES_MAX = 10;

/** `next()` moves to a field, which the other methods read. Throws an Error for wrong bytes. */
export class MessageReader {
  /** The field's number. */
  field = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #type = 0;
  /** The field's content begins here and ends at `#at`. */
  #start: number;
  #at: number;
  /** The content of a varint field, exact up to 2^53. */
  #value = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#start = start;
    this.#at = start;
    this.#end = end;
  }

  /** False at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#type = tag % 8;
    if (this.field === 0) throw malformed();
    const sizeBytes = this.#type === LENGTH ? this.#varint() : sizeOf(this.#type);
    this.#start = this.#at;
    if (this.#type === VARINT) this.#value = this.#varint();
    else this.#at += sizeBytes;
    if (this.#at > this.#end) throw malformed();
    return true;
  }

  message(): MessageReader {
    this.#expect(LENGTH);
    return new MessageReader(this.#bytes, this.#start, this.#at);
  }

  text(): string {
    this.#expect(LENGTH);
    return this.#bytes.toString('utf8', this.#start, this.#at);
  }

  /** Shares memory with the message. */
  bytes(): Uint8Array {
    this.#expect(LENGTH);
    return this.#bytes.subarray(this.#start, this.#at);
  }

  /** An enum or a flag. */
  number(): number {
    this.#expect(VARINT);
    return this.#value;
  }

  /** A signed 64-bit number in decimal. */
  int64(): string {
    this.#expect(VARINT);
    return Number.isSafeInteger(this.#value) ? String(this.#value) : this.#bigInt64();
  }

  #bigInt64(): string {
    let value = 0n;
    for (let at = this.#start, shift = 0n; at < this.#at; at += 1, shift += 7n)
      value |= BigInt(this.#bytes[at]! % 0x80) << shift;
    return String(BigInt.asIntN(64, value));
  }

  #varint(): number {
    let value = 0;
    for (let count = 0, scale = 1; count < VARINT_BYTES_MAX && this.#at < this.#end; count += 1, scale *= 0x80) {
      const byte = this.#bytes[this.#at]!;
      this.#at += 1;
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
    throw malformed();
  }

  #expect(type: number): void {
    if (this.#type !== type) throw malformed();
  }
}

function sizeOf(type: number): number {
  if (type === VARINT) return 0;
  if (type === FIXED64) return 8;
  if (type === FIXED32) return 4;
  throw malformed();
}

function malformed(): Error {
  return new Error('the reply is no message of the Datastore API');
}
