// POST of a batch. Operations on one key run in order, those on different keys at the same time.
// Outcomes are written in JSON or MessagePack, and counted, as hosts refuse large answers.
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import type {
  BatchItem,
  CallOptions,
  DeleteItem,
  DeleteOutcome,
  EncodedValue,
  GetOutcome,
  PutItem,
  PutOutcome,
} from '../../shared/store/index.ts';
import { type MemoryShare, noMemory } from '../http/body-memory.ts';
import {
  codecOf,
  MEDIA_TYPE_OF,
  negotiated,
  recordHead,
  recordText,
  type StructuredCodec,
  VALUE_BYTES_MAX,
} from '../http/content.ts';
import { maxAgeMsOf } from '../http/headers.ts';
import { encodeMsgpack, msgpackHead } from '../http/msgpack-content.ts';
import { Problem, toProblem } from '../http/problem.ts';
import { BODY_PROBLEMS, type Call, reply, type RouteTable } from '../http/route.ts';
import { BATCH, BATCH_BYTES_MAX, batchIn, type Delete, itemOf, type Operation, type Put } from './batch-body.ts';
import type { RecordTable, Tables } from './table-handlers.ts';

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

export function batchRoutes(tables: Tables): RouteTable {
  return {
    'POST /v1/tables/:table/batch': {
      role: 'read',
      id: 'batch',
      summary:
        'Up to 1,000 operations, with an outcome each; `atomic` all or none. Puts and deletes need the role write.',
      body: { bytesMax: BATCH_BYTES_MAX, content: { [MEDIA_TYPE_OF.json]: BATCH, [MEDIA_TYPE_OF.msgpack]: 'binary' } },
      answers: {
        200: {
          description: 'Outcomes in the order of operations.',
          content: { [MEDIA_TYPE_OF.json]: OUTCOMES, [MEDIA_TYPE_OF.msgpack]: 'binary' },
        },
      },
      problems: ['table_not_found', 'precondition_failed', 'conflict', 'unknown', 'corrupt', ...BODY_PROBLEMS],
      handle: (call) => runBatch(tables, call),
    },
  };
}

/** Gets need the role `read`, puts and deletes the role `write`. */
async function runBatch(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const name = call.param('table');
  const codec = codecOf(request.headers.get('Content-Type'), ['json', 'msgpack']);
  const { json, msgpack } = MEDIA_TYPE_OF;
  const answerType = negotiated(request, codec === 'json' ? [json, msgpack] : [msgpack, json]);
  const body = await call.body();
  const { atomic = false, operations } = batchIn(body, codec);
  if (operations.some(({ op }) => op !== 'get')) call.authorize('write');
  const values = valuesIn(operations, call.memory);
  const maxAgeMs = maxAgeMsOf(request);
  const outcomes = await tables.use(name, bounds, (table) =>
    atomic
      ? runTogether(operations, { table, codec, bounds })
      : runOperations(operations, { table, codec, maxAgeMs, values, bounds }),
  );
  call.memory.giveBack(values.bytesLeft);
  const way = { mediaType: answerType, signal: bounds.signal, memory: call.memory };
  const { answer, retryAfter } = await batchAnswer(operations, outcomes, way);
  return reply(answerType, answer, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}

/** The memory of the values that a batch gets. */
interface Values {
  bytesLeft: number;
  /** The error of a record for which not enough memory is left. */
  readonly refusal: Problem;
}

/** Takes what the gets can need at most, or as much as the instance has for one request. */
function valuesIn(operations: readonly Operation[], memory: MemoryShare): Values {
  const gets = operations.filter(({ op }) => op === 'get').length;
  const bytesLeft = memory.takeUpTo(Math.min(gets * VALUE_BYTES_MAX, OUTCOMES_BYTES_MAX));
  return { bytesLeft, refusal: bytesLeft === OUTCOMES_BYTES_MAX ? answerFull() : noMemory() };
}

interface Way {
  readonly table: RecordTable;
  /** The codec of the batch's values. */
  readonly codec: StructuredCodec;
  /** The greatest age of records that gets find, in milliseconds. */
  readonly maxAgeMs: number;
  readonly values: Values;
  readonly bounds: CallOptions;
}

/** Runs operations of one kind. Gives their outcomes in the same order. */
type Run = (operations: readonly Operation[], way: Way) => Promise<readonly Outcome[]>;

const RUNS: Readonly<Record<Operation['op'], Run>> = { put: runPuts, get: runGets, delete: runDeletes };

async function runOperations(operations: readonly Operation[], way: Way): Promise<Outcome[]> {
  const outcomes: Outcome[] = Array.from({ length: operations.length });
  for (const group of groupInOrder(operations)) {
    const kinds = Map.groupBy(group, (index) => operations[index]!.op);
    const running = [...kinds].map(async ([op, indexes]) => {
      const one = indexes.map((index) => operations[index]!);
      const results = await RUNS[op](one, way);
      for (const [i, index] of indexes.entries()) outcomes[index] = results[i]!;
    });
    await Promise.all(running);
  }
  return outcomes;
}

/** Either all operations take effect, or none does and the batch fails as a whole. */
async function runTogether(
  operations: readonly Operation[],
  { table, codec, bounds }: Pick<Way, 'table' | 'codec' | 'bounds'>,
): Promise<readonly Outcome[]> {
  const items = operations.map((operation, index) => {
    try {
      return batchItemOf(operation, codec);
    } catch (error) {
      const { code, message } = toProblem(error);
      throw new Problem(code, `operations.${index}: ${message}`);
    }
  });
  const results = await table.batch(items, bounds).catch((error: unknown) => {
    throw toProblem(error, operations.some(isConditional));
  });
  return results.map(({ key, version }, index): Outcome => {
    if (version === undefined) return { status: 'absent', key };
    return { status: operations[index]!.op === 'put' ? 'written' : 'deleted', key, version };
  });
}

function batchItemOf(operation: Operation, codec: StructuredCodec): BatchItem<EncodedValue> {
  if (operation.op === 'put') return itemOf(operation, codec);
  if (operation.op === 'get') throw new Problem('invalid', 'an atomic batch only puts and deletes');
  const { op: _, ...item } = operation;
  return { ...item, delete: true };
}

/** Groups of indexes to run one after the other. In a group a key's operations are of one kind. */
function groupInOrder(operations: readonly Operation[]): number[][] {
  const groups: number[][] = [];
  const lastOf = new Map<string, { group: number; op: Operation['op'] }>();
  for (const [index, { key, op }] of operations.entries()) {
    const last = lastOf.get(key);
    const group = last === undefined ? 0 : last.op === op ? last.group : last.group + 1;
    lastOf.set(key, { group, op });
    (groups[group] ??= []).push(index);
  }
  return groups;
}

/** A put whose value cannot be stored fails alone; the others are sent. */
async function runPuts(operations: readonly Operation[], { table, codec, bounds }: Way): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const items: PutItem<EncodedValue>[] = [];
  const sent: number[] = [];
  for (const [index, operation] of operations.entries()) {
    try {
      items.push(itemOf(operation as Put, codec));
      sent.push(index);
    } catch (error) {
      outcomes[index] = { status: 'failed', key: operation.key, error: toProblem(error) };
    }
  }
  if (items.length === 0) return outcomes;
  const results = await table.putMany(items, bounds);
  for (const [i, index] of sent.entries()) outcomes[index] = results[i]!;
  return outcomes;
}

/** Asks for each record once, because the store would give a copy to each who asks. */
async function runGets(
  operations: readonly Operation[],
  { table, maxAgeMs, values, bounds }: Way,
): Promise<readonly Outcome[]> {
  const keys = [...new Set(operations.map(({ key }) => key))];
  const outcomes = await table.getMany(keys, { ...bounds, maxAgeMs, bytesMax: values.bytesLeft });
  const outcomeOf = new Map(
    outcomes.map((outcome): [string, Outcome] => {
      if (outcome.status === 'found') values.bytesLeft -= outcome.value.bytes.length;
      const isBeyond = outcome.status === 'failed' && outcome.error.code === 'too_large';
      return [outcome.key, isBeyond ? { ...outcome, error: values.refusal } : outcome];
    }),
  );
  return operations.map(({ key }) => outcomeOf.get(key)!);
}

function runDeletes(operations: readonly Operation[], { table, bounds }: Way): Promise<readonly Outcome[]> {
  const items = operations.map((operation): DeleteItem => {
    const { op: _, ...item } = operation as Delete;
    return item;
  });
  return table.deleteMany(items, bounds);
}

/** With 1,000 failures of at most 7 KB, an answer still stays below the 32 MB that hosts allow. */
const OUTCOMES_BYTES_MAX = 24 * 1024 * 1024;

export type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** The operation never reached the store, or its record does not fit the answer. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

function answerFull(): Problem {
  return new Problem('too_large', `the answer exceeds ${OUTCOMES_BYTES_MAX} bytes: get this record in another batch`);
}

const LATE = 'the deadline passed before this record was converted: get it in another batch';

/** After so many bytes, which take some milliseconds, other requests get a turn. */
const TURN_BYTES = 64 * 1024;

/** How the answer is written. */
export interface AnswerWay {
  readonly mediaType: string;
  readonly signal: AbortSignal;
  /** Holds the records of the answer. */
  readonly memory: Pick<MemoryShare, 'take'>;
}

interface Written {
  readonly answer: Uint8Array;
  /** In seconds, from the first failure that asks for a pause. */
  readonly retryAfter: string | undefined;
}

/**
 * Writes `outcomes[i]` of `operations[i]`. After the first record that does not fit or is late, all
 * records fail. Outcomes of writes are never left out.
 */
export async function batchAnswer(
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
  way: AnswerWay,
): Promise<Written> {
  const told = outcomes.map((outcome, i) =>
    outcome.status === 'failed'
      ? { ...outcome, error: toProblem(outcome.error, isConditional(operations[i]!)) }
      : outcome,
  );
  if (way.mediaType === MEDIA_TYPE_OF.json) {
    const { parts, retryAfter } = await partsOf(told, way, (outcome) => Buffer.from(outcomeText(outcome)));
    const list = parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from(','), part]));
    return { answer: Buffer.concat([Buffer.from('{"outcomes":['), ...list, Buffer.from(']}')]), retryAfter };
  }
  const { parts, retryAfter } = await partsOf(told, way, (outcome) => encodeMsgpack(outcomeObject(outcome)));
  const head = [msgpackHead('map', 1), encodeMsgpack('outcomes'), msgpackHead('array', parts.length)];
  return { answer: Buffer.concat([...head, ...parts]), retryAfter };
}

async function partsOf(
  outcomes: readonly Told[],
  { signal, memory }: AnswerWay,
  write: (outcome: Told) => Uint8Array,
): Promise<{ parts: Uint8Array[]; retryAfter: string | undefined }> {
  const parts = outcomes.map((outcome) => (outcome.status === 'found' ? undefined : write(outcome)));
  let bytesLeft = parts.reduce((left, part) => left - (part?.length ?? 0), OUTCOMES_BYTES_MAX);
  let sinceTurn = 0;
  /** Gets of one key share their outcome, so each record is converted once. */
  const records = new Map<Found, Uint8Array>();

  /** Writes the next record. Throws the Problem for which it and all later ones fail. */
  const fitting = async (found: Found): Promise<Uint8Array> => {
    if (!records.has(found)) {
      if (sinceTurn >= TURN_BYTES) {
        // The signal can abort only in this turn of others.
        await setImmediate();
        sinceTurn = 0;
        if (signal.aborted) throw new Problem('aborted', LATE);
      }
      sinceTurn += found.value.bytes.length;
      records.set(found, write(found));
    }
    const record = records.get(found)!;
    bytesLeft -= record.length;
    if (bytesLeft < 0) throw answerFull();
    memory.take(record.length);
    return record;
  };

  let obstacle: Problem | undefined;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status !== 'found') continue;
    try {
      if (obstacle !== undefined) throw obstacle;
      parts[i] = await fitting(outcome);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      obstacle = error;
      parts[i] = write({ status: 'failed', key: outcome.key, error });
    }
  }
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
  const pauses = [obstacle, ...failures].flatMap((problem) => problem?.headers['Retry-After'] ?? []);
  return { parts: parts as Uint8Array[], retryAfter: pauses[0] };
}

/** An outcome whose failure is one of HTTP. */
type Told = Exclude<Outcome, { status: 'failed' }> | Refusal;
type Found = Extract<Outcome, { status: 'found' }>;

function isConditional(operation: Operation): boolean {
  return ('ifVersion' in operation && operation.ifVersion !== undefined) || 'ifAbsent' in operation;
}

export function outcomeText(outcome: Told): string {
  if (outcome.status !== 'found') return JSON.stringify(outcomeObject(outcome));
  return `{"status":"found",${recordText(outcome).slice(1)}`;
}

/** In MessagePack a record's `data` is the stored bytes, with their `contentType`. */
function outcomeObject(outcome: Told): unknown {
  if (outcome.status === 'failed') {
    const { status, key, error } = outcome;
    // A refused key may have half a surrogate pair, which would make the MessagePack unreadable.
    return { status, key: key.toWellFormed(), problem: error.body() };
  }
  if (outcome.status !== 'found') return outcome;
  return { status: 'found', ...recordHead(outcome), data: outcome.value.bytes };
}
