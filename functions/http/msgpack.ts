// MessagePack as it comes from outside, checked as it is read, since msgpackr reads leniently (0xc1, records and other extensions of its
// own, broken UTF-8). What passes here reads the same in every decoder. Timestamps are the one extension carried.
import { isUtf8 } from 'node:buffer';
import { Packr } from 'msgpackr';
import { VALUE_DEPTH_MAX } from '../../shared/store/index.ts';
import { Problem } from './problem.ts';
import { tooDeep, ValueCount, type ValueKind, type ValueReader } from './reader.ts';

const TIMESTAMP = 0xff;
const TIMESTAMP_SIZES: ReadonlySet<number> = new Set([4, 8, 12]);

/** A byte order mark is a character like any other. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** 64-bit integers come as bigints, so that none is rounded. */
const packr = new Packr({ useRecords: false });

/** Encodes plain values, Maps, bytes and Dates. */
export function encodeMsgpack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** The head of an array of `count` items, or of a map of `count` members, which follow it. */
export function msgpackHead(kind: 'array' | 'map', count: number): Uint8Array {
  const [short, long] = kind === 'array' ? [0x90, 0xdc] : [0x80, 0xde];
  if (count < 16) return Uint8Array.of(short | count);
  if (count < 0x1_0000) return Uint8Array.of(long, count >> 8, count);
  return Uint8Array.of(long + 1, count >> 24, count >> 16, count >> 8, count);
}

/** What a token is. Arrays and maps are followed by the values in them; every other token is a value. */
export type TokenKind = 'scalar' | 'float' | 'string' | 'binary' | 'timestamp' | 'array' | 'map';

/** Reads value by value, or token by token. */
export class MsgpackReader implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #values = new ValueCount();
  #start = 0;
  /** Where the bytes of the last string, or binary, begin. */
  #bodyStart = 0;
  /** Behind the last token read. */
  #at = 0;
  /** Values that follow in the last token read: items of an array, names and values of a map, 0 for all other kinds. */
  count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get kind(): ValueKind {
    const byte = this.#bytes[this.#at] ?? 0;
    if (byte >= 0x80 && byte <= 0x8f) return 'map';
    if (byte >= 0x90 && byte <= 0x9f) return 'array';
    if ((byte >= 0xa0 && byte <= 0xbf) || (byte >= 0xd9 && byte <= 0xdb)) return 'string';
    return byte >= 0xdc && byte <= 0xdf ? (byte <= 0xdd ? 'array' : 'map') : 'scalar';
  }

  items(read: () => void): void {
    if (this.next() !== 'array') throw malformed('an array is expected', this.#start);
    for (let left = this.count; left > 0; left -= 1) read();
  }

  members(read: (name: string | undefined) => void): void {
    if (this.next() !== 'map') throw malformed('a map is expected', this.#start);
    for (let left = this.count; left > 0; left -= 2) {
      const isText = this.kind === 'string';
      const name = isText ? (this.scalar() as string) : undefined;
      if (!isText) this.value();
      read(name);
    }
  }

  scalar(): unknown {
    const kind = this.next();
    if (kind === 'binary') return this.#bytes.subarray(this.#bodyStart, this.#at);
    if (kind === 'timestamp' || this.count > 0) throw malformed('a plain value is expected', this.#start);
    return this.decoded();
  }

  value(): Uint8Array {
    const start = this.#at;
    /** How many values are still to come, in each array and map around the next one. */
    const open: number[] = [];
    do {
      const kind = this.next();
      if (kind === 'array' || kind === 'map') {
        if (open.length === VALUE_DEPTH_MAX) throw tooDeep();
        open.push(this.count + 1);
      }
      while (open.length > 0 && (open[open.length - 1]! -= 1) === 0) open.pop();
    } while (open.length > 0);
    return this.#bytes.subarray(start, this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw malformed('bytes follow the value', this.#at);
  }

  next(): TokenKind {
    this.#values.add();
    this.#start = this.#at;
    this.count = 0;
    if (this.#at >= this.#bytes.length) throw malformed('the value ends too early', this.#at);
    const byte = this.#bytes[this.#at]!;
    this.#at += 1;
    return byte >= 0xc0 && byte <= 0xdf ? this.#sized(byte) : this.#short(byte);
  }

  /** The last token read, if it is a scalar, a float or a string: 64-bit integers as bigints. */
  decoded(): unknown {
    const byte = this.#bytes[this.#start]!;
    if (byte <= 0x7f) return byte;
    if (byte >= 0xe0) return byte - 0x100;
    if (byte === 0xc0) return null;
    if (byte === 0xc2 || byte === 0xc3) return byte === 0xc3;
    if (byte >= 0xca && byte <= 0xd3) return NUMBERS[byte - 0xca]!(this.#view, this.#start + 1);
    return UTF8.decode(this.#bytes.subarray(this.#bodyStart, this.#at));
  }

  /** Tokens that hold a small number, or size, themselves. */
  #short(byte: number): TokenKind {
    if (byte <= 0x7f || byte >= 0xe0) return 'scalar';
    if (byte > 0x9f) return this.#string(byte & 0x1f);
    this.count = byte <= 0x8f ? (byte & 0x0f) * 2 : byte & 0x0f;
    return byte <= 0x8f ? 'map' : 'array';
  }

  /** The others, with a size of their own, or none at all. */
  #sized(byte: number): TokenKind {
    if (byte === 0xc1) throw malformed('the byte c1 is never used', this.#start);
    if (byte <= 0xc3) return 'scalar';
    if (byte <= 0xc6) return this.#skip(this.#size(1 << (byte - 0xc4)), 'binary');
    if (byte <= 0xc9) return this.#extension(this.#size(1 << (byte - 0xc7)));
    if (byte <= 0xcb) return this.#skip(byte === 0xca ? 4 : 8, 'float');
    if (byte <= 0xd3) return this.#skip(1 << ((byte - 0xcc) % 4), 'scalar');
    if (byte <= 0xd8) return this.#extension(1 << (byte - 0xd4));
    if (byte <= 0xdb) return this.#string(this.#size(1 << (byte - 0xd9)));
    const size = this.#size(byte % 2 === 0 ? 2 : 4);
    this.count = byte <= 0xdd ? size : size * 2;
    return byte <= 0xdd ? 'array' : 'map';
  }

  #size(width: number): number {
    const at = this.#at;
    this.#skip(width, 'scalar');
    return width === 1 ? this.#view.getUint8(at) : width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #skip(size: number, kind: TokenKind): TokenKind {
    this.#bodyStart = this.#at;
    if (this.#at + size > this.#bytes.length) throw malformed('the value ends too early', this.#at);
    this.#at += size;
    return kind;
  }

  #string(size: number): TokenKind {
    this.#skip(size, 'string');
    if (this.#isAscii() || isUtf8(this.#bytes.subarray(this.#bodyStart, this.#at))) return 'string';
    throw malformed('a string is not UTF-8', this.#bodyStart);
  }

  /** Of a short string, for which a view of its bytes costs more than a look at each of them. */
  #isAscii(): boolean {
    if (this.#at - this.#bodyStart > 32) return false;
    for (let at = this.#bodyStart; at < this.#at; at += 1) if (this.#bytes[at]! > 0x7f) return false;
    return true;
  }

  #extension(size: number): TokenKind {
    const start = this.#at;
    this.#skip(1 + size, 'timestamp');
    if (this.#bytes[start] === TIMESTAMP && TIMESTAMP_SIZES.has(size)) return 'timestamp';
    throw malformed('extension types other than the timestamp (-1) are not carried', start);
  }
}

/** Reads the numbers of the tokens ca to d3. */
const NUMBERS: readonly ((view: DataView, at: number) => number | bigint)[] = [
  (view, at) => view.getFloat32(at),
  (view, at) => view.getFloat64(at),
  (view, at) => view.getUint8(at),
  (view, at) => view.getUint16(at),
  (view, at) => view.getUint32(at),
  (view, at) => view.getBigUint64(at),
  (view, at) => view.getInt8(at),
  (view, at) => view.getInt16(at),
  (view, at) => view.getInt32(at),
  (view, at) => view.getBigInt64(at),
];

function malformed(what: string, at: number): Problem {
  return new Problem('malformed', `not MessagePack: ${what}, at byte ${at}`);
}
