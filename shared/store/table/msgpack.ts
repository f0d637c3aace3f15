// MessagePack by msgpackr, and around it what msgpackr changes in silence: it writes -0 as 0, gives maps back as objects whatever their keys
// are, renames `__proto__`, and without its native part drops a byte order mark. Containers that hold such things are written and read here, and
// only they; leaves are always msgpackr's. FORMAT.md, "Values in MessagePack".
import { Packr } from 'msgpackr';
import { asBuffer } from '../format/bytes.ts';
import { endOfLeaf, extensionType, isArray, isExtension, isMap, isText, lengthAt, startOf } from './msgpack-tokens.ts';

// No shared structures: each value must be readable alone. A Buffer in a value must not alias a cached page.
const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false });

const MAP_32 = 0xdf;
const ARRAY_32 = 0xdd;
const NIL = Uint8Array.of(0xc0);
const NEGATIVE_ZERO = Uint8Array.of(0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
/** The first key of a map that stands for a Map or a Set: an empty byte string. Its value says which. */
const KIND = Uint8Array.of(0xc4, 0);

/** `isPlain` is what `isPlainlyCarried` says of it (carried.ts). */
export function packValue(value: unknown, isPlain: boolean): Uint8Array {
  // A view into the packer's buffer, which is never written to again: the bytes are copied into a page soon.
  if (isPlain) return packr.pack(value);
  const pieces: Uint8Array[] = [];
  write(value, pieces);
  return Buffer.concat(pieces);
}

function write(value: unknown, pieces: Uint8Array[]): void {
  if (Array.isArray(value)) {
    pieces.push(head(ARRAY_32, value.length));
    for (const item of value) write(item, pieces);
  } else if (value instanceof Map) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Map'));
    writePairs(value, pieces);
  } else if (value instanceof Set) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Set'));
    for (const member of value) {
      write(member, pieces);
      pieces.push(NIL);
    }
  } else if (isPlainObject(value)) {
    const pairs = Object.entries(value);
    pieces.push(head(MAP_32, pairs.length));
    writePairs(pairs, pieces);
  } else {
    pieces.push(Object.is(value, -0) ? NEGATIVE_ZERO : packr.pack(value));
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

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A map whose keys are all text is an object, any other a Map, unless its first pair says what it stands for. Throws if the bytes are not one value. */
export function unpackValue(stored: Uint8Array): unknown {
  const bytes = asBuffer(stored);
  if (skim(bytes, 0) !== NEEDS_CARE) return packr.unpack(bytes);
  const reader = new CarefulReader(bytes);
  const value = reader.read();
  if (reader.at !== bytes.length) throw new RangeError('the value ends elsewhere than its bytes');
  return value;
}

const NEEDS_CARE = -1;
/** Where what follows has a meaning of msgpackr's own: it reads, or refuses, the bytes as they are. */
const OUT_OF_SIGHT = Infinity;
/** Extensions of msgpackr that reach over what follows: bundled strings, ids and pointers, records. None is ever written here. */
const FAR_REACHING: ReadonlySet<number> = new Set([0x62, 0x69, 0x70, 0x72]);
/** Extensions of msgpackr that turn the value behind them into an Error, a Set or a RegExp: earlier releases wrote them. */
const PREFIXES: ReadonlySet<number> = new Set([0x65, 0x73, 0x78]);
const PREFIX_TOKEN = 0xd4;
const PREFIX_BYTES = 3;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const PROTO = Buffer.from('__proto__');

/** The offset behind the value at `at`; NEEDS_CARE if msgpackr would change something in it. Every read goes through it, so it makes few calls. */
function skim(bytes: Buffer, at: number): number {
  const token = bytes[at]!;
  if (isText(token)) return skimText(bytes, at, token);
  if (isMap(token)) return skimPairs(bytes, at);
  if (isArray(token)) return skimItems(bytes, at);
  if (isPrefix(bytes, at)) return skim(bytes, at + PREFIX_BYTES);
  if (isExtension(token) && FAR_REACHING.has(extensionType(bytes, at))) return OUT_OF_SIGHT;
  return endOfLeaf(bytes, at);
}

function skimItems(bytes: Buffer, from: number): number {
  const count = lengthAt(bytes, from);
  let at = startOf(bytes, from);
  for (let item = 0; item < count && at !== NEEDS_CARE && at < bytes.length; item += 1) at = skim(bytes, at);
  return at;
}

function skimPairs(bytes: Buffer, from: number): number {
  const count = lengthAt(bytes, from);
  let at = startOf(bytes, from);
  for (let pair = 0; pair < count && at < bytes.length; pair += 1) {
    const token = bytes[at]!;
    const value = isText(token) ? skimText(bytes, at, token) : NEEDS_CARE;
    at = value === NEEDS_CARE ? NEEDS_CARE : skim(bytes, value);
    if (at === NEEDS_CARE) return NEEDS_CARE;
  }
  return at;
}

function skimText(bytes: Buffer, at: number, token: number): number {
  const start = startOf(bytes, at);
  const end = start + (token < 0xc0 ? token & 0x1f : lengthAt(bytes, at));
  const first = bytes[start];
  const mayChange = first === PROTO[0] || first === BYTE_ORDER_MARK[0];
  return mayChange && isChanged(bytes.subarray(start, end)) ? NEEDS_CARE : end;
}

function isChanged(text: Buffer): boolean {
  return text.equals(PROTO) || text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
}

function isPrefix(bytes: Buffer, at: number): boolean {
  return bytes[at] === PREFIX_TOKEN && PREFIXES.has(bytes[at + 1]!);
}

class CarefulReader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(): unknown {
    const from = this.at;
    const token = this.#bytes[from];
    if (token === undefined) throw new RangeError('the value is cut short');
    if (isText(token)) return this.#text();
    if (isMap(token)) return this.#pairs();
    if (isArray(token)) return this.#items();
    if (isPrefix(this.#bytes, from)) {
      this.at += PREFIX_BYTES;
      this.read();
    } else this.at = endOfLeaf(this.#bytes, from);
    return packr.unpack(this.#bytes.subarray(from, this.at));
  }

  #text(): string {
    const start = startOf(this.#bytes, this.at);
    this.at = endOfLeaf(this.#bytes, this.at);
    return this.#bytes.toString('utf8', start, this.at);
  }

  /** Enters a container: its count, and the reader at its first item. */
  #enter(): number {
    const count = lengthAt(this.#bytes, this.at);
    this.at = startOf(this.#bytes, this.at);
    return count;
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    for (let left = this.#enter(); left > 0; left -= 1) items.push(this.read());
    return items;
  }

  #pairs(): unknown {
    const pairs = new Map<unknown, unknown>();
    for (let left = this.#enter(); left > 0; left -= 1) pairs.set(this.read(), this.read());
    const [first] = pairs.keys();
    const kind = first instanceof Uint8Array && first.length === 0 ? pairs.get(first) : undefined;
    if (kind === 'Map' || kind === 'Set') {
      pairs.delete(first);
      return kind === 'Map' ? pairs : new Set(pairs.keys());
    }
    const isObject = [...pairs.keys()].every((key) => typeof key === 'string');
    return isObject ? Object.fromEntries(pairs) : pairs;
  }
}
