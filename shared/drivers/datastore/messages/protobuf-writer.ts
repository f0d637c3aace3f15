// Writes a protobuf message from its end to its beginning. A message's length stands before it, so
// this order writes each byte only once.

/** Wire types. */
const VARINT = 0;
const LENGTH = 2;

/** gRPC's prefix: a byte that says whether the message is compressed, and its length in four. */
const FRAME_PREFIX_BYTES = 5;
const VARINT_BYTES_MAX = 10;
/** For longer text Node's own encoder is faster, although it takes longer to begin. */
const SHORT_CHARS = 64;

/** Fields are written in reverse: the last one of the message first. */
export class MessageWriter {
  #buffer: Buffer;
  /** Everything from here on is written. */
  #at: number;

  /** Writes into `memory`, whatever is in it. A message that takes more costs a copy. */
  constructor(memory: Buffer) {
    this.#buffer = memory;
    this.#at = memory.length;
  }

  /** The bytes written so far, which tell where an embedded message ends. */
  get written(): number {
    return this.#buffer.length - this.#at;
  }

  /** Makes all bytes that were written since `end` the embedded message of this field. */
  message(field: number, end: number): void {
    this.#head(field, LENGTH, this.written - end);
  }

  /** Text. An empty one is left out, which means the same. */
  text(field: number, value: string): void {
    if (value !== '') this.textAlways(field, value);
  }

  /** Text of a field whose presence counts. */
  textAlways(field: number, value: string): void {
    const end = this.written;
    if (!this.#ascii(value)) {
      const sizeBytes = Buffer.byteLength(value);
      this.#reserve(sizeBytes);
      this.#at -= sizeBytes;
      this.#buffer.write(value, this.#at);
    }
    this.message(field, end);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.#head(field, LENGTH, value.length);
  }

  /** A small number that is not negative: an enum, a flag or a count. */
  number(field: number, value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  /** A signed 64-bit number in decimal. */
  int64(field: number, value: string): void {
    this.#reserve(VARINT_BYTES_MAX);
    const number = Number(value);
    if (number >= 0 && Number.isSafeInteger(number)) this.#varint(number);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#tag(field, VARINT);
  }

  /** The message in its gRPC frame, not compressed. */
  framed(): Buffer {
    const sizeBytes = this.written;
    this.#reserve(FRAME_PREFIX_BYTES);
    this.#at -= FRAME_PREFIX_BYTES;
    this.#buffer[this.#at] = 0;
    this.#buffer.writeUInt32BE(sizeBytes, this.#at + 1);
    return this.#buffer.subarray(this.#at);
  }

  /** Writes short text of ASCII. Other text is left to the caller: false. */
  #ascii(value: string): boolean {
    if (value.length > SHORT_CHARS) return false;
    this.#reserve(value.length);
    const start = this.#at - value.length;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#buffer[start + index] = code;
    }
    this.#at = start;
    return true;
  }

  #head(field: number, type: number, sizeBytes: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(sizeBytes);
    this.#tag(field, type);
  }

  #tag(field: number, type: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    let sizeBytes = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) sizeBytes += 1;
    this.#at -= sizeBytes;
    const last = this.#at + sizeBytes - 1;
    let rest = value;
    for (let at = this.#at; at < last; at += 1) {
      this.#buffer[at] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[last] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  /** Makes room before what is written. */
  #reserve(sizeBytes: number): void {
    if (this.#at >= sizeBytes) return;
    const grown = Buffer.allocUnsafe(2 * this.#buffer.length + sizeBytes);
    const at = grown.length - this.written;
    grown.set(this.#buffer.subarray(this.#at), at);
    this.#buffer = grown;
    this.#at = at;
  }
}
