// A record as a line of NDJSON, byte for byte: readable as `value` if JSON gives the same bytes
// back, else as `data` in base64.
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { decode, encode, type EncodedValue, type Entry, type PutItem } from '../../../shared/store/index.ts';
import { checkExact } from '../../../functions/http/json-text.ts';

/** The codec of a line that names none. */
const USUAL_CODEC = 'msgpack';

const line = z
  .strictObject({
    key: z.string(),
    codec: z.enum(['msgpack', 'json', 'bytes']).default(USUAL_CODEC),
    value: z.unknown().optional(),
    data: z.base64().optional(),
    expiresAtMs: z.int().optional(),
  })
  .refine((given) => 'value' in given !== 'data' in given, 'it takes one of value and data');

export function lineOf({ key, value, expiresAtMs }: Entry<EncodedValue>): string {
  const codec = value.codec === USUAL_CODEC ? {} : { codec: value.codec };
  const readable = readableValue(value);
  const content = readable ?? { data: Buffer.from(value.bytes).toString('base64') };
  return JSON.stringify({ key, ...codec, ...content, expiresAtMs });
}

/** Makes a record's key of an object's members. Throws an Error if one is no part of a key. */
export type KeyOf = (partOf: (name: string) => unknown) => string;

/** With `keyOf` the line is any object, and the value. Throws an Error about a wrong line. */
export function itemOf(text: string, keyOf?: KeyOf): PutItem<EncodedValue> {
  if (keyOf !== undefined) {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no object');
    checkExact(text, 'it');
    return plainItemOf(value as Readonly<Record<string, unknown>>, keyOf);
  }
  const parsed = line.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { key, codec, value, data, expiresAtMs } = parsed.data;
  const encoded = data === undefined ? encode(codec, value) : { codec, bytes: Buffer.from(data, 'base64') };
  checkExact(text, 'it');
  // The store takes encoded bytes as they are, and would call them damage as it reads them.
  if (data !== undefined) decode(encoded);
  return { key, value: encoded, ...(expiresAtMs !== undefined && { expiresAtMs }) };
}

/** An object as a record, whose key is made of its members. */
export function plainItemOf(value: Readonly<Record<string, unknown>>, keyOf: KeyOf): PutItem<EncodedValue> {
  const key = keyOf((name) => (Object.hasOwn(value, name) ? value[name] : undefined));
  return { key, value: encode(USUAL_CODEC, value) };
}

/** Undefined for what JSON does not give back byte for byte. */
export function readableValue(stored: EncodedValue): { readonly value: unknown } | undefined {
  if (stored.codec === 'bytes') return undefined;
  try {
    const value = decode(stored);
    const again = encode(stored.codec, JSON.parse(JSON.stringify(value)));
    return Buffer.compare(again.bytes, stored.bytes) === 0 ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** The sum of 64 bits of each line's SHA-256: the same for the same records in any order. */
export class Checksum {
  records = 0;
  #sum = 0n;

  constructor(from?: { readonly records: number; readonly sum: string }) {
    this.records = from?.records ?? 0;
    this.#sum = BigInt(`0x${from?.sum ?? '0'}`);
  }

  /** 16 hexadecimal digits. */
  get sum(): string {
    return this.#sum.toString(16).padStart(16, '0');
  }

  add(text: string): void {
    const hash = createHash('sha256').update(text).digest();
    this.#sum = BigInt.asUintN(64, this.#sum + hash.readBigUInt64BE());
    this.records += 1;
  }
}
