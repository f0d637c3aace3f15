// Encodes and decodes values; the engine never does. Any handle can read a record by its codec tag.
import { types } from 'node:util';
import { StoreError, type StoreErrorDetails } from '../contract/errors.ts';
import type { CodecName, EncodedValue } from '../contract/options.ts';
import type { Entry } from '../contract/results.ts';
import { asBuffer, type Id64 } from '../format/bytes.ts';
import { RECORD_BYTES_MAX, type StoredRecord } from '../format/page-body.ts';
import { checkValue, Refusal } from './check-value.ts';
import { unpackValue } from './msgpack-reader.ts';
import { packValue } from './msgpack.ts';
import { versionOf } from './record-version.ts';

/** The tags of FORMAT.md. */
const TAG_NAMES = ['bytes', 'msgpack', 'json'] as const;

export interface ValueContext {
  readonly table: string;
  readonly codec: CodecName;
}

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
export function decodeEntry<V>(context: ValueContext, key: string, record: StoredRecord, incarnation: Id64): Entry<V> {
  const { table, codec } = context;
  const { version, expiresAtMs } = record;
  const value = decodeValue(codec, { tag: record.codec, bytes: record.value }, { table, key }) as V;
  return { key, value, version: versionOf({ incarnation, version }), expiresAtMs };
}

/** What a scan gives for a stored record: an entry, or the key alone. */
export type Give<T> = (record: StoredRecord, incarnation: Id64) => T;
