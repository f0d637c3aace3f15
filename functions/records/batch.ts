// POST of a batch: puts, gets and deletes mixed, an outcome each, in JSON or MessagePack. Keys travel in the body, so every key can be
// reached here. Operations on one key take effect in their order; those on different keys run together.
import type {
  CallOptions,
  DeleteOutcome,
  EncodedValue,
  GetOptions,
  GetOutcome,
  PutItem,
  PutOutcome,
} from '../../shared/store/index.ts';
import { type Call, reply, type Route } from '../http/app.ts';
import { readBody } from '../http/body.ts';
import { type Codec, codecOf, MEDIA_TYPE_OF, negotiated } from '../http/content.ts';
import { maxAgeMsOf } from '../http/headers.ts';
import { encodeMsgpack } from '../http/msgpack.ts';
import { queryOf } from '../http/paths.ts';
import { Problem, toProblem } from '../http/problem.ts';
import { type Delete, itemOf, type Operation, operationsOf, type Put } from './batch-body.ts';
import { recordText } from './scan.ts';
import { isoTime, type RecordTable, tableNameOf, type Tables } from './tables.ts';

const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes of found values in one answer: as base64 they stay under the hosts' 32 MB. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

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
  const operations = operationsOf(body, codec);
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
    const { op: _, ...item } = operations[index] as Delete;
    return item;
  });
  const results = await table.deleteMany(items, bounds);
  for (const [i, index] of indexes.entries()) outcomes[index] = results[i]!;
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
    // A key with half a surrogate pair is refused, and would make the MessagePack of all outcomes unreadable.
    return { status, key: key.toWellFormed(), problem: toProblem(error, isConditional(operation)).body() };
  }
  if (outcome.status !== 'found') return outcome;
  const { status, key, version, expiresAtMs, value } = outcome;
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: isoTime(expiresAtMs) };
  return { status, key, version, ...expiry, contentType: MEDIA_TYPE_OF[value.codec], data: value.bytes };
}
