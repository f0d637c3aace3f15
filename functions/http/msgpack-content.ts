// Checks MessagePack from outside, because msgpackr accepts 0xc1, extensions of its own and broken
// UTF-8. All decoders agree on what passes here. Timestamps are the only extension.
import { isUtf8 } from 'node:buffer';
import { Packr } from 'msgpackr';
import { VALUE_DEPTH_MAX } from '../../shared/store/index.ts';
import {
  endOfLeaf,
  isArray,
  isBinary,
  isExtension,
  isMap,
  isText,
  lengthAt,
  plainAt,
  startOf,
  textOf,
} from '../../shared/store/table/msgpack-tokens.ts';
import { Problem } from './problem.ts';
import { tooDeep, ValueCount, type ValueKind, type ValueReader } from './body-reader.ts';

const UNUSED = 0xc1;
const FLOATS: ReadonlySet<number> = new Set([0xca, 0xcb]);
const TIMESTAMP = 0xff;
const TIMESTAMP_SIZES: ReadonlySet<number> = new Set([4, 8, 12]);

/** Reads 64-bit integers as bigints, so that none is rounded. */
const packr = new Packr({ useRecords: false });

/** Encodes plain values, Maps, bytes and Dates. */
export function encodeMsgpack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** The head of an array or map, which `count` items or members follow. */
export function msgpackHead(kind: 'array' | 'map', count: number): Uint8Array {
  const [short, long] = kind === 'array' ? [0x90, 0xdc] : [0x80, 0xde];
  if (count < 16) return Uint8Array.of(short | count);
  if (count < 0x1_0000) return Uint8Array.of(long, count >> 8, count);
  return Uint8Array.of(long + 1, count >> 24, count >> 16, count >> 8, count);
}

/** The values of an array or a map follow its token; every other token is a value itself. */
export type TokenKind = 'scalar' | 'float' | 'string' | 'binary' | 'timestamp' | 'array' | 'map';

/** Reads value by value, or token by token. */
export class MsgpackReader implements ValueReader {
  readonly #bytes: Buffer;
  readonly #values = new ValueCount();
  /** The beginning of the last token read, and of its text or bytes. */
  #start = 0;
  #bodyStart = 0;
  /** Behind the last token read. */
  #at = 0;
  /** Values that follow the last token read: an array's items, a map's names and values, else 0. */
  #count = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
  }

  get kind(): ValueKind {
    const token = this.#bytes[this.#at] ?? 0;
    if (isMap(token)) return 'map';
    if (isArray(token)) return 'array';
    return isText(token) ? 'string' : 'scalar';
  }

  items(read: () => void): void {
    if (this.next() !== 'array') throw malformed('an array is expected', this.#start);
    for (let left = this.#count; left > 0; left -= 1) read();
  }

  members(read: (name: string | undefined) => void): void {
    if (this.next() !== 'map') throw malformed('a map is expected', this.#start);
    for (let left = this.#count; left > 0; left -= 2) {
      const isNamed = this.kind === 'string';
      const name = isNamed ? (this.scalar() as string) : undefined;
      if (!isNamed) this.value();
      read(name);
    }
  }

  scalar(): unknown {
    const kind = this.next();
    if (kind === 'binary') return this.#bytes.subarray(this.#bodyStart, this.#at);
    if (kind === 'timestamp' || this.#count > 0) throw malformed('a plain value is expected', this.#start);
    return this.decoded();
  }

  value(): Uint8Array {
    const start = this.#at;
    /** How many values are still missing in each array and map around the next value. */
    const open: number[] = [];
    do {
      const kind = this.next();
      if (kind === 'array' || kind === 'map') {
        if (open.length === VALUE_DEPTH_MAX) throw tooDeep();
        open.push(this.#count + 1);
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
    const bytes = this.#bytes;
    this.#start = this.#at;
    this.#count = 0;
    if (this.#start >= bytes.length) throw malformed('the value ends too early', this.#start);
    const token = bytes[this.#start]!;
    if (token === UNUSED) throw malformed('the byte c1 is never used', this.#start);
    this.#bodyStart = startOf(bytes, this.#start);
    const hasItems = isArray(token) || isMap(token);
    this.#at = hasItems ? this.#bodyStart : endOfLeaf(bytes, this.#start);
    if (this.#at > bytes.length) throw malformed('the value ends too early', this.#start);
    if (!hasItems) return this.#leaf(token);
    const length = lengthAt(bytes, this.#start);
    this.#count = isMap(token) ? length * 2 : length;
    return isMap(token) ? 'map' : 'array';
  }

  /** The value of the last token, a scalar, float or string. Large integers are bigints. */
  decoded(): unknown {
    const plain = plainAt(this.#bytes, this.#start);
    return plain === undefined ? textOf(this.#bytes, this.#bodyStart, this.#at) : plain;
  }

  #leaf(token: number): TokenKind {
    if (isText(token)) return this.#string();
    if (isBinary(token)) return 'binary';
    if (isExtension(token)) return this.#extension();
    return FLOATS.has(token) ? 'float' : 'scalar';
  }

  #string(): TokenKind {
    if (isUtf8(this.#bytes.subarray(this.#bodyStart, this.#at))) return 'string';
    throw malformed('a string is not UTF-8', this.#bodyStart);
  }

  #extension(): TokenKind {
    const type = this.#bodyStart;
    if (this.#bytes[type] === TIMESTAMP && TIMESTAMP_SIZES.has(this.#at - type - 1)) return 'timestamp';
    throw malformed('extension types other than the timestamp (-1) are not carried', type);
  }
}

function malformed(what: string, at: number): Problem {
  return new Problem('malformed', `not MessagePack: ${what}, at byte ${at}`);
}
