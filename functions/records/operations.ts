// The document's entries of `records`: schemas of requests are those that validate them.
import * as z from 'zod/mini';
import { TABLE_NAME } from '../../shared/store/index.ts';
import { HEALTH, reply, type Route } from '../http/app.ts';
import { MEDIA_TYPE_OF } from '../http/content.ts';
import { TTL_MS_MAX } from '../http/headers.ts';
import { MERGE_PATCH } from '../http/merge-patch.ts';
import { type Answer, type Operation, openApi } from '../http/openapi.ts';
import { BATCH } from './batch-body.ts';
import { TABLE_OPTIONS } from './tables.ts';

const table = z.string().check(z.regex(TABLE_NAME));
/** Bytes count: the store refuses some of these. */
export const RECORD_KEY = z.string().check(z.minLength(1), z.maxLength(1_024));
const order = z.enum(['hash', 'key']);
const time = z.iso.datetime();
const ANY = z.any();

const JSON_TYPE = MEDIA_TYPE_OF.json;
const VALUE = { [JSON_TYPE]: ANY, [MEDIA_TYPE_OF.msgpack]: 'binary', [MEDIA_TYPE_OF.bytes]: 'binary' } as const;
const CONDITIONS = { 'If-Match': z.string(), 'If-None-Match': z.string() };
const TTL = { 'Stowage-Ttl-Ms': z.int().check(z.minimum(1), z.maximum(TTL_MS_MAX)) };
const EXPIRY = { 'Stowage-Expires-At': 'When the record expires, ISO 8601.' };
const AGE = { Age: 'With `Cache-Control: max-age`: seconds since this was known to hold.' };
const ETAG = { ETag: 'The version, quoted.' };
const WRITE_PROBLEMS = ['table_not_found', 'precondition_failed', 'conflict', 'unknown', 'corrupt'] as const;
const READ_PROBLEMS = ['table_not_found', 'corrupt'] as const;

const RECORD = z.object({
  key: z.string(),
  version: z.string(),
  expiresAt: z.exactOptional(time),
  contentType: z.string(),
  value: z.exactOptional(ANY),
  data: z.exactOptional(z.string()),
});
const PAGE = z.strictObject({ records: z.array(RECORD), cursor: z.exactOptional(z.string()) });
const TABLE = z.object({ name: z.string(), order, createdAt: time });
const DAMAGED_TABLE = z.object({ name: z.string(), damage: z.string() });
const OUTCOMES = z.strictObject({
  outcomes: z.array(
    z.object({
      status: z.enum(['found', 'absent', 'written', 'deleted', 'failed']),
      key: z.string(),
      version: z.exactOptional(z.string()),
      problem: z.exactOptional(z.looseObject({ code: z.string(), detail: z.string() })),
    }),
  ),
});

const COUNTS = z.looseObject({ containers: z.int(), records: z.int(), bytes: z.int(), findingCount: z.int() });
const CREATED = z.strictObject({ name: z.string(), order, warnings: z.exactOptional(z.array(z.string())) });

function json(description: string, schema: z.core.$ZodType): Answer {
  return { description, content: { [JSON_TYPE]: schema } };
}

/** By method and path. A test holds it against the routes. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /v1/health': {
    id: 'health',
    summary: 'Whether this instance serves.',
    answers: { 200: json('It does.', z.object({ status: z.literal('ok') })) },
  },
  'GET /v1/ready': {
    id: 'ready',
    summary: 'Whether the store can be read; an instance looks once in five seconds.',
    answers: { 200: json('It can.', z.object({ status: z.literal('ready') })) },
    problems: ['unavailable'],
  },
  'GET /v1/openapi.json': {
    id: 'openApi',
    summary: 'This document.',
    answers: { 200: json('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
  },
  'GET /v1/tables': {
    id: 'listTables',
    summary: 'All tables; `damage` tells why one cannot be read.',
    answers: { 200: json('By name.', z.strictObject({ tables: z.array(z.union([TABLE, DAMAGED_TABLE])) })) },
  },
  'GET /v1/tables/{table}': {
    id: 'getTable',
    summary: 'One table, with the counters of this instance.',
    answers: { 200: json('The table.', z.extend(TABLE, { stats: z.looseObject({}) })) },
    problems: READ_PROBLEMS,
  },
  'PUT /v1/tables/{table}': {
    id: 'createTable',
    summary: 'Creates a table.',
    body: { isOptional: true, content: { [JSON_TYPE]: TABLE_OPTIONS } },
    answers: {
      200: json('It existed, with this order.', CREATED),
      201: json('It is new.', CREATED),
    },
    problems: ['conflict', 'unsupported_media_type', 'unknown', 'corrupt', 'body_timeout'],
  },
  'DELETE /v1/tables/{table}': {
    id: 'dropTable',
    summary: 'Removes a table and all that it holds; `confirm` is its name again.',
    answers: { 204: { description: 'It is gone.' } },
    problems: ['table_not_found', 'unknown', 'corrupt'],
  },
  'GET /v1/tables/{table}/records/{key}': {
    id: 'getRecord',
    summary: 'One record, as it was put or converted exactly.',
    headers: CONDITIONS,
    answers: {
      200: { description: 'The value.', headers: { ...ETAG, ...EXPIRY, ...AGE }, content: VALUE },
      304: { description: 'The caller has it.', headers: ETAG },
    },
    problems: [...READ_PROBLEMS, 'record_not_found', 'precondition_failed'],
  },
  'PUT /v1/tables/{table}/records/{key}': {
    id: 'putRecord',
    summary: 'Puts one record.',
    headers: { ...CONDITIONS, ...TTL },
    body: { content: VALUE },
    answers: {
      201: { description: 'With `If-None-Match`: the record is new.', headers: { ...ETAG, Location: 'Its path.' } },
      204: { description: 'It is put.', headers: ETAG },
    },
    problems: [...WRITE_PROBLEMS, 'unsupported_media_type', 'body_timeout'],
  },
  'PATCH /v1/tables/{table}/records/{key}': {
    id: 'patchRecord',
    summary: 'Merges members into the value of a record (RFC 7396), and keeps its form and expiry.',
    headers: { ...CONDITIONS, ...TTL },
    body: { content: { [MERGE_PATCH]: ANY } },
    answers: { 204: { description: 'It is patched.', headers: { ...ETAG, ...EXPIRY } } },
    problems: [...WRITE_PROBLEMS, 'record_not_found', 'unsupported_media_type', 'body_timeout'],
  },
  'DELETE /v1/tables/{table}/records/{key}': {
    id: 'deleteRecord',
    summary: 'Deletes one record, if it is there.',
    headers: CONDITIONS,
    answers: { 204: { description: 'There is none now.' } },
    problems: WRITE_PROBLEMS,
  },
  'GET /v1/tables/{table}/records': {
    id: 'scanRecords',
    summary: 'Records in order: a page in JSON, or a stream of lines.',
    answers: {
      200: {
        description: 'Records, and where to go on.',
        headers: { Link: 'The next page (RFC 8288).' },
        content: { [JSON_TYPE]: PAGE, 'application/x-ndjson': 'binary' },
      },
    },
    problems: [...READ_PROBLEMS, 'conflict'],
  },
  'GET /v1/tables/{table}/count': {
    id: 'countRecords',
    summary: 'The number of records within bounds.',
    answers: { 200: json('The number.', z.strictObject({ count: z.int() })) },
    problems: READ_PROBLEMS,
  },
  'POST /v1/tables/{table}/verify': {
    id: 'verifyTable',
    summary: 'Reads all that is stored of a table, and tells what is wrong.',
    answers: { 200: json('Counts and findings.', z.extend(COUNTS, { findings: z.array(z.looseObject({})) })) },
    problems: READ_PROBLEMS,
  },
  'GET /v1/tables/{table}/stats': {
    id: 'tableStats',
    summary: 'Reads all that is stored of a table, and counts it.',
    answers: { 200: json('Counts, also by level.', COUNTS) },
    problems: READ_PROBLEMS,
  },
  'GET /v1/tables/{table}/inspect': {
    id: 'inspectContainer',
    summary: 'One container as it is stored: the root, the one named, or the leaf that owns a key.',
    answers: { 200: json('Its header and pages.', z.looseObject({ container: z.string(), version: z.string() })) },
    problems: READ_PROBLEMS,
  },
  'POST /v1/tables/{table}/batch': {
    id: 'batch',
    summary: 'Up to 1,000 operations, with an outcome each. Writes need the role write.',
    body: { content: { [JSON_TYPE]: BATCH, [MEDIA_TYPE_OF.msgpack]: 'binary' } },
    answers: {
      200: {
        description: 'Outcomes in the order of operations.',
        content: { [JSON_TYPE]: OUTCOMES, [MEDIA_TYPE_OF.msgpack]: 'binary' },
      },
    },
    problems: ['table_not_found', 'unsupported_media_type', 'body_timeout'],
  },
};

/** The operations on a record, as those of a key in the query. */
const WITH_QUERY = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
  name.endsWith('/records/{key}')
    ? [[name.replace('records/{key}', 'record'), { ...operation, id: `${operation.id}ByQuery` }] as const]
    : [],
);

/** Open to everybody: it tells what the source tells. Made when it is first asked for. */
export function documentRoute(others: readonly Route[]): Route {
  let text: string | undefined;
  const own: Route = {
    method: 'GET',
    path: '/v1/openapi.json',
    role: undefined,
    handle: async () => {
      text ??= JSON.stringify(
        openApi({ ...OPERATIONS, ...Object.fromEntries(WITH_QUERY) }, [...others, own, HEALTH], {
          table,
          key: RECORD_KEY,
        }),
      );
      return reply('application/json', text, { 'Cache-Control': 'public, max-age=3600' });
    },
  };
  return own;
}
