// Reading MessagePack, in one pass. Containers, text and plain numbers are read here: msgpackr would give maps back as objects whatever their
// keys are, rename `__proto__`, and without its native part drop a byte order mark; and it takes twice as long. Extensions are msgpackr's.
import { asBuffer } from '../format/bytes.ts';
import { packr } from './msgpack.ts';
import {
  endOfLeaf,
  isArray,
  isExtension,
  isMap,
  isText,
  lengthAt,
  plainAt,
  startOf,
  textOf,
} from './msgpack-tokens.ts';

/** Extensions of msgpackr that reach over what follows: bundled strings, Errors, ids and pointers, records, Sets, RegExps. None is written here. */
const FAR_REACHING: ReadonlySet<number> = new Set([0x62, 0x65, 0x69, 0x70, 0x72, 0x73, 0x78]);

/** A map whose first keys are text and a later one is not: an object would not keep their order. */
const IS_MIXED = new RangeError('a key is no text');

/** A map whose keys are all text is an object, any other a Map, unless its first pair says what it stands for. Throws if the bytes are not one value. */
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

/** Short ASCII keys that were read before, by a sum of some of their bytes: values of a table have the same keys as a rule. A power of two. */
const KNOWN_KEYS = 1_024;
const knownKeys: string[] = Array.from({ length: KNOWN_KEYS }, () => '');

/** May go past the end without notice, but not come back: `left` is negative then. */
class ValueReader {
  readonly #bytes: Buffer;
  readonly #mayBeMixed: boolean;
  #at = 0;

  constructor(bytes: Buffer, mayBeMixed: boolean) {
    this.#bytes = bytes;
    this.#mayBeMixed = mayBeMixed;
  }

  /** Bytes behind what was read; negative past the end. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  read(): unknown {
    const token = this.#bytes[this.#at];
    if (token === undefined) throw new RangeError('the value is cut short');
    if (isText(token)) return this.#text(token);
    if (isMap(token)) return this.#mayBeMixed ? this.#pairs() : this.#object();
    if (isArray(token)) return this.#items();
    return this.#leaf(token);
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
    return plain === undefined ? packr.unpack(this.#bytes, { start: from, end: this.#at }) : plain;
  }

  /** Enters a container: its count, and the reader at its first item. */
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

  /** A map, taken for an object until a key is no text. */
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

  /** As `#text`. */
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
    // More than ASCII has fewer characters than bytes, but for what is no UTF-8: that becomes a character which is no byte.
    if (text.length === length) knownKeys[slot] = text;
    return text;
  }

  /** Whether the characters are the bytes at `start`. */
  #isAt(start: number, text: string): boolean {
    for (let index = 0; index < text.length; index += 1)
      if (this.#bytes[start + index] !== text.charCodeAt(index)) return false;
    return true;
  }

  /** An assignment would take this key for the prototype. */
  #readProto(object: object): void {
    const value = this.read();
    Object.defineProperty(object, '__proto__', { value, writable: true, enumerable: true, configurable: true });
  }

  /** A map with keys of any kind. */
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
