// Reads MessagePack in one pass (DECISIONS.md, 31). msgpackr, which decodes the extensions here,
// would turn all maps into objects, rename `__proto__`, and without its native part drop byte order
// marks.
import { asBuffer } from '../format/bytes.ts';
import { packr } from './msgpack.ts';
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
