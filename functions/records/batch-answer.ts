// Outcomes in JSON or MessagePack. Bytes are counted as written: hosts refuse a too large answer.
import { setImmediate } from 'node:timers/promises';
import type { DeleteOutcome, EncodedValue, GetOutcome, PutOutcome } from '../../shared/store/index.ts';
import { MEDIA_TYPE_OF } from '../http/content.ts';
import type { MemoryShare } from '../http/body-memory.ts';
import { encodeMsgpack, msgpackHead } from '../http/msgpack-content.ts';
import { Problem, toProblem } from '../http/problem.ts';
import type { Operation } from './batch-body.ts';
import { recordHead, recordText } from './record-text.ts';

/** A failure takes at most 7 KB, so 1,000 more stay under the 32 MB that hosts pass. */
export const OUTCOMES_BYTES_MAX = 24 * 1024 * 1024;

/** The end of one operation of a batch. */
export type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** It never reached the store, or its record does not fit the answer. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

export function answerFull(): Problem {
  return new Problem('too_large', `the answer exceeds ${OUTCOMES_BYTES_MAX} bytes: get this record in another batch`);
}

const LATE = 'the deadline passed before this record was converted: get it in another batch';

/** Bytes converted before other requests get a turn: some milliseconds of work. */
const TURN_BYTES = 64 * 1024;

/** How the answer is written. */
export interface AnswerWay {
  readonly mediaType: string;
  readonly signal: AbortSignal;
  /** Holds the records of the answer. */
  readonly memory: Pick<MemoryShare, 'take'>;
}

export interface BatchAnswer {
  readonly answer: string | Uint8Array;
  /** Of the first failure that asks for a pause, in seconds. */
  readonly retryAfter: string | undefined;
}

/**
 * `outcomes[i]` of `operations[i]`. From the first record that does not fit or is late, found
 * records fail. Writes are always told.
 */
export async function batchAnswer(
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
  way: AnswerWay,
): Promise<BatchAnswer> {
  const told = outcomes.map((outcome, i) =>
    outcome.status === 'failed'
      ? { ...outcome, error: toProblem(outcome.error, isConditional(operations[i]!)) }
      : outcome,
  );
  if (way.mediaType === MEDIA_TYPE_OF.json) {
    const { written, retryAfter } = await writeBounded(told, way, outcomeText);
    return { answer: `{"outcomes":[${written.join(',')}]}`, retryAfter };
  }
  const { written, retryAfter } = await writeBounded(told, way, (outcome) => encodeMsgpack(outcomeObject(outcome)));
  const head = [msgpackHead('map', 1), encodeMsgpack('outcomes'), msgpackHead('array', written.length)];
  return { answer: Buffer.concat([...head, ...written]), retryAfter };
}

async function writeBounded<Written extends string | Uint8Array>(
  outcomes: readonly Told[],
  { signal, memory }: AnswerWay,
  write: (outcome: Told) => Written,
): Promise<{ written: Written[]; retryAfter: string | undefined }> {
  const written = outcomes.map((outcome) => (outcome.status === 'found' ? undefined : write(outcome)));
  let bytesLeft = written.reduce((left, one) => left - Buffer.byteLength(one ?? ''), OUTCOMES_BYTES_MAX);
  let sinceTurn = 0;
  /** Each is converted once, for gets of one key share their outcome. */
  const records = new Map<Found, Written>();

  /** The next record. Throws the Problem why neither it nor any later one is given. */
  const fitting = async (found: Found): Promise<Written> => {
    if (!records.has(found)) {
      if (sinceTurn >= TURN_BYTES) {
        // The signal aborts in a turn of others, if it does.
        await setImmediate();
        sinceTurn = 0;
        if (signal.aborted) throw new Problem('aborted', LATE);
      }
      sinceTurn += found.value.bytes.length;
      records.set(found, write(found));
    }
    const record = records.get(found)!;
    bytesLeft -= Buffer.byteLength(record);
    if (bytesLeft < 0) throw answerFull();
    memory.take(Buffer.byteLength(record));
    return record;
  };

  let obstacle: Problem | undefined;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status !== 'found') continue;
    try {
      if (obstacle !== undefined) throw obstacle;
      written[i] = await fitting(outcome);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      obstacle = error;
      written[i] = write({ status: 'failed', key: outcome.key, error });
    }
  }
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
  const pauses = [obstacle, ...failures].flatMap((problem) => problem?.headers['Retry-After'] ?? []);
  return { written: written as Written[], retryAfter: pauses[0] };
}

/** An outcome whose failure is one of HTTP. */
type Told = Exclude<Outcome, { status: 'failed' }> | Refusal;
type Found = Extract<Outcome, { status: 'found' }>;

export function isConditional(operation: Operation): boolean {
  return ('ifVersion' in operation && operation.ifVersion !== undefined) || 'ifAbsent' in operation;
}

/** As JSON. */
export function outcomeText(outcome: Told): string {
  if (outcome.status !== 'found') return JSON.stringify(outcomeObject(outcome));
  return `{"status":"found",${recordText(outcome).slice(1)}`;
}

/** In MessagePack a record's `data` is the stored bytes, with their `contentType`. */
function outcomeObject(outcome: Told): unknown {
  if (outcome.status === 'failed') {
    const { status, key, error } = outcome;
    // Half a surrogate pair is a refused key, and would make the MessagePack unreadable.
    return { status, key: key.toWellFormed(), problem: error.body() };
  }
  if (outcome.status !== 'found') return outcome;
  return { status: 'found', ...recordHead(outcome), data: outcome.value.bytes };
}
