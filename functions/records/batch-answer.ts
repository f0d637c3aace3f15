// Outcomes in JSON or MessagePack. Bytes are counted as written: hosts refuse a too large answer.
import { setImmediate } from 'node:timers/promises';
import type { DeleteOutcome, EncodedValue, GetOutcome, PutOutcome } from '../../shared/store/index.ts';
import { MEDIA_TYPE_OF } from '../http/content.ts';
import { encodeMsgpack, msgpackHead } from '../http/msgpack.ts';
import { Problem, toProblem } from '../http/problem.ts';
import type { Operation } from './batch-body.ts';
import { recordHead, recordText } from './record-text.ts';

/** A failure takes at most 7 KB, so 1,000 more stay under the 32 MB that hosts pass. */
const OUTCOMES_BYTES_MAX = 24 * 1024 * 1024;

/** The end of one operation of a batch. */
export type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** It never reached the store, or its record does not fit the answer. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

const FULL = `the answer exceeds ${OUTCOMES_BYTES_MAX} bytes: get this record in another batch`;
const LATE = 'the deadline passed before this record was converted: get it in another batch';

/** Bytes converted before other requests get a turn: some milliseconds of work. */
const TURN_BYTES = 64 * 1024;

/**
 * `outcomes[i]` of `operations[i]`. From the first record that does not fit or is late, found
 * records fail. Writes are always told.
 */
export async function batchAnswer(
  mediaType: string,
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
  signal: AbortSignal,
): Promise<string | Uint8Array> {
  const told = outcomes.map((outcome, i) =>
    outcome.status === 'failed'
      ? { ...outcome, error: toProblem(outcome.error, isConditional(operations[i]!)) }
      : outcome,
  );
  if (mediaType === MEDIA_TYPE_OF.json)
    return `{"outcomes":[${(await writeBounded(told, signal, outcomeText)).join(',')}]}`;
  const written = await writeBounded(told, signal, (outcome) => encodeMsgpack(outcomeObject(outcome)));
  const head = [msgpackHead('map', 1), encodeMsgpack('outcomes'), msgpackHead('array', written.length)];
  return Buffer.concat([...head, ...written]);
}

async function writeBounded<Written extends string | Uint8Array>(
  outcomes: readonly Told[],
  signal: AbortSignal,
  write: (outcome: Told) => Written,
): Promise<Written[]> {
  const written = outcomes.map((outcome) => (outcome.status === 'found' ? undefined : write(outcome)));
  let bytesLeft = written.reduce((left, one) => left - Buffer.byteLength(one ?? ''), OUTCOMES_BYTES_MAX);
  let sinceTurn = 0;
  /** Each is converted once, for gets of one key share their outcome. */
  const records = new Map<Found, Written>();

  /** The next record, or why neither it nor any later one is given. */
  const fitting = async (found: Found): Promise<Written | Problem> => {
    if (!records.has(found)) {
      if (sinceTurn >= TURN_BYTES) {
        // The signal aborts in a turn of others, if it does.
        await setImmediate();
        sinceTurn = 0;
        if (signal.aborted) return new Problem('aborted', LATE);
      }
      sinceTurn += found.value.bytes.length;
      records.set(found, write(found));
    }
    const record = records.get(found)!;
    bytesLeft -= Buffer.byteLength(record);
    return bytesLeft < 0 ? new Problem('too_large', FULL) : record;
  };

  let obstacle: Problem | undefined;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status !== 'found') continue;
    const found = obstacle ?? (await fitting(outcome));
    if (found instanceof Problem) obstacle = found;
    written[i] = found instanceof Problem ? write({ status: 'failed', key: outcome.key, error: found }) : found;
  }
  return written as Written[];
}

/** An outcome whose failure is one of HTTP. */
type Told = Exclude<Outcome, { status: 'failed' }> | Refusal;
type Found = Extract<Outcome, { status: 'found' }>;

function isConditional(operation: Operation): boolean {
  return ('ifVersion' in operation && operation.ifVersion !== undefined) || 'ifAbsent' in operation;
}

function outcomeText(outcome: Told): string {
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
