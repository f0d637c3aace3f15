// Writes outcomes in JSON or MessagePack, and counts their bytes, as hosts refuse large answers.
import { setImmediate } from 'node:timers/promises';
import type { DeleteOutcome, EncodedValue, GetOutcome, PutOutcome } from '../../shared/store/index.ts';
import { MEDIA_TYPE_OF } from '../http/content.ts';
import type { MemoryShare } from '../http/body-memory.ts';
import { encodeMsgpack, msgpackHead } from '../http/msgpack-content.ts';
import { Problem, toProblem } from '../http/problem.ts';
import type { Operation } from './batch-body.ts';
import { recordHead, recordText } from './record-text.ts';

/** With 1,000 failures of at most 7 KB, an answer still stays below the 32 MB that hosts allow. */
export const OUTCOMES_BYTES_MAX = 24 * 1024 * 1024;

export type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** The operation never reached the store, or its record does not fit the answer. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

export function answerFull(): Problem {
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

/** `retryAfter` is in seconds, from the first failure that asks for a pause. */
type Bounded<Written> = { readonly written: Written; readonly retryAfter: string | undefined };

/**
 * Writes `outcomes[i]` of `operations[i]`. After the first record that does not fit or is late, all
 * records fail. Outcomes of writes are never left out.
 */
export async function batchAnswer(
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
  way: AnswerWay,
): Promise<{ readonly answer: string | Uint8Array; readonly retryAfter: string | undefined }> {
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
): Promise<Bounded<Written[]>> {
  const written = outcomes.map((outcome) => (outcome.status === 'found' ? undefined : write(outcome)));
  let bytesLeft = written.reduce((left, one) => left - Buffer.byteLength(one ?? ''), OUTCOMES_BYTES_MAX);
  let sinceTurn = 0;
  /** Gets of one key share their outcome, so each record is converted once. */
  const records = new Map<Found, Written>();

  /** Writes the next record. Throws the Problem for which it and all later ones fail. */
  const fitting = async (found: Found): Promise<Written> => {
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
