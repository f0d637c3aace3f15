// Encodes and decodes values; the engine never does. Any handle can read a record by its codec tag.
// Before it encodes it checks that a value will come back the same. A getter counts as its value.
// Objects may be of another realm, as Jest and `vm` make them.
import { types } from 'node:util';
import { StoreError, type StoreErrorDetails } from '../contract/errors.ts';
import type { CodecName, EncodedValue } from '../contract/options.ts';
import type { Entry } from '../contract/results.ts';
import { asBuffer, type Id64 } from '../format/bytes.ts';
import type { StoredRecord } from '../format/page-body.ts';
import { isKnownToPackr, packValue, unpackValue } from './msgpack.ts';
import type { TableContext } from './table-context.ts';

/** The most bytes of a key and its encoded value, which fit every provider's entity. */
export const RECORD_BYTES_MAX = 512 * 1024;

/** The most levels of arrays, objects, Maps and Sets, few enough for any recursive reader. */
export const VALUE_DEPTH_MAX = 100;

/** The tags of FORMAT.md. */
const TAG_NAMES = ['bytes', 'msgpack', 'json'] as const;

export interface TaggedBytes {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

/** Which record an error is about. */
type Place = Pick<StoreErrorDetails, 'table' | 'key'>;

const ENCODERS: Record<CodecName, (value: unknown) => TaggedBytes> = {
  msgpack: (value) => ({ tag: 1, bytes: packValue(value, checkValue(value, 'msgpack').isPlain) }),
  json: (value) => ({ tag: 2, bytes: Buffer.from(jsonOf(value, checkValue(value, 'json').isPlain), 'utf8') }),
  bytes: (value) => {
    if (!types.isUint8Array(value)) throw new TypeError('it takes a Uint8Array');
    return { tag: 0, bytes: Uint8Array.prototype.slice.call(value) };
  },
  encoded: (value) => {
    const { codec, bytes } = value as EncodedValue;
    const tag = TAG_NAMES.indexOf(codec);
    if (tag < 0 || !types.isUint8Array(bytes)) throw new TypeError('it takes {codec, bytes}');
    return { tag, bytes: Uint8Array.prototype.slice.call(bytes) };
  },
};

/** JSON has -0, but JSON.stringify writes 0. TypeScript's library lacks JSON.rawJSON. */
function jsonOf(value: unknown, isPlain: boolean): string {
  if (isPlain) return JSON.stringify(value);
  const negativeZero = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('-0');
  return JSON.stringify(value, (_, inner: unknown) => (Object.is(inner, -0) ? negativeZero : inner));
}

/** Throws `invalid` for a value that the codec cannot store, `too_large` above 512 KiB. */
export function encodeValue(codec: CodecName, value: unknown, where: Place): TaggedBytes {
  let encoded: TaggedBytes;
  try {
    encoded = ENCODERS[codec](value);
  } catch (cause) {
    const detail = types.isNativeError(cause) ? cause.message : 'unknown reason';
    const path = cause instanceof Refusal ? cause.path : 'value';
    throw new StoreError('invalid', `the codec "${codec}" cannot carry ${path}: ${detail}`, { ...where, cause });
  }
  const bytes = encoded.bytes.length + Buffer.byteLength(where.key ?? '');
  if (bytes <= RECORD_BYTES_MAX) return encoded;
  const message = `the record takes ${bytes} bytes encoded, at most ${RECORD_BYTES_MAX} are allowed`;
  throw new StoreError('too_large', message, where);
}

/** Decodes by the stored tag; codec `encoded` gives the bytes as they are. Throws `corrupt`. */
export function decodeValue(codec: CodecName, stored: TaggedBytes, where: Place): unknown {
  const name = TAG_NAMES[stored.tag];
  try {
    if (name === undefined) throw new RangeError(`unknown codec tag ${stored.tag}`);
    // A copy: the caller may change it, and it must not keep a large page alive.
    if (codec === 'encoded') return { codec: name, bytes: new Uint8Array(stored.bytes) };
    if (name === 'bytes') return new Uint8Array(stored.bytes);
    return name === 'msgpack' ? unpackValue(stored.bytes) : JSON.parse(asBuffer(stored.bytes).toString('utf8'));
  } catch (cause) {
    throw new StoreError('corrupt', 'the stored value cannot be decoded', { ...where, cause });
  }
}

const NOWHERE: Place = {};

/**
 * A value in its stored form, for callers that move records. Throws a StoreError: `invalid` if the
 * codec cannot carry it, `too_large` above 512 KiB.
 */
export function encode(codec: EncodedValue['codec'], value: unknown): EncodedValue {
  return { codec, bytes: encodeValue(codec, value, NOWHERE).bytes };
}

/**
 * The value that was encoded. Throws a StoreError: `corrupt` if the bytes are not of this codec,
 * `too_large` above 512 KiB.
 */
export function decode({ codec, bytes }: EncodedValue): unknown {
  return decodeValue(codec, encodeValue('encoded', { codec, bytes }, NOWHERE), NOWHERE);
}

/** The record as users see it. Throws `corrupt` if its value cannot be decoded. */
export function decodeEntry<V>(context: TableContext, key: string, record: StoredRecord, incarnation: Id64): Entry<V> {
  const { codec, engine } = context;
  const { version, expiresAtMs } = record;
  const value = decodeValue(codec, { tag: record.codec, bytes: record.value }, { table: engine.table, key }) as V;
  return { key, value, version: versionOf({ incarnation, version }), expiresAtMs };
}

/** A record's version as users see it. It never returns for the same key. */
export function versionOf({ incarnation, version }: { readonly incarnation: Id64; readonly version: number }): string {
  return `${incarnation}-${version.toString(36)}`;
}

type CheckedCodec = 'msgpack' | 'json';

/** Bounds the message of an error, as keys may be long and levels many. */
export const PATH_CHARS_MAX = 200;

/** With our options msgpackr writes the size of an object in two bytes. */
const MSGPACKR_KEYS_MAX = 0xffff;

/** Why a value cannot be stored, and where in it: `value.items[3].when`. */
class Refusal extends TypeError {
  readonly path: string;

  constructor(parent: Parent | undefined, cause: unknown) {
    super(types.isNativeError(cause) ? cause.message : 'it threw', { cause });
    this.path = pathOf(parent).slice(0, PATH_CHARS_MAX);
  }
}

/**
 * Throws a Refusal if the value would not come back the same. `isPlain`: msgpackr may write it, as
 * it holds no Map, Set or -0, no very large object, and no date or bytes of another realm.
 */
function checkValue(value: unknown, codec: CheckedCodec): { readonly isPlain: boolean } {
  const visitor = new Visitor(codec);
  try {
    if (value === undefined) throw new TypeError('undefined is no value: delete the record, or put null');
    visitor.visit(value);
  } catch (cause) {
    throw new Refusal(visitor.parent, cause);
  }
  return visitor;
}

const INTEGERS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array];
const WIDE = [Float32Array, Float64Array, BigInt64Array, BigUint64Array];
const BINARY = new Set<unknown>([Buffer, ...INTEGERS, ...WIDE].map(({ prototype }) => prototype as unknown));

// oxlint-disable-next-line no-restricted-globals -- takes no time from it
const DATE: object = Date.prototype;

/** Built-in classes whose own properties would be lost. */
const BARE = new Set<unknown>([Map.prototype, Set.prototype, DATE, ArrayBuffer.prototype, DataView.prototype]);

/** Prototypes by the text of their constructors, which is the same in every realm. */
const BUILT_IN = new Map<string, unknown>(
  [Object, Array, Map, Set, ArrayBuffer, DataView, ...INTEGERS, ...WIDE].map((made) => [
    Function.prototype.toString.call(made),
    made.prototype,
  ]),
);
// oxlint-disable-next-line no-restricted-globals -- takes no time from it
BUILT_IN.set(Function.prototype.toString.call(Date), DATE);

/** The objects around a value, the innermost first; a list, as most values have only one. */
interface Parent {
  readonly object: object;
  readonly depth: number;
  readonly above: Parent | undefined;
  /** The property or index that is visited; in a Map twice the index, plus one for the value. */
  at: string | number;
}

class Visitor {
  readonly #isJson: boolean;
  isPlain = true;
  /** Undefined while the whole value is visited. */
  parent: Parent | undefined;

  constructor(codec: CheckedCodec) {
    this.#isJson = codec === 'json';
  }

  visit(value: unknown): void {
    if (typeof value === 'string') return this.#checkText(value);
    if (typeof value === 'number') return this.#checkNumber(value);
    if (typeof value === 'object') return value === null ? undefined : this.#visitObject(value);
    if (typeof value === 'function' || typeof value === 'symbol')
      throw new TypeError(`a ${typeof value} cannot be stored: leave it out`);
    if (!this.#isJson || typeof value === 'boolean') return;
    if (value === undefined) throw new TypeError('JSON has no undefined: leave the property out, or put null');
    throw new TypeError('JSON has no bigint: put its text');
  }

  /** In UTF-8 all lone surrogates would become the same; JSON escapes them. */
  #checkText(value: string): void {
    if (!this.#isJson && !value.isWellFormed())
      throw new TypeError('a string holds a lone surrogate: mend it with toWellFormed()');
  }

  #checkNumber(value: number): void {
    if (value === 0 && Object.is(value, -0)) this.isPlain = false;
    if (this.#isJson && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}: put null, or its text`);
  }

  #visitObject(value: object): void {
    const prototype = this.#prototypeOf(value);
    const parent = entered(value, this.parent);
    if (prototype === Object.prototype || prototype === null) this.#visitProperties(value, parent);
    else if (prototype === Array.prototype && Array.isArray(value)) this.#visitItems(value, parent);
    else if (types.isPromise(value)) throw new TypeError('a promise cannot be stored: await it');
    else if (this.#isJson) throw new TypeError(`JSON would not give back ${named(value)}: put what it holds`);
    else this.#visitBuiltIn(value, prototype, parent);
    this.parent = parent.above;
  }

  /** The prototype; for a built-in class of another realm, this realm's. */
  #prototypeOf(value: object): unknown {
    const prototype = Object.getPrototypeOf(value) as { readonly constructor?: unknown } | null;
    if (prototype === null || value instanceof Object) return prototype;
    const { constructor } = prototype;
    if (typeof constructor !== 'function' || constructor.prototype !== prototype) return prototype;
    return BUILT_IN.get(Function.prototype.toString.call(constructor)) ?? prototype;
  }

  #visitProperties(value: object, parent: Parent): void {
    const keys = Object.keys(value);
    if (countOwn(value) !== keys.length)
      throw new TypeError('symbols as keys, and properties that are not enumerable, would be lost: leave them out');
    if (keys.length > MSGPACKR_KEYS_MAX) this.isPlain = false;
    this.parent = parent;
    for (const key of keys) {
      parent.at = key;
      this.#checkText(key);
      this.visit((value as Record<string, unknown>)[key]);
    }
  }

  #visitItems(value: readonly unknown[], parent: Parent): void {
    // An array without holes or properties has its indexes as keys, and `length`, not enumerable.
    const keys = Object.keys(value);
    const isWhole = keys.length === value.length && (keys.length === 0 || keys.at(-1) === `${value.length - 1}`);
    if (!isWhole || countOwn(value) !== keys.length + 1)
      throw new TypeError(
        'an array with holes, or with properties of its own, would come back without: fill, or copy it',
      );
    this.parent = parent;
    for (let index = 0; index < value.length; index += 1) {
      parent.at = index;
      this.visit(value[index]);
    }
  }

  #visitBuiltIn(value: object, prototype: unknown, parent: Parent): void {
    if (!isKnownToPackr(value)) this.isPlain = false;
    if (BINARY.has(prototype)) return;
    if (!BARE.has(prototype)) throw new TypeError(`${named(value)} would not come back as one: put what it holds`);
    if (countOwn(value) > 0)
      throw new TypeError(`the properties added to ${named(value)} would be lost: put them beside it`);
    if (prototype === Map.prototype) this.#visitMembers([...(value as Map<unknown, unknown>)].flat(), parent);
    else if (prototype === Set.prototype) this.#visitMembers([...(value as Set<unknown>)], parent);
    else if (prototype === DATE && Number.isNaN((value as Date).getTime()))
      throw new TypeError('an invalid Date cannot be stored: put null');
    else if (prototype === ArrayBuffer.prototype && (value as ArrayBuffer).resizable)
      throw new TypeError('a resizable ArrayBuffer cannot be stored: put a slice');
  }

  #visitMembers(members: readonly unknown[], parent: Parent): void {
    this.isPlain = false;
    this.parent = parent;
    for (const [index, member] of members.entries()) {
      parent.at = index;
      this.visit(member);
    }
  }
}

function entered(object: object, above: Parent | undefined): Parent {
  for (let outer = above; outer !== undefined; outer = outer.above) {
    if (outer.object === object) throw new TypeError('the value contains itself: cut the cycle');
  }
  const depth = above === undefined ? 1 : above.depth + 1;
  if (depth > VALUE_DEPTH_MAX)
    throw new TypeError(`it is nested deeper than ${VALUE_DEPTH_MAX} levels: make it flatter`);
  return { object, depth, above, at: 0 };
}

/** The path to a value, as JavaScript. */
function pathOf(parent: Parent | undefined): string {
  if (parent === undefined) return 'value';
  const { object, at, above } = parent;
  const outer = pathOf(above);
  if (types.isMap(object) && typeof at === 'number') return `[...${outer}][${Math.floor(at / 2)}][${at % 2}]`;
  return (types.isSet(object) ? `[...${outer}]` : outer) + pathStep(at);
}

/** One step of a path, as JavaScript. */
export function pathStep(at: PropertyKey): string {
  if (typeof at !== 'string') return `[${String(at)}]`;
  return /^[a-z_$][\w$]*$/i.test(at) ? `.${at}` : `[${JSON.stringify(at)}]`;
}

/** It takes a third of the time of `Reflect.ownKeys`. */
function countOwn(value: object): number {
  return Object.getOwnPropertyNames(value).length + Object.getOwnPropertySymbols(value).length;
}

function named(value: object): string {
  const { constructor }: { constructor?: unknown } = value;
  return `an instance of ${typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'}`;
}
