// Reads a batch's operations. Values are cut out of the body, as decoding would round or reorder.
import * as z from 'zod/mini';
import type { EncodedValue, PutItem } from '../../shared/store/index.ts';
import {
  codecOf,
  encodedValue,
  MEDIA_TYPE_OF,
  readerOf,
  registered,
  VALUE_BYTES_MAX,
  type StructuredCodec,
} from '../http/content.ts';
import { TTL_MS_MAX } from '../http/headers.ts';
import { Problem } from '../http/problem.ts';
import type { ValueReader } from '../http/body-reader.ts';
import { parsed, unknownMembers } from '../http/validate.ts';

const OPERATIONS_MAX = 1_000;

/** Bytes of a batch as it is sent, inflated. */
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/** Leaves a bigint beyond the safe integers to the schema, which refuses it. */
function safeNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function registeredName(value: unknown): unknown {
  return typeof value === 'string' ? registered(value) : value;
}

const DATA_EXPECTED = 'data is bin in MessagePack, base64 text in JSON';

/** A key with too many bytes fails alone; with too many characters it fails the batch. */
export const KEY = z.string().check(z.maxLength(1_024));

const PUT = z.strictObject({
  op: z.literal('put'),
  key: KEY,
  /** The bytes as they were sent and are stored, in the batch's own encoding. */
  value: z.exactOptional(z.instanceof(Uint8Array)),
  /** Instead of `value`: the bytes to store, as base64 text in JSON, with their `contentType`. */
  data: z.exactOptional(z.union([z.string(), z.instanceof(Uint8Array)], DATA_EXPECTED)),
  contentType: z.exactOptional(
    z.pipe(z.transform(registeredName), z.enum([MEDIA_TYPE_OF.json, MEDIA_TYPE_OF.msgpack, MEDIA_TYPE_OF.bytes])),
  ),
  ifVersion: z.exactOptional(z.string()),
  ifAbsent: z.exactOptional(z.literal(true)),
  ttlMs: z.exactOptional(z.pipe(z.transform(safeNumber), z.int().check(z.minimum(1), z.maximum(TTL_MS_MAX)))),
});
const GET = z.strictObject({ op: z.literal('get'), key: KEY });
const DELETE = z.strictObject({ op: z.literal('delete'), key: KEY, ifVersion: z.exactOptional(z.string()) });
/** The body of a batch. */
export const BATCH = z.strictObject({
  operations: z
    .array(z.discriminatedUnion('op', [PUT, GET, DELETE]))
    .check(z.minLength(1), z.maxLength(OPERATIONS_MAX)),
  /** All or none of them, which are of one group. */
  atomic: z.exactOptional(z.boolean()),
});

export type Put = z.output<typeof PUT>;
export type Delete = z.output<typeof DELETE>;
export type BatchBody = z.output<typeof BATCH>;
export type Operation = BatchBody['operations'][number];

/** Only values may have more members. */
const MEMBERS_MAX = 16;

/** At most 1,000 operations. Throws the Problem `malformed`, `invalid` or `too_large`. */
export function batchIn(body: Uint8Array, codec: StructuredCodec): BatchBody {
  const reader = readerOf(codec, body);
  if (reader.kind === 'array') throw new Problem('invalid', 'body: expected an object');
  const batch = membersOf(reader, (name) =>
    name === 'operations' ? listOf(reader) : plainOf(BATCH.shape, name, reader, 'body: '),
  );
  reader.end();
  return parsed(BATCH, batch);
}

function listOf(reader: ValueReader): unknown {
  if (reader.kind === 'map') throw new Problem('invalid', 'operations: expected an array');
  if (reader.kind !== 'array') return reader.scalar();
  const operations: unknown[] = [];
  reader.items(() => {
    if (operations.length === OPERATIONS_MAX)
      throw new Problem('invalid', `operations: expected at most ${OPERATIONS_MAX} items`);
    operations.push(operationAt(operations.length, reader));
  });
  return operations;
}

/** Names the operation in its errors, except if the body has too many values. */
function operationAt(index: number, reader: ValueReader): unknown {
  try {
    return operationOf(reader);
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'too_large') throw error;
    throw new Problem(error.code, `operations.${index}: ${error.message}`);
  }
}

function operationOf(reader: ValueReader): unknown {
  if (reader.kind === 'array') throw new Problem('invalid', 'expected an object');
  return membersOf(reader, (name) => (name === 'value' ? reader.value() : plainOf(PUT.shape, name, reader)));
}

/** Reads each member of a map with `read`. Other values are left to the schema, which refuses. */
export function membersOf(reader: ValueReader, read: (name: string) => unknown): unknown {
  if (reader.kind !== 'map') return reader.scalar();
  const found = new Map<string, unknown>();
  reader.members((name) => {
    if (name === undefined) throw new Problem('malformed', 'a member has a name that is no string');
    if (found.has(name)) throw new Problem('malformed', 'a member stands twice: send it once');
    if (found.size === MEMBERS_MAX) throw new Problem('invalid', `an object here has at most ${MEMBERS_MAX} members`);
    found.set(name, read(name));
  });
  return Object.fromEntries(found);
}

/** Reads a plain value, and refuses a list or map unread. `shape`: the members that are known. */
export function plainOf(shape: object, name: string, reader: ValueReader, prefix = ''): unknown {
  if (reader.kind === 'string' || reader.kind === 'scalar') return reader.scalar();
  if (!Object.hasOwn(shape, name)) throw new Problem('invalid', prefix + unknownMembers([name], shape));
  throw new Problem('invalid', `${prefix}${name} holds neither a list nor an object`);
}

/** Throws a Problem, the put's outcome, if its value cannot be stored. */
export function itemOf(put: Put, codec: StructuredCodec): PutItem<EncodedValue> {
  const { op: _, value: _value, data: _data, contentType: _contentType, ...item } = put;
  return { ...item, value: valueOf(put, codec) };
}

function valueOf({ value, data, contentType }: Put, codec: StructuredCodec): EncodedValue {
  if (data !== undefined) {
    if (value !== undefined) throw new Problem('invalid', 'give value or data, not both');
    if (contentType === undefined) throw new Problem('invalid', 'data needs its contentType');
    return encodedValue(codecOf(contentType, ['json', 'msgpack', 'bytes']), bytesOf(data, codec));
  }
  if (value === undefined || contentType !== undefined)
    throw new Problem('invalid', 'a put needs a value alone, or data with its contentType');
  return { codec, bytes: value };
}

function bytesOf(data: string | Uint8Array, codec: StructuredCodec): Uint8Array {
  if (codec !== 'json' && typeof data !== 'string') return data;
  if (codec !== 'json' || typeof data !== 'string') throw new Problem('invalid', DATA_EXPECTED);
  return fromBase64(data);
}

/** Throws the Problem `malformed`, or `too_large` before it decodes a text that no record takes. */
export function fromBase64(data: string): Uint8Array {
  if (data.length * 3 > (VALUE_BYTES_MAX + 3) * 4)
    throw new Problem('too_large', `the record exceeds ${VALUE_BYTES_MAX} bytes: make it smaller`);
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') !== data) throw new Problem('malformed', 'data is not base64 with padding');
  return bytes;
}
