// The function `records`: its routes, with the schemas that also validate their requests.
import * as z from 'zod/mini';
import { TABLE_NAME } from '../../shared/store/index.ts';
import { MEDIA_TYPE_OF, VALUE_BYTES_MAX } from '../http/content.ts';
import { openToPages, type Origins } from '../http/cors.ts';
import { TTL_MS_MAX } from '../http/headers.ts';
import { type App, createApp, type FrameOptions, HEALTH } from '../http/http-app.ts';
import { MERGE_PATCH } from '../http/merge-patch.ts';
import { openApi } from '../http/openapi-document.ts';
import { type Answer, reply, type RouteTable } from '../http/route.ts';
import { BATCH, BATCH_BYTES_MAX } from './batch-body.ts';
import { runBatch } from './batch.ts';
import {
  deleteTable,
  DROP_QUERY,
  getTable,
  inspect,
  INSPECT_QUERY,
  listTables,
  putTable,
  readiness,
  stats,
  type StoreSource,
  TABLE_BODY_BYTES_MAX,
  TABLE_OPTIONS,
  Tables,
  verify,
} from './table-handlers.ts';
import {
  CLEAR_QUERY,
  clearRecords,
  COUNT_QUERY,
  countRecords,
  NDJSON,
  SCAN_QUERY,
  scanRecords,
} from './scan-handlers.ts';
import { CHANGE_QUERY, changeRecord, deleteRecord, getRecord, patchRecord, putRecord } from './record-handlers.ts';
import { LINE_BYTES_MAX, putLines } from './put-lines.ts';

export interface RecordsAppOptions extends FrameOptions {
  readonly store: StoreSource;
  /** Every table is opened with it; default: the store's. */
  readonly containerBytesMax?: number;
  /** Pages of these origins may call; default: none. */
  readonly origins?: Origins;
}

/** The app of the function `records`; the store is opened at the first request that needs it. */
export function createRecordsApp(options: RecordsAppOptions): App {
  const routes = recordRoutes(new Tables(options));
  return openToPages(createApp(routes, options), options.origins ?? []);
}

const order = z.enum(['hash', 'key']);
const time = z.iso.datetime();
const ANY = z.any();
/** The store counts bytes, so it refuses some of these keys. */
const RECORD_KEY = z.string().check(z.minLength(1), z.maxLength(1_024));
const IN_PATH = { table: z.string().check(z.regex(TABLE_NAME)), key: RECORD_KEY };

const JSON_TYPE = MEDIA_TYPE_OF.json;
const VALUE = { [JSON_TYPE]: ANY, [MEDIA_TYPE_OF.msgpack]: 'binary', [MEDIA_TYPE_OF.bytes]: 'binary' } as const;
const CONDITIONS = { 'If-Match': z.string(), 'If-None-Match': z.string() };
const TTL = { 'Stowage-Ttl-Ms': z.int().check(z.minimum(1), z.maximum(TTL_MS_MAX)) };
const EXPIRY = { 'Stowage-Expires-At': 'When the record expires, ISO 8601.' };
const AGE = { Age: 'With `Cache-Control: max-age`: seconds since this was known to hold.' };
const ETAG = { ETag: 'The version, quoted.' };
const WRITE_PROBLEMS = ['table_not_found', 'precondition_failed', 'conflict', 'unknown', 'corrupt'] as const;
const READ_PROBLEMS = ['table_not_found', 'corrupt'] as const;
const BODY_PROBLEMS = ['unsupported_media_type', 'body_timeout'] as const;

const RECORD = z.object({
  key: z.string(),
  version: z.string(),
  expiresAt: z.exactOptional(time),
  contentType: z.string(),
  value: z.exactOptional(ANY),
  data: z.exactOptional(z.string()),
});
const PAGE = z.strictObject({ records: z.array(RECORD), cursor: z.exactOptional(z.string()) });
const GROUP_BY = { groupBy: z.exactOptional(z.string()) };
const TABLE = z.object({ name: z.string(), order, ...GROUP_BY, createdAt: time });
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
const CREATED = z.strictObject({
  name: z.string(),
  order,
  ...GROUP_BY,
  warnings: z.exactOptional(z.array(z.string())),
});

function json(description: string, schema: z.core.$ZodType): Answer {
  return { description, content: { [JSON_TYPE]: schema } };
}

function recordRoutes(tables: Tables): RouteTable {
  let document: string | undefined;
  const ofRecord = oneRecord(tables);
  const routes: RouteTable = {
    'GET /v1/ready': {
      role: undefined,
      id: 'ready',
      summary: 'Whether the store can be read; an instance looks once in five seconds.',
      answers: { 200: json('It can.', z.object({ status: z.literal('ready') })) },
      problems: ['unavailable'],
      handle: readiness(tables.store),
    },
    'GET /v1/openapi.json': {
      role: undefined,
      id: 'openApi',
      summary: 'This document, in OpenAPI 3.1.',
      answers: { 200: json('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
      handle: async () => {
        document ??= JSON.stringify(openApi({ ...HEALTH, ...routes }, IN_PATH));
        return reply('application/json', document, { 'Cache-Control': 'public, max-age=3600' });
      },
    },
    'GET /v1/tables': {
      role: 'read',
      showsOwnTables: true,
      id: 'listTables',
      summary: 'The tables that the key opens; `damage` tells why one cannot be read.',
      answers: { 200: json('By name.', z.strictObject({ tables: z.array(z.union([TABLE, DAMAGED_TABLE])) })) },
      handle: (call) => listTables(tables, call),
    },
    'GET /v1/tables/:table': {
      role: 'read',
      id: 'getTable',
      summary: 'One table, with the counters of this instance.',
      answers: { 200: json('The table.', z.extend(TABLE, { stats: z.looseObject({}) })) },
      problems: READ_PROBLEMS,
      handle: (call) => getTable(tables, call),
    },
    'PUT /v1/tables/:table': {
      role: 'admin',
      audit: 'create',
      id: 'createTable',
      summary: 'Creates a table, by `{"order", "groupBy", "containers"}`.',
      body: { isOptional: true, bytesMax: TABLE_BODY_BYTES_MAX, content: { [JSON_TYPE]: TABLE_OPTIONS } },
      answers: { 200: json('It existed, with this order.', CREATED), 201: json('It is new.', CREATED) },
      problems: ['conflict', 'unknown', 'corrupt', ...BODY_PROBLEMS],
      handle: (call) => putTable(tables, call),
    },
    'DELETE /v1/tables/:table': {
      role: 'admin',
      audit: 'drop',
      id: 'dropTable',
      summary: 'Removes a table and all that it holds; `confirm` is its name again.',
      query: DROP_QUERY,
      answers: { 204: { description: 'It is gone.' } },
      problems: ['table_not_found', 'unknown', 'corrupt'],
      handle: (call) => deleteTable(tables, call),
    },
    ...ofRecord,
    ...byQuery(ofRecord),
    'GET /v1/tables/:table/records': {
      role: 'read',
      id: 'scanRecords',
      summary: 'Records in order: a JSON page of 100, 1,000 at most, or a stream of lines.',
      query: SCAN_QUERY,
      answers: {
        200: {
          description: 'Records, and where to go on.',
          headers: { Link: 'The next page (RFC 8288).' },
          content: { [JSON_TYPE]: PAGE, [NDJSON]: 'binary' },
        },
      },
      problems: [...READ_PROBLEMS, 'conflict'],
      handle: (call) => scanRecords(tables, call),
    },
    'POST /v1/tables/:table/records': {
      role: 'write',
      id: 'putRecords',
      summary: 'Puts records, a line each as `stowage export` writes them, and streams an outcome a line.',
      body: { bytesMax: LINE_BYTES_MAX, content: { [NDJSON]: 'binary' } },
      answers: { 200: { description: 'Outcomes in the order of lines.', content: { [NDJSON]: 'binary' } } },
      problems: ['table_not_found', ...BODY_PROBLEMS],
      handle: (call) => putLines(tables, call),
    },
    'DELETE /v1/tables/:table/records': {
      role: 'write',
      audit: 'clear',
      id: 'clearRecords',
      summary: 'Deletes the records within bounds; without any, all, if `confirm` is the name of the table.',
      query: CLEAR_QUERY,
      answers: { 200: json('Their number.', z.strictObject({ deleted: z.int() })) },
      problems: [...READ_PROBLEMS, 'conflict', 'unknown'],
      handle: (call) => clearRecords(tables, call),
    },
    'GET /v1/tables/:table/count': {
      role: 'read',
      id: 'countRecords',
      summary: 'The number of records within bounds.',
      query: COUNT_QUERY,
      answers: { 200: json('The number.', z.strictObject({ count: z.int() })) },
      problems: READ_PROBLEMS,
      handle: (call) => countRecords(tables, call),
    },
    'POST /v1/tables/:table/batch': {
      role: 'read',
      id: 'batch',
      summary:
        'Up to 1,000 operations, with an outcome each; `atomic` all or none. Puts and deletes need the role write.',
      body: { bytesMax: BATCH_BYTES_MAX, content: { [JSON_TYPE]: BATCH, [MEDIA_TYPE_OF.msgpack]: 'binary' } },
      answers: {
        200: {
          description: 'Outcomes in the order of operations.',
          content: { [JSON_TYPE]: OUTCOMES, [MEDIA_TYPE_OF.msgpack]: 'binary' },
        },
      },
      problems: ['table_not_found', 'precondition_failed', 'conflict', 'unknown', 'corrupt', ...BODY_PROBLEMS],
      handle: (call) => runBatch(tables, call),
    },
    'POST /v1/tables/:table/verify': {
      role: 'admin',
      id: 'verifyTable',
      summary: 'Reads all that is stored of a table, and tells what is wrong; `aborted` at the deadline.',
      answers: { 200: json('Counts and findings.', z.extend(COUNTS, { findings: z.array(z.looseObject({})) })) },
      problems: READ_PROBLEMS,
      handle: (call) => verify(tables, call),
    },
    'GET /v1/tables/:table/stats': {
      role: 'admin',
      id: 'tableStats',
      summary: 'Reads all that is stored of a table, and counts it; `aborted` at the deadline.',
      answers: { 200: json('Counts, also by level.', COUNTS) },
      problems: READ_PROBLEMS,
      handle: (call) => stats(tables, call),
    },
    'GET /v1/tables/:table/inspect': {
      role: 'admin',
      id: 'inspectContainer',
      summary: 'One container as it is stored: the root, the one named, or the leaf that owns a key.',
      query: INSPECT_QUERY,
      answers: { 200: json('Its header and pages.', z.looseObject({ container: z.string(), version: z.string() })) },
      problems: READ_PROBLEMS,
      handle: (call) => inspect(tables, call),
    },
  };
  return routes;
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
      body: { bytesMax: VALUE_BYTES_MAX, content: { [MERGE_PATCH]: ANY } },
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
        200: { ...json('The sum.', z.strictObject({ value: z.int() })), headers: { ...ETAG, ...EXPIRY } },
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
