// Handlers of one record. The store judges conditions; lists of tags and `If-Match: *` take a read.
// PATCH merges a JSON merge patch, POST adds to a number or gives another expiry, in one step.
import * as z from 'zod/mini';
import { type EncodedValue, type Entry, StoreError } from '../../shared/store/index.ts';
import {
  checkType,
  codecOf,
  converted,
  encodedValue,
  isoTime,
  MEDIA_TYPE_OF,
  parseJson,
  present,
  VALUE_BYTES_MAX,
} from '../http/content.ts';
import {
  CACHING,
  type Conditions,
  conditionsOf,
  entityTag,
  type Guard,
  guardOf,
  isExpected,
  isKnown,
  maxAgeMsOf,
  TTL_MS_MAX,
  passes,
  ttlOf,
} from '../http/headers.ts';
import { MERGE_PATCH, type MergePatch, mergePatch } from '../http/merge-patch.ts';
import { originForm } from '../http/paths.ts';
import { Problem } from '../http/problem.ts';
import { BODY_PROBLEMS, type Call, jsonAnswer, READ_PROBLEMS, reply, type RouteTable } from '../http/route.ts';
import { numberLike, parsed } from '../http/validate.ts';
import type { RecordTable, Tables } from './table-handlers.ts';

/** The store counts bytes, so it refuses some of these keys. */
export const RECORD_KEY = z.string().check(z.minLength(1), z.maxLength(1_024));

const VALUE = {
  [MEDIA_TYPE_OF.json]: z.any(),
  [MEDIA_TYPE_OF.msgpack]: 'binary',
  [MEDIA_TYPE_OF.bytes]: 'binary',
} as const;
const CONDITIONS = { 'If-Match': z.string(), 'If-None-Match': z.string() };
const TTL = { 'Stowage-Ttl-Ms': z.int().check(z.minimum(1), z.maximum(TTL_MS_MAX)) };
const EXPIRY = { 'Stowage-Expires-At': 'When the record expires, ISO 8601.' };
const AGE = { Age: 'With `Cache-Control: max-age`: seconds since this was known to hold.' };
const ETAG = { ETag: 'The version, quoted.' };
const WRITE_PROBLEMS = ['table_not_found', 'precondition_failed', 'conflict', 'unknown', 'corrupt'] as const;

const CHANGE_QUERY = z.strictObject({
  increment: z.exactOptional(z.pipe(numberLike(/^-?\d{1,16}$/), z.int())),
  field: z.exactOptional(z.string()),
});

/** The routes of a record, by its key in the path and in the query. */
export function recordRoutes(tables: Tables): RouteTable {
  const inPath = oneRecord(tables);
  return { ...inPath, ...byQuery(inPath) };
}

function oneRecord(tables: Tables): RouteTable {
  return {
    'GET /v1/tables/:table/records/:key': {
      role: 'read',
      id: 'getRecord',
      summary: 'One record, as it was put or converted exactly.',
      headers: CONDITIONS,
      answers: {
        200: { description: 'The value.', headers: { ...ETAG, ...EXPIRY, ...AGE }, content: VALUE },
        304: { description: 'The caller has it.', headers: ETAG },
      },
      problems: [...READ_PROBLEMS, 'record_not_found', 'precondition_failed'],
      handle: (call) => getRecord(tables, call),
    },
    'PUT /v1/tables/:table/records/:key': {
      role: 'write',
      id: 'putRecord',
      summary: 'Puts one record.',
      headers: { ...CONDITIONS, ...TTL },
      body: { bytesMax: VALUE_BYTES_MAX, content: VALUE },
      answers: {
        201: { description: 'With `If-None-Match`: the record is new.', headers: { ...ETAG, Location: 'Its path.' } },
        204: { description: 'It is put.', headers: ETAG },
      },
      problems: [...WRITE_PROBLEMS, ...BODY_PROBLEMS],
      handle: (call) => putRecord(tables, call),
    },
    'PATCH /v1/tables/:table/records/:key': {
      role: 'write',
      id: 'patchRecord',
      summary: 'Merges members into the value of a record (RFC 7396), and keeps its form and expiry.',
      headers: { ...CONDITIONS, ...TTL },
      body: { bytesMax: VALUE_BYTES_MAX, content: { [MERGE_PATCH]: z.any() } },
      answers: { 204: { description: 'It is patched.', headers: { ...ETAG, ...EXPIRY } } },
      problems: [...WRITE_PROBLEMS, 'record_not_found', ...BODY_PROBLEMS],
      handle: (call) => patchRecord(tables, call),
    },
    'POST /v1/tables/:table/records/:key': {
      role: 'write',
      id: 'changeRecord',
      summary: 'Adds to a whole number, the value or its `field`; or gives another expiry; or both.',
      query: CHANGE_QUERY,
      headers: { ...CONDITIONS, ...TTL },
      answers: {
        200: { ...jsonAnswer('The sum.', z.strictObject({ value: z.int() })), headers: { ...ETAG, ...EXPIRY } },
        204: { description: 'It expires then.', headers: { ...ETAG, ...EXPIRY } },
      },
      problems: [...WRITE_PROBLEMS, 'record_not_found'],
      handle: (call) => changeRecord(tables, call),
    },
    'DELETE /v1/tables/:table/records/:key': {
      role: 'write',
      id: 'deleteRecord',
      summary: 'Deletes one record, if it is there.',
      headers: CONDITIONS,
      answers: { 204: { description: 'There is none now.' } },
      problems: WRITE_PROBLEMS,
      handle: (call) => deleteRecord(tables, call),
    },
  };
}

/** The same routes with the key in the query, because some front ends decode the %2F of a path. */
function byQuery(ofRecord: RouteTable): RouteTable {
  const entries = Object.entries(ofRecord).map(([place, entry]) => {
    const query = z.extend(entry.query ?? z.strictObject({}), { key: RECORD_KEY });
    return [place.replace('records/:key', 'record'), { ...entry, id: `${entry.id}ByQuery`, query }];
  });
  return Object.fromEntries(entries) as RouteTable;
}

/** How often it reads, judges and writes again if other writers come between. */
const ROUNDS_MAX = 8;

/** GET and HEAD: the record, or 304 if the caller has it. Takes one read. */
async function getRecord(tables: Tables, { request, bounds, param, memory }: Call): Promise<Response> {
  const conditions = conditionsOf(request);
  const key = param('key');
  const maxAgeMs = maxAgeMsOf(request);
  memory.take(VALUE_BYTES_MAX);
  const entry = await tables.use(param('table'), bounds, (table) => table.get(key, { ...bounds, maxAgeMs }));
  if (entry === undefined) throw recordNotFound();
  // The form comes first (RFC 9110, 13.2.1): it decides which entity tag the conditions mean.
  const { codec, bytes, isConverted } = present(entry.value, request);
  memory.take(Math.max(0, bytes.length - VALUE_BYTES_MAX));
  const tag = entityTag(entry.version, isConverted ? codec : undefined);
  const headers = headersOf(entry, tag);
  if (!isExpected(conditions, tag)) throw preconditionFailed();
  if (isKnown(conditions, tag)) return new Response(null, { status: 304, headers });
  return reply(MEDIA_TYPE_OF[codec], bytes, headers);
}

/** PUT: 201 if the conditions say that the record is new, otherwise 204. */
async function putRecord(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const key = call.param('key');
  const conditions = conditionsOf(request);
  const options = { ...bounds, ...ttlOf(request) };
  if (request.headers.has('Content-Range'))
    throw new Problem('invalid', 'a record is written whole: send no Content-Range');
  const codec = codecOf(request.headers.get('Content-Type'), ['json', 'msgpack', 'bytes']);
  const value = encodedValue(codec, await call.body());
  const { written, guard } = await tables.use(call.param('table'), bounds, (table) =>
    writeUnder({ table, key, conditions, bounds }, (guard) => table.put(key, value, { ...options, ...guard })),
  );
  const headers = { ETag: entityTag(written.version), ...CACHING };
  if (!('ifAbsent' in guard)) return new Response(null, { status: 204, headers });
  return new Response(null, { status: 201, headers: { ...headers, Location: originForm(request.url) } });
}

/** DELETE: 204, also if there was no record. */
async function deleteRecord(tables: Tables, { request, bounds, param }: Call): Promise<Response> {
  const key = param('key');
  const conditions = conditionsOf(request);
  await tables.use(param('table'), bounds, (table) =>
    writeUnder({ table, key, conditions, bounds }, async (guard) => {
      if (!('ifAbsent' in guard)) await table.delete(key, { ...bounds, ...guard });
      // The store has no delete with `ifAbsent`; reading is enough, as there is nothing to delete.
      else if ((await table.get(key, bounds)) !== undefined) throw preconditionFailed();
    }),
  );
  return new Response(null, { status: 204, headers: CACHING });
}

interface ConditionalWrite {
  readonly table: RecordTable;
  readonly key: string;
  readonly conditions: Conditions;
  readonly bounds: Call['bounds'];
}

/** Reads first if the store cannot judge the conditions, and again after other writers. */
async function writeUnder<T>(
  { table, key, conditions, bounds }: ConditionalWrite,
  write: (guard: Guard) => Promise<T>,
): Promise<{ written: T; guard: Guard }> {
  const direct = guardOf(conditions);
  if (direct !== undefined) return { written: await write(direct), guard: direct };
  for (let round = 1; ; round += 1) {
    const version = (await table.get(key, bounds))?.version;
    if (!passes(conditions, version)) throw preconditionFailed();
    const guard: Guard = version === undefined ? { ifAbsent: true } : { ifVersion: version };
    try {
      return { written: await write(guard), guard };
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'conflict' || round === ROUNDS_MAX) throw error;
    }
  }
}

function recordNotFound(): Problem {
  return new Problem('record_not_found', 'there is no record under this key');
}

function preconditionFailed(): Problem {
  const detail = 'the record is not as If-Match or If-None-Match demands: read it, decide again';
  return new Problem('precondition_failed', detail);
}

function headersOf({ expiresAtMs, ageMs }: Entry<EncodedValue>, tag: string): Record<string, string> {
  return {
    ...CACHING,
    ETag: tag,
    ...(ageMs === undefined ? {} : { Age: String(Math.floor(ageMs / 1_000)) }),
    ...(expiresAtMs === undefined ? {} : { 'Stowage-Expires-At': isoTime(expiresAtMs) }),
  };
}

/** Answers 204 with the new version, or 404 without a record. Takes one write. */
async function patchRecord(tables: Tables, call: Call): Promise<Response> {
  checkType(call.request, MERGE_PATCH);
  const merge = mergePatch(await call.body());
  const entry = await changed(tables, call, (value) => merged(value ?? missing(), merge));
  return new Response(null, { status: 204, headers: headersOf(entry, entityTag(entry.version)) });
}

/** An increment creates a missing record and answers the sum; an expiry alone answers 204. */
async function changeRecord(tables: Tables, call: Call): Promise<Response> {
  const { key: _, ...query } = call.query;
  const { increment, field } = parsed(CHANGE_QUERY, query);
  if (increment === undefined && field !== undefined) throw new Problem('invalid', 'field needs an increment');
  if (increment === undefined && !call.request.headers.has('Stowage-Ttl-Ms'))
    throw new Problem('invalid', 'give ?increment=, or Stowage-Ttl-Ms for another expiry, or both');
  const entry = await changed(tables, call, (value) =>
    increment === undefined ? (value ?? missing()) : incremented(value, increment, field),
  );
  const headers = headersOf(entry, entityTag(entry.version));
  if (increment === undefined) return new Response(null, { status: 204, headers });
  return reply('application/json', JSON.stringify({ value: numberIn(jsonOf(entry.value), field) }), headers);
}

/** The changed record. Throws unless the request's conditions hold. */
async function changed(
  tables: Tables,
  { request, bounds, param }: Call,
  change: (value: EncodedValue | undefined) => EncodedValue,
): Promise<Entry<EncodedValue>> {
  const conditions = conditionsOf(request);
  const options = { ...bounds, ...ttlOf(request) };
  const entry = await tables.use(param('table'), bounds, (table) =>
    table.update(
      param('key'),
      (current) => {
        if (!passes(conditions, current?.version)) throw preconditionFailed();
        return change(current?.value);
      },
      options,
    ),
  );
  return entry!;
}

function missing(): never {
  throw recordNotFound();
}

function incremented(value: EncodedValue | undefined, by: number, field: string | undefined): EncodedValue {
  const put = (sum: number) => Buffer.from(JSON.stringify(field === undefined ? sum : { [field]: sum }));
  if (value === undefined) return { codec: 'json', bytes: put(by) };
  return merged(value, (json) => {
    const sum = numberIn(json, field) + by;
    if (!Number.isSafeInteger(sum)) throw new Problem('conflict', 'the sum is beyond 2^53');
    return mergePatch(put(sum))(json);
  });
}

/** The whole number in the field, or the value itself without one. A missing field counts as 0. */
function numberIn(json: Uint8Array, field: string | undefined): number {
  const value = parseJson(json);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (field !== undefined && !isObject) throw new Problem('conflict', 'the value has no fields');
  const found: unknown = field === undefined ? value : Object.hasOwn(value!, field) ? Reflect.get(value!, field) : 0;
  if (Number.isSafeInteger(found)) return found as number;
  throw new Problem('conflict', `${field === undefined ? 'the value' : 'the field'} is no whole number below 2^53`);
}

/** A record keeps the form in which it was put. */
function merged(value: EncodedValue, merge: MergePatch): EncodedValue {
  try {
    const json = merge(jsonOf(value));
    return value.codec === 'json'
      ? { codec: 'json', bytes: json }
      : { codec: 'msgpack', bytes: converted({ codec: 'json', bytes: json }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('conflict', `this record cannot be changed in place: ${error.message}; put it whole`);
  }
}

function jsonOf(value: EncodedValue): Uint8Array {
  if (value.codec === 'bytes') throw new Problem('conflict', 'the record holds bytes');
  return value.codec === 'json' ? value.bytes : converted(value);
}
