// POST of a batch: puts, gets and deletes mixed, an outcome each, in JSON or MessagePack. Keys travel in the body, so every key can be
// reached here. Operations on one key take effect in their order; those on different keys run together.
import { z } from 'zod';
import type {
  CallOptions,
  DeleteOutcome,
  EncodedValue,
  GetOptions,
  GetOutcome,
  PutItem,
  PutOutcome,
} from '../shared/store/index.ts';
import type { Call, Route } from './app.ts';
import { reply } from './app.ts';
import { readBody } from './body.ts';
import type { Codec } from './content.ts';
import { codecOf, encodedValue, MEDIA_TYPE_OF, negotiated, parseJson } from './content.ts';
import { maxAgeMsOf, TTL_MS_MAX } from './headers.ts';
import { decodeMsgpack, encodeMsgpack } from './msgpack.ts';
import { queryOf } from './paths.ts';
import { Problem, toProblem } from './problem.ts';
import { recordText } from './scan.ts';
import type { RecordTable, Tables } from './tables.ts';
import { isoTime, tableNameOf } from './tables.ts';
import { parsed } from './validate.ts';

const BATCH_BYTES_MAX = 16 * 1024 * 1024;
const OPERATIONS_MAX = 1_000;
/** Bytes of found values in one answer: as base64 they stay under the hosts' 32 MB. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const PUT = z.strictObject({
  op: z.literal('put'),
  key: z.string(),
  /** A JSON value, or in a MessagePack batch any value; stored in the batch's own encoding. */
  value: z.unknown().exactOptional(),
  /** Instead of `value`: the bytes to store, as base64 text in JSON, with their `contentType`. */
  data: z.union([z.string(), z.instanceof(Uint8Array)]).exactOptional(),
  contentType: z.enum([MEDIA_TYPE_OF.json, MEDIA_TYPE_OF.msgpack, MEDIA_TYPE_OF.bytes]).exactOptional(),
  ifVersion: z.string().exactOptional(),
  ifAbsent: z.literal(true).exactOptional(),
  ttlMs: z.int().min(1).max(TTL_MS_MAX).exactOptional(),
});
const GET = z.strictObject({ op: z.literal('get'), key: z.string() });
const DELETE = z.strictObject({ op: z.literal('delete'), key: z.string(), ifVersion: z.string().exactOptional() });
const BATCH = z.strictObject({
  operations: z
    .array(z.discriminatedUnion('op', [PUT, GET, DELETE]))
    .min(1)
    .max(OPERATIONS_MAX),
});

type Put = z.output<typeof PUT>;
type Operation = z.output<typeof BATCH>['operations'][number];
type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** An operation that never reached the store. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

export function batchRoute(tables: Tables): Route {
  return { method: 'POST', path: '/v1/tables/:table/batch', role: 'read', handle: (call) => runBatch(tables, call) };
}

async function runBatch(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  queryOf(request, []);
  const codec = codecOf(request.headers.get('Content-Type'), ['json', 'msgpack']);
  const answerType = negotiated(
    request,
    codec === 'json' ? [MEDIA_TYPE_OF.json, MEDIA_TYPE_OF.msgpack] : [MEDIA_TYPE_OF.msgpack, MEDIA_TYPE_OF.json],
  );
  const body = await readBody(request, BATCH_BYTES_MAX, bounds.signal);
  const { operations } = parsed(BATCH, codec === 'json' ? parseJson(body) : plainBatch(decodeMsgpack(body)));
  if (operations.some(({ op }) => op !== 'get')) call.authorize('write');
  const maxAgeMs = maxAgeMsOf(request);
  const outcomes = await tables.use(tableNameOf(request), bounds, (table) =>
    runOperations(table, operations, codec, bounds, maxAgeMs),
  );
  boundAnswer(outcomes);
  if (answerType === MEDIA_TYPE_OF.json)
    return reply(
      answerType,
      `{"outcomes":[${outcomes.map((outcome, i) => outcomeText(outcome, operations[i]!)).join(',')}]}`,
    );
  return reply(
    answerType,
    encodeMsgpack({ outcomes: outcomes.map((outcome, i) => outcomeObject(outcome, operations[i]!)) }),
  );
}

/** The Maps of a decoded batch and of its operations as objects; the values within stay as they are. */
function plainBatch(decoded: unknown): unknown {
  const batch = plainMap(decoded) as { operations?: unknown };
  return Array.isArray(batch?.operations) ? { ...batch, operations: batch.operations.map(plainMap) } : batch;
}

function plainMap(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value as Map<string, unknown>) : value;
}

async function runOperations(
  table: RecordTable,
  operations: readonly Operation[],
  codec: Codec,
  bounds: CallOptions,
  maxAgeMs: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = Array.from({ length: operations.length });
  for (const wave of wavesOf(operations)) {
    const indexesOf = (op: Operation['op']): number[] => wave.filter((index) => operations[index]!.op === op);
    await Promise.all([
      runPuts(table, operations, indexesOf('put'), codec, bounds, outcomes),
      runGets(table, operations, indexesOf('get'), { ...bounds, maxAgeMs }, outcomes),
      runDeletes(table, operations, indexesOf('delete'), bounds, outcomes),
    ]);
  }
  return outcomes;
}

/** Groups of indexes to run one after the other: within a group no key meets operations of two kinds. */
function wavesOf(operations: readonly Operation[]): number[][] {
  const waves: number[][] = [];
  const lastOf = new Map<string, { wave: number; op: Operation['op'] }>();
  for (const [index, { key, op }] of operations.entries()) {
    const last = lastOf.get(key);
    const wave = last === undefined ? 0 : last.op === op ? last.wave : last.wave + 1;
    lastOf.set(key, { wave, op });
    (waves[wave] ??= []).push(index);
  }
  return waves;
}

async function runPuts(
  table: RecordTable,
  operations: readonly Operation[],
  indexes: readonly number[],
  codec: Codec,
  bounds: CallOptions,
  outcomes: Outcome[],
): Promise<void> {
  const items: PutItem<EncodedValue>[] = [];
  const sent: number[] = [];
  for (const index of indexes) {
    const put = operations[index] as Put;
    try {
      items.push(itemOf(put, codec));
      sent.push(index);
    } catch (error) {
      outcomes[index] = { status: 'failed', key: put.key, error: toProblem(error) };
    }
  }
  if (items.length === 0) return;
  const results = await table.putMany(items, bounds);
  for (const [i, index] of sent.entries()) outcomes[index] = results[i]!;
}

async function runGets(
  table: RecordTable,
  operations: readonly Operation[],
  indexes: readonly number[],
  options: GetOptions,
  outcomes: Outcome[],
): Promise<void> {
  if (indexes.length === 0) return;
  const results = await table.getMany(
    indexes.map((index) => operations[index]!.key),
    options,
  );
  for (const [i, index] of indexes.entries()) outcomes[index] = results[i]!;
}

async function runDeletes(
  table: RecordTable,
  operations: readonly Operation[],
  indexes: readonly number[],
  bounds: CallOptions,
  outcomes: Outcome[],
): Promise<void> {
  if (indexes.length === 0) return;
  const items = indexes.map((index) => {
    const { op: _, ...item } = operations[index] as z.output<typeof DELETE>;
    return item;
  });
  const results = await table.deleteMany(items, bounds);
  for (const [i, index] of indexes.entries()) outcomes[index] = results[i]!;
}

function itemOf(put: Put, codec: Codec): PutItem<EncodedValue> {
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
  return codec === 'json'
    ? { codec, bytes: Buffer.from(JSON.stringify(value)) }
    : { codec, bytes: encodeMsgpack(value) };
}

function bytesOf(data: string | Uint8Array, codec: Codec): Uint8Array {
  if (codec !== 'json' && typeof data !== 'string') return data;
  if (codec !== 'json' || typeof data !== 'string')
    throw new Problem('invalid', 'data is bin in MessagePack, base64 text in JSON');
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') !== data) throw new Problem('malformed', 'data is not base64 with padding');
  return bytes;
}

/** Found values beyond the answer's bound become failures: those that fit stay. */
function boundAnswer(outcomes: Outcome[]): void {
  let size = 0;
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status !== 'found') continue;
    size += outcome.value.bytes.length;
    if (size <= ANSWER_BYTES_MAX) continue;
    const error = new Problem(
      'too_large',
      `the answer exceeds ${ANSWER_BYTES_MAX} bytes: get this record in another batch`,
    );
    outcomes[index] = { status: 'failed', key: outcome.key, error };
  }
}

function isConditional(operation: Operation): boolean {
  return ('ifVersion' in operation && operation.ifVersion !== undefined) || 'ifAbsent' in operation;
}

function outcomeText(outcome: Outcome, operation: Operation): string {
  if (outcome.status !== 'found') return JSON.stringify(outcomeObject(outcome, operation));
  return `{"status":"found",${recordText(outcome).slice(1)}`;
}

/** In MessagePack a found record comes as `data`: the bytes that are stored, with their `contentType`. */
function outcomeObject(outcome: Outcome, operation: Operation): unknown {
  if (outcome.status === 'failed') {
    const { status, key, error } = outcome;
    return { status, key, problem: toProblem(error, isConditional(operation)).body() };
  }
  if (outcome.status !== 'found') return outcome;
  const { status, key, version, expiresAtMs, value } = outcome;
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: isoTime(expiresAtMs) };
  return { status, key, version, ...expiry, contentType: MEDIA_TYPE_OF[value.codec], data: value.bytes };
}
