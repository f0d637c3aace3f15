// Handlers of one record. The store judges conditions; lists of tags and `If-Match: *` take a read.
import { type EncodedValue, type Entry, StoreError } from '../../shared/store/index.ts';
import {
  type Conditions,
  conditionsOf,
  entityTag,
  type Guard,
  guardOf,
  isExpected,
  isKnown,
  passes,
} from '../http/if-match.ts';
import { codecOf, encodedValue, MEDIA_TYPE_OF, present, VALUE_BYTES_MAX } from '../http/content.ts';
import { CACHING, maxAgeMsOf, ttlOf } from '../http/headers.ts';
import { originForm } from '../http/paths.ts';
import { Problem } from '../http/problem.ts';
import { type Call, reply } from '../http/route.ts';
import { isoTime, type RecordTable, type Tables } from './table-handlers.ts';

/** How often it reads, judges and writes again if other writers come between. */
const ROUNDS_MAX = 8;

/** GET and HEAD: the record, or 304 if the caller has it. Takes one read. */
export async function getRecord(tables: Tables, { request, bounds, param, memory }: Call): Promise<Response> {
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
export async function putRecord(tables: Tables, call: Call): Promise<Response> {
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
export async function deleteRecord(tables: Tables, { request, bounds, param }: Call): Promise<Response> {
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

export function recordNotFound(): Problem {
  return new Problem('record_not_found', 'there is no record under this key');
}

export function preconditionFailed(): Problem {
  const detail = 'the record is not as If-Match or If-None-Match demands: read it, decide again';
  return new Problem('precondition_failed', detail);
}

export function headersOf({ expiresAtMs, ageMs }: Entry<EncodedValue>, tag: string): Record<string, string> {
  return {
    ...CACHING,
    ETag: tag,
    ...(ageMs === undefined ? {} : { Age: String(Math.floor(ageMs / 1_000)) }),
    ...(expiresAtMs === undefined ? {} : { 'Stowage-Expires-At': isoTime(expiresAtMs) }),
  };
}
