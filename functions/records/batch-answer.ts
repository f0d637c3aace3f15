// The answer to a batch: an outcome for each operation, in their order, in JSON or MessagePack. Its bytes are counted as they are written,
// for a host refuses a larger answer as a whole, and its caller would learn nothing of what was written.
import type { DeleteOutcome, EncodedValue, GetOutcome, PutOutcome } from '../../shared/store/index.ts';
import { MEDIA_TYPE_OF } from '../http/content.ts';
import { encodeMsgpack, msgpackHead } from '../http/msgpack.ts';
import { Problem, toProblem } from '../http/problem.ts';
import type { Operation } from './batch-body.ts';
import { recordText } from './record-text.ts';
import { isoTime } from './tables.ts';

/**
 * Bytes of all outcomes. Where they would be more, found records become failures. Such a failure takes some 7 KB at the worst, where every byte
 * of a key of 1,024 has to be escaped; so with 1,000 of them the answer still stays under the 32 MB that hosts let pass.
 */
const OUTCOMES_BYTES_MAX = 24 * 1024 * 1024;

/** How one operation of a batch ended. */
export type Outcome = GetOutcome<EncodedValue> | PutOutcome | DeleteOutcome | Refusal;

/** An operation that the function refused: it never reached the store, or its record does not fit the answer. */
interface Refusal {
  readonly status: 'failed';
  readonly key: string;
  readonly error: Problem;
}

/** The body of the answer: `outcomes[i]` is that of `operations[i]`. From the first found record on that does not fit, all found ones fail. */
export function batchAnswer(
  mediaType: string,
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
): string | Uint8Array {
  if (mediaType === MEDIA_TYPE_OF.json)
    return `{"outcomes":[${writeBounded(operations, outcomes, outcomeText).join(',')}]}`;
  const written = writeBounded(operations, outcomes, (...one) => encodeMsgpack(outcomeObject(...one)));
  const head = [msgpackHead('map', 1), encodeMsgpack('outcomes'), msgpackHead('array', written.length)];
  return Buffer.concat([...head, ...written]);
}

function writeBounded<Written extends string | Uint8Array>(
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
  write: (outcome: Outcome, operation: Operation) => Written,
): Written[] {
  const written = outcomes.map((outcome, i) =>
    outcome.status === 'found' ? undefined : write(outcome, operations[i]!),
  );
  let bytesLeft = written.reduce((left, one) => left - Buffer.byteLength(one ?? ''), OUTCOMES_BYTES_MAX);
  const writeFound = (outcome: Outcome, operation: Operation): Written => {
    // When the answer is full nothing more is converted: that would be work in vain.
    if (bytesLeft > 0) {
      const found = write(outcome, operation);
      bytesLeft -= Buffer.byteLength(found);
      if (bytesLeft >= 0) return found;
    }
    return write(refusalOf(outcome.key), operation);
  };
  return written.map((one, i) => one ?? writeFound(outcomes[i]!, operations[i]!));
}

function refusalOf(key: string): Refusal {
  const detail = `the answer exceeds ${OUTCOMES_BYTES_MAX} bytes: get this record in another batch`;
  return { status: 'failed', key, error: new Problem('too_large', detail) };
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
