// The body of a batch: which operations it asks for, in JSON or MessagePack. A value is never decoded and encoded again, which would round
// or reorder it: its bytes are cut out of the body as they stand, like those of a single PUT.
import * as z from 'zod/mini';
import type { EncodedValue, PutItem } from '../../shared/store/index.ts';
import { type Codec, codecOf, encodedValue, MEDIA_TYPE_OF, parseJson, parseJsonOfAnyDepth } from '../http/content.ts';
import { TTL_MS_MAX } from '../http/headers.ts';
import { OPEN_ARRAY, OPEN_OBJECT, partsOf, trimmed } from '../http/json-source.ts';
import { decodeMsgpack, MsgpackReader } from '../http/msgpack.ts';
import { Problem } from '../http/problem.ts';
import { parsed } from '../http/validate.ts';

const OPERATIONS_MAX = 1_000;

/** MessagePack's 64-bit integers are decoded as bigints; one beyond the safe integers is left for the schema to refuse. */
function safeNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const DATA_EXPECTED = 'data is bin in MessagePack, base64 text in JSON';

const PUT = z.strictObject({
  op: z.literal('put'),
  key: z.string(),
  /** As it was sent, byte for byte; stored so, in the batch's own encoding. */
  value: z.exactOptional(z.instanceof(Uint8Array)),
  /** Instead of `value`: the bytes to store, as base64 text in JSON, with their `contentType`. */
  data: z.exactOptional(z.union([z.string(), z.instanceof(Uint8Array)], DATA_EXPECTED)),
  contentType: z.exactOptional(z.enum([MEDIA_TYPE_OF.json, MEDIA_TYPE_OF.msgpack, MEDIA_TYPE_OF.bytes])),
  ifVersion: z.exactOptional(z.string()),
  ifAbsent: z.exactOptional(z.literal(true)),
  ttlMs: z.exactOptional(z.pipe(z.transform(safeNumber), z.int().check(z.minimum(1), z.maximum(TTL_MS_MAX)))),
});
const GET = z.strictObject({ op: z.literal('get'), key: z.string() });
const DELETE = z.strictObject({ op: z.literal('delete'), key: z.string(), ifVersion: z.exactOptional(z.string()) });
const BATCH = z.strictObject({
  operations: z
    .array(z.discriminatedUnion('op', [PUT, GET, DELETE]))
    .check(z.minLength(1), z.maxLength(OPERATIONS_MAX)),
});

export type Put = z.output<typeof PUT>;
export type Delete = z.output<typeof DELETE>;
export type Operation = z.output<typeof BATCH>['operations'][number];

/** The operations of the body, at most 1,000. Throws the Problem `malformed` or `invalid` where it is no batch. */
export function operationsOf(body: Uint8Array, codec: Codec): readonly Operation[] {
  if (codec === 'json') parseJsonOfAnyDepth(body);
  const batch = membersOf(codec === 'json' ? jsonSource(body) : msgpackSource(body), (name, source) =>
    name === 'operations' ? (source.items()?.map(operationOf) ?? source.decode()) : source.decode(),
  );
  return parsed(BATCH, batch).operations;
}

function operationOf(source: Source): unknown {
  return membersOf(source, (name, member) => (name === 'value' ? member.bytes : member.decode()));
}

/** A value within the body. */
interface Source {
  readonly bytes: Uint8Array;
  /** Undefined if it is no map. */
  members(): [name: string, member: Source][] | undefined;
  /** Undefined if it is no array. */
  items(): Source[] | undefined;
  decode(): unknown;
}

/** A map as an object, each member as `read` gives it; any other value decoded. */
function membersOf(source: Source, read: (name: string, member: Source) => unknown): unknown {
  const members = source.members();
  if (members === undefined) return source.decode();
  const names = new Set<string>();
  for (const [name] of members) {
    if (names.has(name)) throw new Problem('malformed', 'a member of the batch stands twice: send it once');
    names.add(name);
  }
  return Object.fromEntries(members.map(([name, member]) => [name, read(name, member)]));
}

/** More parts are not looked at: no array or map of a valid batch has more, and a body of millions would fill the memory. */
const PARTS_MAX = 2 * (OPERATIONS_MAX + 1);

/** Of JSON that parses. */
function jsonSource(text: Uint8Array): Source {
  const bytes = trimmed(text);
  const parts = (): Source[] => firstOf(partsOf(bytes)).map(jsonSource);
  return {
    bytes,
    members: () => (bytes[0] === OPEN_OBJECT ? pairsOf(parts()) : undefined),
    items: () => (bytes[0] === OPEN_ARRAY ? parts() : undefined),
    decode: () => parseJson(bytes),
  };
}

function msgpackSource(bytes: Uint8Array): Source {
  const kind = new MsgpackReader(bytes).next();
  const parts = (): Source[] => firstOf(msgpackPartsOf(bytes)).map(msgpackSource);
  return {
    bytes,
    members: () => (kind === 'map' ? pairsOf(parts()) : undefined),
    items: () => (kind === 'array' ? parts() : undefined),
    decode: () => decodeMsgpack(bytes),
  };
}

function* msgpackPartsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const reader = new MsgpackReader(bytes);
  reader.next();
  for (let left = reader.count; left > 0; left -= 1) yield reader.nextValue();
  if (reader.at < bytes.length) throw new Problem('malformed', 'not MessagePack: bytes follow the batch');
}

function firstOf(parts: Iterable<Uint8Array>): Uint8Array[] {
  const first: Uint8Array[] = [];
  for (const part of parts) if (first.push(part) === PARTS_MAX) break;
  return first;
}

/** The parts of a map, names and values in turn, in pairs. */
function pairsOf(parts: readonly Source[]): [name: string, member: Source][] {
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) return [];
    const name = part.decode();
    if (typeof name !== 'string') throw new Problem('malformed', 'a member of the batch has a name that is no string');
    return [[name, parts[index + 1]!]];
  });
}

/** The put as the store takes it. Throws the Problem that is its outcome where its value cannot be stored. */
export function itemOf(put: Put, codec: Codec): PutItem<EncodedValue> {
  const { op: _, value: _value, data: _data, contentType: _contentType, ...item } = put;
  return { ...item, value: valueOf(put, codec) };
}

function valueOf({ value, data, contentType }: Put, codec: Codec): EncodedValue {
  if (data !== undefined) {
    if (value !== undefined) throw new Problem('invalid', 'give value or data, not both');
    if (contentType === undefined) throw new Problem('invalid', 'data needs its contentType');
    return encodedValue(codecOf(contentType, ['json', 'msgpack', 'bytes']), bytesOf(data, codec));
  }
  if (value === undefined || contentType !== undefined) {
    throw new Problem('invalid', 'a put needs a value alone, or data with its contentType');
  }
  return encodedValue(codec, value);
}

function bytesOf(data: string | Uint8Array, codec: Codec): Uint8Array {
  if (codec !== 'json' && typeof data !== 'string') return data;
  if (codec !== 'json' || typeof data !== 'string') throw new Problem('invalid', DATA_EXPECTED);
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') !== data) throw new Problem('malformed', 'data is not base64 with padding');
  return bytes;
}
