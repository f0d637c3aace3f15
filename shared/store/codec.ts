// Values at the edge: how a record's value becomes bytes and back. The engine below never decodes a value; the codec's tag is stored
// with the record, so any table handle reads any record.
import { Packr } from 'msgpackr';
import type { CodecName, EncodedValue } from './api.ts';
import { asBuffer } from './bytes.ts';
import { StoreError } from './errors.ts';

/** Largest value, encoded, together with its key. */
export const RECORD_BYTES_MAX = 512 * 1024;

/** The tags of FORMAT.md. */
const TAG_NAMES = ['bytes', 'msgpack', 'json'] as const;

export interface TaggedBytes {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

// No shared structures: each value must be readable alone. A Buffer in a value must not alias a cached page.
const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true });

const ENCODERS: Record<CodecName, (value: unknown) => TaggedBytes> = {
  msgpack: (value) => {
    assertCarried(value, checkMsgpack);
    // A view into the packer's buffer, which is never written to again: the bytes are copied into a page soon.
    return { tag: 1, bytes: packr.pack(value) };
  },
  json: (value) => {
    assertCarried(value, checkJson);
    return { tag: 2, bytes: Buffer.from(JSON.stringify(value), 'utf8') };
  },
  bytes: (value) => {
    if (!(value instanceof Uint8Array)) throw new TypeError('the codec "bytes" takes a Uint8Array');
    return { tag: 0, bytes: Uint8Array.prototype.slice.call(value) };
  },
  encoded: (value) => {
    const { codec, bytes } = value as EncodedValue;
    const tag = TAG_NAMES.indexOf(codec);
    if (tag < 0 || !(bytes instanceof Uint8Array)) throw new TypeError('the codec "encoded" takes {codec, bytes}');
    return { tag, bytes: Uint8Array.prototype.slice.call(bytes) };
  },
};

/** Encodes a value; throws `invalid` for what the codec cannot carry, `too_large` above 512 KiB with the key. */
export function encodeValue(codec: CodecName, value: unknown, place: { table: string; key: string }): TaggedBytes {
  let encoded: TaggedBytes;
  try {
    encoded = ENCODERS[codec](value);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : 'unknown reason';
    throw new StoreError('invalid', `the codec "${codec}" cannot carry the value: ${detail}`, { ...place, cause });
  }
  const bytes = encoded.bytes.length + Buffer.byteLength(place.key);
  if (bytes > RECORD_BYTES_MAX) {
    throw new StoreError(
      'too_large',
      `the record takes ${bytes} bytes encoded, at most ${RECORD_BYTES_MAX} are allowed`,
      place,
    );
  }
  return encoded;
}

/** Decodes by the stored tag; a handle of codec `encoded` gets the bytes as they are. Throws `corrupt` if they cannot be decoded. */
export function decodeValue(codec: CodecName, stored: TaggedBytes, place: { table: string; key: string }): unknown {
  const name = TAG_NAMES[stored.tag];
  try {
    if (name === undefined) throw new RangeError(`unknown codec tag ${stored.tag}`);
    // A copy: what the caller does to its value must not reach a cached page, nor a small value keep a large page alive.
    if (codec === 'encoded') return { codec: name, bytes: new Uint8Array(stored.bytes) };
    if (name === 'bytes') return new Uint8Array(stored.bytes);
    return name === 'msgpack' ? packr.unpack(stored.bytes) : JSON.parse(asBuffer(stored.bytes).toString('utf8'));
  } catch (cause) {
    throw new StoreError('corrupt', 'the stored value cannot be decoded', { ...place, cause });
  }
}

/** Throws a TypeError for what would be lost in silence or never end. `check` judges each value on the way; `undefined` is judged by it too, save at the top. */
function assertCarried(value: unknown, check: Check): void {
  if (value === undefined) throw new TypeError('undefined cannot be stored');
  visit(value, [], check);
}

type Check = (value: unknown, above: unknown) => void;

function visit(value: unknown, above: object[], check: Check): void {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`a ${typeof value} cannot be stored`);
  check(value, above.at(-1));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (above.includes(value)) throw new TypeError('the value contains itself');
  above.push(value);
  if (value instanceof Map) for (const [key, inner] of value) visitBoth(key, inner, above, check);
  else if (value instanceof Set) for (const inner of value) visit(inner, above, check);
  else for (const key of Object.keys(value)) visitBoth(key, (value as Record<string, unknown>)[key], above, check);
  above.pop();
}

function visitBoth(key: unknown, value: unknown, above: object[], check: Check): void {
  visit(key, above, check);
  visit(value, above, check);
}

/** MessagePack writes UTF-8, in which lone surrogates are all the same. */
function checkMsgpack(value: unknown): void {
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('a string holds a lone surrogate');
  if (value instanceof Promise) throw new TypeError('a promise cannot be stored: await it');
}

/** What JSON would turn into something else: it carries null, truth values, finite numbers, strings, arrays and plain objects. */
function checkJson(value: unknown, above: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`);
  if (typeof value === 'bigint') throw new TypeError('JSON has no bigint');
  if (value === undefined && Array.isArray(above)) throw new TypeError('JSON has no undefined in arrays');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw new TypeError(`JSON would not give back a ${value.constructor?.name ?? 'value of a class'}`);
}
