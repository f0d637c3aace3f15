// MessagePack (FORMAT.md, "Values in MessagePack"). msgpackr writes most values; but it loses -0,
// Maps and Sets, and takes dates and bytes of another realm for plain objects. Values are read in
// one pass (DECISIONS.md, 31) in which msgpackr decodes the extensions: it would turn all maps into
// objects, rename `__proto__`, and without its native part drop byte order marks.
import { types } from 'node:util';
import { Packr } from 'msgpackr';
import { asBuffer } from '../format/bytes.ts';
import {
  dateAt,
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
} from './msgpack-tokens.ts';

/** Without shared structures, so that each value can be read alone; bytes are copied out. */
const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false });

// A larger block than the packer's own 8 KiB, as it leaves 2 KiB of each unused.
packr.useBuffer(Buffer.allocUnsafeSlow(32 * 1024));

const BIN_32 = 0xc6;
const EXTENSION_32 = 0xc9;
const MAP_32 = 0xdf;
const ARRAY_32 = 0xdd;
const NIL = Uint8Array.of(0xc0);
const NEGATIVE_ZERO = Uint8Array.of(0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
/** The first key of a map that stands for a Map or a Set; its value tells which. */
const KIND = Uint8Array.of(0xc4, 0);

/** The extension for bytes that are no Buffer, and each class's number in it. */
const BINARY = 0x74;
const INTEGERS = 'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array';
const WIDE = 'Float32Array Float64Array BigInt64Array BigUint64Array';
const BINARY_CLASSES = `${INTEGERS} ${WIDE} - - - - - ArrayBuffer DataView`.split(' ');

// oxlint-disable-next-line no-restricted-globals -- takes no time from it
const CLASSES = [Date, ArrayBuffer, Object.getPrototypeOf(Uint8Array) as typeof Uint8Array, DataView];

/** Whether msgpackr recognises a date or bytes, as it does unless they are of another realm. */
export function isKnownToPackr(value: object): boolean {
  return CLASSES.some((known) => value instanceof known);
}

/** `isPlain`: whether msgpackr may write the value, as `checkValue` says. */
export function packValue(value: unknown, isPlain: boolean): Uint8Array {
  // The result is a view of the packer's buffer, which the packer does not overwrite.
  if (isPlain) return packr.pack(value);
  const pieces: Uint8Array[] = [];
  write(value, pieces);
  return Buffer.concat(pieces);
}

function write(value: unknown, pieces: Uint8Array[]): void {
  if (typeof value !== 'object' || value === null) {
    pieces.push(Object.is(value, -0) ? NEGATIVE_ZERO : packr.pack(value));
  } else if (Array.isArray(value)) {
    pieces.push(head(ARRAY_32, value.length));
    for (const item of value) write(item, pieces);
  } else if (types.isMap(value)) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Map'));
    writePairs(value, pieces);
  } else if (types.isSet(value)) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Set'));
    for (const member of value) {
      write(member, pieces);
      pieces.push(NIL);
    }
  } else if (Buffer.isBuffer(value)) {
    pieces.push(head(BIN_32, value.length), value);
  } else if (ArrayBuffer.isView(value) || types.isArrayBuffer(value)) {
    const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(value) ? value : new Uint8Array(value);
    const number = BINARY_CLASSES.indexOf(Object.prototype.toString.call(value).slice('[object '.length, -1));
    pieces.push(head(EXTENSION_32, byteLength + 1), Uint8Array.of(BINARY, number));
    pieces.push(new Uint8Array(buffer, byteOffset, byteLength));
  } else if (types.isDate(value)) {
    // oxlint-disable-next-line no-restricted-globals -- takes no time from it
    pieces.push(packr.pack(new Date(value)));
  } else {
    const pairs = Object.entries(value);
    pieces.push(head(MAP_32, pairs.length));
    writePairs(pairs, pieces);
  }
}

function writePairs(pairs: Iterable<readonly [unknown, unknown]>, pieces: Uint8Array[]): void {
  for (const [key, value] of pairs) {
    write(key, pieces);
    write(value, pieces);
  }
}

function head(token: number, count: number): Uint8Array {
  const bytes = Buffer.alloc(5, token);
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

/** Extensions of msgpackr that change how later bytes are read. The store writes none of them. */
const FAR_REACHING: ReadonlySet<number> = new Set([0x62, 0x65, 0x69, 0x70, 0x72, 0x73, 0x78]);

/** Thrown at a key that is no text after text keys, as an object would not keep their order. */
const IS_MIXED = new RangeError('a key is no text');

/**
 * A map with text keys becomes an object, another a Map or Set. Throws unless there is one value.
 */
export function unpackValue(stored: Uint8Array): unknown {
  const bytes = asBuffer(stored);
  try {
    return readWhole(new ValueReader(bytes, false));
  } catch (error) {
    if (error === IS_MIXED) return readWhole(new ValueReader(bytes, true));
    throw error;
  }
}

function readWhole(reader: ValueReader): unknown {
  const value = reader.read();
  if (reader.left !== 0) throw new RangeError('the value ends elsewhere than its bytes');
  return value;
}

/** How many keys are remembered, as the values of a table share theirs. A power of two. */
const KNOWN_KEYS = 1_024;
const knownKeys: string[] = Array.from({ length: KNOWN_KEYS }, () => '');

/** It may read past the end; `left` is then negative, and `readWhole` refuses the value. */
class ValueReader {
  readonly #bytes: Buffer;
  readonly #mayBeMixed: boolean;
  #at = 0;

  constructor(bytes: Buffer, mayBeMixed: boolean) {
    this.#bytes = bytes;
    this.#mayBeMixed = mayBeMixed;
  }

  /** The bytes that are left; negative past the end. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  read(): unknown {
    const token = this.#bytes[this.#at];
    if (token === undefined) throw new RangeError('the value is cut short');
    if (isText(token)) return this.#text(token);
    if (isMap(token)) return this.#mayBeMixed ? this.#pairs() : this.#object();
    if (isArray(token)) return this.#items();
    return isBinary(token) ? this.#binary() : this.#leaf(token);
  }

  /** A copy, which the caller may change. */
  #binary(): Uint8Array {
    const start = startOf(this.#bytes, this.#at);
    this.#at = endOfLeaf(this.#bytes, this.#at);
    return Uint8Array.prototype.slice.call(this.#bytes, start, this.#at);
  }

  #text(token: number): string {
    const from = this.#at;
    const start = startOf(this.#bytes, from);
    this.#at = start + (token < 0xc0 ? token & 0x1f : lengthAt(this.#bytes, from));
    return textOf(this.#bytes, start, this.#at);
  }

  #leaf(token: number): unknown {
    const from = this.#at;
    if (isExtension(token) && FAR_REACHING.has(this.#bytes[startOf(this.#bytes, from)]!))
      throw new RangeError('an extension reaches over what follows');
    this.#at = endOfLeaf(this.#bytes, from);
    const plain = plainAt(this.#bytes, from);
    if (plain !== undefined) return plain;
    return dateAt(this.#bytes, from) ?? packr.unpack(this.#bytes, { start: from, end: this.#at });
  }

  /** Moves to the first item of an array or a map, and returns their number. */
  #enter(): number {
    const count = lengthAt(this.#bytes, this.#at);
    this.#at = startOf(this.#bytes, this.#at);
    return count;
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    for (let left = this.#enter(); left > 0; left -= 1) items.push(this.read());
    return items;
  }

  /** Reads a map as an object until a key is no text. */
  #object(): unknown {
    const from = this.#at;
    const object: Record<string, unknown> = {};
    const count = this.#enter();
    for (let index = 0; index < count; index += 1) {
      const token = this.#bytes[this.#at]!;
      if (!isText(token)) {
        if (index > 0) throw IS_MIXED;
        this.#at = from;
        return this.#pairs();
      }
      const key = this.#key(token);
      if (key === '__proto__') this.#readProto(object);
      else object[key] = this.read();
    }
    return object;
  }

  /** As `#text`, but reuses the string of an equal key, which V8 already knows as a name. */
  #key(token: number): string {
    const length = token & 0x1f;
    if (token >= 0xc0 || length === 0) return this.#text(token);
    const bytes = this.#bytes;
    const start = this.#at + 1;
    const sum = length + 5 * bytes[start]! + 17 * bytes[start + length - 1]! + 31 * bytes[start + (length >> 1)]!;
    const slot = sum & (KNOWN_KEYS - 1);
    const known = knownKeys[slot]!;
    if (known.length === length && this.#isAt(start, known)) {
      this.#at = start + length;
      return known;
    }
    const text = this.#text(token);
    // Equal lengths mean ASCII, or broken UTF-8, which decodes to U+FFFD and never equals a byte.
    if (text.length === length) knownKeys[slot] = text;
    return text;
  }

  #isAt(start: number, text: string): boolean {
    for (let index = 0; index < text.length; index += 1)
      if (this.#bytes[start + index] !== text.charCodeAt(index)) return false;
    return true;
  }

  /** Defines the key, since an assignment would set the prototype. */
  #readProto(object: object): void {
    const value = this.read();
    Object.defineProperty(object, '__proto__', { value, writable: true, enumerable: true, configurable: true });
  }

  /** Reads a map with keys of any kind. */
  #pairs(): unknown {
    let left = this.#enter();
    const pairs = new Map<unknown, unknown>();
    let isObject = true;
    if (left > 0 && isBinary(this.#bytes[this.#at]!) && lengthAt(this.#bytes, this.#at) === 0) {
      this.#at = startOf(this.#bytes, this.#at);
      const kind = this.read();
      left -= 1;
      if (kind === 'Set') return this.#members(left);
      if (kind !== 'Map') pairs.set(Buffer.alloc(0), kind);
      isObject = false;
    }
    for (; left > 0; left -= 1) {
      const key = this.read();
      isObject &&= typeof key === 'string';
      pairs.set(key, this.read());
    }
    return isObject ? Object.fromEntries(pairs) : pairs;
  }

  /** Reads the members of a Set, which are the keys of its pairs. */
  #members(count: number): Set<unknown> {
    const members = new Set<unknown>();
    for (let left = count; left > 0; left -= 1) {
      members.add(this.read());
      this.read();
    }
    return members;
  }
}
