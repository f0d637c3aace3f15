// POST of any number of records by lines. They are written in slices; two are in memory at a time.
import * as z from 'zod/mini';
import { encode, type EncodedValue, type PutItem, type PutOutcome } from '../../shared/store/index.ts';
import { checkType, encodedValue, readerOf } from '../http/content.ts';
import { checkExact } from '../http/json-text.ts';
import { Problem, toProblem } from '../http/problem.ts';
import type { Call } from '../http/route.ts';
import { parsed } from '../http/validate.ts';
import { outcomeText } from './batch.ts';
import { fromBase64, KEY, membersOf, plainOf } from './batch-body.ts';
import { begun, NDJSON, streamed } from './scan-handlers.ts';
import type { Tables } from './table-handlers.ts';

/** Holds a key and a record of 512 KiB, even if each byte is an escape of six characters. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

/** Two slices of 8 MiB, and the line that is read. */
const HELD_BYTES = 2 * 8 * 1024 * 1024 + LINE_BYTES_MAX;

/** As `stowage export` writes a record. */
const LINE = z.strictObject({
  key: KEY,
  codec: z.prefault(z.enum(['msgpack', 'json', 'bytes']), 'msgpack'),
  /** The bytes as sent. */
  value: z.exactOptional(z.instanceof(Uint8Array)),
  /** Instead of `value`: the bytes to store, in base64. */
  data: z.exactOptional(z.string()),
  expiresAtMs: z.exactOptional(z.int().check(z.minimum(0))),
});

/** Answers 200 once the first slice is written. A line that is no record ends the stream. */
export async function putLines(tables: Tables, call: Call): Promise<Response> {
  checkType(call.request, NDJSON);
  call.memory.take(HELD_BYTES);
  const reading = await tables.use(call.param('table'), call.bounds, (table) =>
    begun(table.putMany(itemsIn(call.lines()), call.bounds), textOf),
  );
  return streamed(reading, call);
}

async function* itemsIn(lines: AsyncIterable<Uint8Array>): AsyncGenerator<PutItem<EncodedValue>, void, undefined> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.length > 0) yield itemAt(number, line);
  }
}

function itemAt(number: number, line: Uint8Array): PutItem<EncodedValue> {
  try {
    return itemOf(line);
  } catch (error) {
    const { code, message, cause } = toProblem(error);
    throw new Problem(code, `line ${number}: ${message}`, { cause });
  }
}

function itemOf(line: Uint8Array): PutItem<EncodedValue> {
  const reader = readerOf('json', line);
  if (reader.kind === 'array') throw new Problem('invalid', 'expected an object');
  const members = membersOf(reader, (name) => (name === 'value' ? reader.value() : plainOf(LINE.shape, name, reader)));
  reader.end();
  const { codec, value, data, ...item } = parsed(LINE, members);
  if ((value === undefined) === (data === undefined)) throw new Problem('invalid', 'it takes one of value and data');
  if (data !== undefined) return { ...item, value: encodedValue(codec, fromBase64(data)) };
  if (codec === 'bytes') throw new Problem('invalid', 'bytes are given as data');
  return { ...item, value: codec === 'json' ? { codec, bytes: value! } : packed(Buffer.from(value!).toString()) };
}

/** Encodes the value as the library does, which wrote it into the export. */
function packed(json: string): EncodedValue {
  try {
    checkExact(json, 'the value');
  } catch (error) {
    throw new Problem('not_acceptable', (error as Error).message);
  }
  return encode('msgpack', JSON.parse(json));
}

function textOf(outcome: PutOutcome): string {
  return outcomeText(outcome.status === 'failed' ? { ...outcome, error: toProblem(outcome.error) } : outcome);
}
