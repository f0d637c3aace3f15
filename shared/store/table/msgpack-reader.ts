// Reads MessagePack. Text, numbers, arrays and maps are read here: that takes half of msgpackr's time for a record of some texts, and msgpackr gives
// maps back as objects whatever their keys are, renames `__proto__`, and drops a byte order mark. All else is msgpackr's.
import {
  endOfLeaf,
  extensionType,
  isArray,
  isExtension,
  isMap,
  isText,
  lengthAt,
  startOf,
  textBytesAt,
} from './msgpack-tokens.ts';

const NIL = 0xc0;
const FALSE = 0xc2;
const TRUE = 0xc3;
/** Tokens below are small numbers, those from the second on small negative ones: -1 is the last. */
const POSITIVE_END = 0x80;
const NEGATIVE_BEGIN = 0xe0;

/** Numbers. Integers of 64 bits are bigints, and msgpackr's. */
const FLOAT_64 = 0xcb;
const UINT_8 = 0xcc;
const UINT_16 = 0xcd;
const UINT_32 = 0xce;
const INT_8 = 0xd0;
const INT_16 = 0xd1;
const INT_32 = 0xd2;

/** Extensions of msgpackr that reach over what follows: bundled strings, ids and pointers, records. None is ever written here. */
const FAR_REACHING: ReadonlySet<number> = new Set([0x62, 0x69, 0x70, 0x72]);
/** Extensions of msgpackr that turn the value behind them into an Error, a Set or a RegExp: earlier releases wrote them. */
const PREFIXES: ReadonlySet<number> = new Set([0x65, 0x73, 0x78]);
const PREFIX_TOKEN = 0xd4;
const PREFIX_BYTES = 3;

/** Longer text is decoded by Node, which takes longer to begin. */
const SHORT_BYTES_MAX = 8;

/** What the bytes say has a meaning of msgpackr's own: it reads, or refuses, them as a whole. */
export class ForeignValueError extends Error {}

/** Keys repeat from record to record. Those that were read last, each at a place that its bytes give. */
const KEYS_KEPT = 256;
const KEY_BYTES_MAX = 32;
const keys: string[] = Array.from({ length: KEYS_KEPT }, () => '');

export class ValueReader {
  readonly #bytes: Buffer;
  readonly #readLeaf: (bytes: Buffer) => unknown;
  #at = 0;

  /** `readLeaf` reads what is neither text, nor a common number, nor an array or a map. */
  constructor(bytes: Buffer, readLeaf: (bytes: Buffer) => unknown) {
    this.#bytes = bytes;
    this.#readLeaf = readLeaf;
  }

  /** Throws a ForeignValueError, or another error if the bytes are not one value. */
  whole(): unknown {
    const value = this.#read();
    if (this.#at !== this.#bytes.length) throw new RangeError('the value ends elsewhere than its bytes');
    return value;
  }

  #read(): unknown {
    const token = this.#bytes[this.#at];
    if (token === undefined) throw new RangeError('the value is cut short');
    if (isText(token)) return this.#text();
    if (token < POSITIVE_END) return this.#single(token);
    if (token >= NEGATIVE_BEGIN) return this.#single(token - 0x100);
    if (isMap(token)) return this.#object();
    if (isArray(token)) return this.#items();
    switch (token) {
      case NIL:
        return this.#single(null);
      case FALSE:
        return this.#single(false);
      case TRUE:
        return this.#single(true);
      case FLOAT_64:
        return this.#bytes.readDoubleBE(this.#skip(8));
      case UINT_8:
        return this.#bytes.readUInt8(this.#skip(1));
      case UINT_16:
        return this.#bytes.readUInt16BE(this.#skip(2));
      case UINT_32:
        return this.#bytes.readUInt32BE(this.#skip(4));
      case INT_8:
        return this.#bytes.readInt8(this.#skip(1));
      case INT_16:
        return this.#bytes.readInt16BE(this.#skip(2));
      case INT_32:
        return this.#bytes.readInt32BE(this.#skip(4));
      default:
        return this.#leaf(token);
    }
  }

  /** The value of a token that has nothing behind it. */
  #single<T>(value: T): T {
    this.#at += 1;
    return value;
  }

  /** Past a token with so many bytes behind it; gives where those begin. */
  #skip(bytes: number): number {
    const start = this.#at + 1;
    this.#at = start + bytes;
    return start;
  }

  #leaf(token: number): unknown {
    const from = this.#at;
    if (isExtension(token)) {
      const type = extensionType(this.#bytes, from);
      if (FAR_REACHING.has(type)) throw new ForeignValueError();
      if (token === PREFIX_TOKEN && PREFIXES.has(type)) {
        this.#at += PREFIX_BYTES;
        this.#read();
        return this.#readLeaf(this.#bytes.subarray(from, this.#at));
      }
    }
    this.#at = endOfLeaf(this.#bytes, from);
    return this.#readLeaf(this.#bytes.subarray(from, this.#at));
  }

  /** What is cut short is noticed by whoever reads on, or at the end. */
  #text(): string {
    const start = startOf(this.#bytes, this.#at);
    const end = start + textBytesAt(this.#bytes, this.#at);
    this.#at = end;
    const short = end - start <= SHORT_BYTES_MAX ? asciiAt(this.#bytes, start, end) : undefined;
    return short ?? this.#bytes.toString('utf8', start, end);
  }

  /** Enters a container: its count, and the reader at its first item. */
  #enter(): number {
    const count = lengthAt(this.#bytes, this.#at);
    this.#at = startOf(this.#bytes, this.#at);
    return count;
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    for (let left = this.#enter(); left > 0; left -= 1) items.push(this.#read());
    return items;
  }

  #object(): unknown {
    const from = this.#at;
    const object: Record<string, unknown> = {};
    for (let left = this.#enter(); left > 0; left -= 1) {
      const token = this.#bytes[this.#at];
      if (token === undefined || !isText(token)) {
        this.#at = from;
        return this.#map();
      }
      const key = this.#key();
      if (key === '__proto__') define(object, key, this.#read());
      else object[key] = this.#read();
    }
    return object;
  }

  /** A map of which not all keys are text. */
  #map(): unknown {
    const pairs = new Map<unknown, unknown>();
    for (let left = this.#enter(); left > 0; left -= 1) pairs.set(this.#read(), this.#read());
    const [first] = pairs.keys();
    const kind = first instanceof Uint8Array && first.length === 0 ? pairs.get(first) : undefined;
    if (kind !== 'Map' && kind !== 'Set') return pairs;
    pairs.delete(first);
    return kind === 'Map' ? pairs : new Set(pairs.keys());
  }

  #key(): string {
    const bytes = this.#bytes;
    const start = startOf(bytes, this.#at);
    const length = textBytesAt(bytes, this.#at);
    if (length > KEY_BYTES_MAX) return this.#text();
    let place = length;
    for (let index = start; index < start + length; index += 1) place = (place * 31 + bytes[index]!) % KEYS_KEPT;
    const kept = keys[place]!;
    if (isKeyAt(bytes, start, length, kept)) {
      this.#at = start + length;
      return kept;
    }
    return (keys[place] = this.#text());
  }
}

/** Whether the bytes are this key; false for one that is not ASCII. */
function isKeyAt(bytes: Buffer, start: number, length: number, key: string): boolean {
  if (key.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    if (key.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}

/** Undefined for what is more than ASCII. */
function asciiAt(bytes: Buffer, start: number, end: number): string | undefined {
  let text = '';
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index]!;
    // Beyond the end there is none.
    if (!(byte < 0x80)) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** A property of its own, whatever its name means to JavaScript. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}
