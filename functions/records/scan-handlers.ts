// The records of a table: as a JSON page or a stream of lines, which was cut off unless its last
// line is `end` or `error`; and put by any number of lines, in slices of which two are in memory.
import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod/mini';
import {
  encode,
  type EncodedValue,
  type PutItem,
  type PutOutcome,
  type ScanOptions,
} from '../../shared/store/index.ts';
import type { MemoryShare } from '../http/body-memory.ts';
import { checkType, encodedValue, MEDIA_TYPE_OF, negotiated, readerOf, recordText } from '../http/content.ts';
import { CACHING } from '../http/headers.ts';
import { checkExact } from '../http/json-text.ts';
import { rawPath, rawQuery } from '../http/paths.ts';
import { Problem, toProblem } from '../http/problem.ts';
import {
  BODY_PROBLEMS,
  type Call,
  jsonAnswer,
  READ_PROBLEMS,
  reply,
  replyJson,
  type RouteTable,
} from '../http/route.ts';
import { numberLike, parsed } from '../http/validate.ts';
import { outcomeText } from './batch.ts';
import { fromBase64, KEY, membersOf, plainOf } from './batch-body.ts';
import type { Tables } from './table-handlers.ts';

const PAGE_RECORDS_DEFAULT = 100;
const PAGE_RECORDS_MAX = 1_000;
/** A page ends behind this size, by at most the 3 MiB of its last record. Hosts allow 32 MB. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** A stream holds its first record, then one chunk, whose last record has at most 3 MiB. */
const STREAM_BYTES = 4 * 1024 * 1024;

const text = z.exactOptional(z.string());
const RANGE = { prefix: text, from: text, after: text, to: text, through: text };
const words = z.transform((given: unknown) => (given === 'true' || given === 'false' ? given === 'true' : given));
const isTrue = z.pipe(words, z.boolean('expected true or false'));
const count = z.int().check(z.minimum(1), z.maximum(Number.MAX_SAFE_INTEGER));

const COUNT_QUERY = z.strictObject(RANGE);

/** Without bounds, `confirm` has to be the table's name. */
const CLEAR_QUERY = z.strictObject({ ...RANGE, confirm: text });

/** A page has 1,000 records at most, a stream all. */
const SCAN_QUERY = z.strictObject({
  ...RANGE,
  reverse: z.exactOptional(isTrue),
  limit: z.exactOptional(z.pipe(numberLike(/^\d{1,16}$/), count)),
  cursor: text,
});

const RECORD = z.object({
  key: z.string(),
  version: z.string(),
  expiresAt: z.exactOptional(z.iso.datetime()),
  contentType: z.string(),
  value: z.exactOptional(z.any()),
  data: z.exactOptional(z.string()),
});
const PAGE = z.strictObject({ records: z.array(RECORD), cursor: z.exactOptional(z.string()) });

/** The routes of a table's records. */
export function listRoutes(tables: Tables): RouteTable {
  return {
    'GET /v1/tables/:table/records': {
      role: 'read',
      id: 'scanRecords',
      summary: 'Records in order: a JSON page of 100, 1,000 at most, or a stream of lines.',
      query: SCAN_QUERY,
      answers: {
        200: {
          description: 'Records, and where to go on.',
          headers: { Link: 'The next page (RFC 8288).' },
          content: { [MEDIA_TYPE_OF.json]: PAGE, [NDJSON]: 'binary' },
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
      answers: { 200: jsonAnswer('Their number.', z.strictObject({ deleted: z.int() })) },
      problems: [...READ_PROBLEMS, 'conflict', 'unknown'],
      handle: async ({ bounds, query, param }) => {
        // If the deadline ends it early, the same request deletes the rest.
        const { confirm, ...range } = parsed(CLEAR_QUERY, query);
        const name = param('table');
        if (Object.keys(range).length === 0 && confirm !== name) throw new Problem('invalid', UNCONFIRMED);
        return replyJson({ deleted: await tables.use(name, bounds, (table) => table.clear({ ...bounds, ...range })) });
      },
    },
    'GET /v1/tables/:table/count': {
      role: 'read',
      id: 'countRecords',
      summary: 'The number of records within bounds.',
      query: COUNT_QUERY,
      answers: { 200: jsonAnswer('The number.', z.strictObject({ count: z.int() })) },
      problems: READ_PROBLEMS,
      handle: async ({ bounds, query, param }) => {
        const range = parsed(COUNT_QUERY, query);
        const count = await tables.use(param('table'), bounds, (table) => table.count({ ...bounds, ...range }));
        return replyJson({ count });
      },
    },
  };
}

const UNCONFIRMED =
  'without a prefix or other bounds this deletes all records: add ?confirm= and the name of the table';

async function scanRecords(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const { limit: given, ...range } = parsed(SCAN_QUERY, call.query);
  const contentType = negotiated(request, [MEDIA_TYPE_OF.json, NDJSON]);
  const isStream = contentType === NDJSON;
  const limit = isStream ? given : pageLimit(given);
  if (isStream) call.memory.take(STREAM_BYTES);
  const options: ScanOptions = { ...bounds, ...range, ...(limit === undefined ? {} : { limit }) };
  const reading = await tables.use(call.param('table'), bounds, (table) => begun(table.scan(options), recordText));
  if (isStream) return streamed(reading, call);
  const text = await pageText(reading, call.memory);
  return reply(contentType, text, linkOf(request, reading.cursor()));
}

function pageLimit(given = PAGE_RECORDS_DEFAULT): number {
  if (given <= PAGE_RECORDS_MAX) return given;
  throw new Problem('invalid', `limit: a page has at most ${PAGE_RECORDS_MAX} records; Accept: ${NDJSON} gives all`);
}

/** The link to the next page, with the same query (RFC 8288). */
function linkOf(request: Request, cursor: string | undefined): Record<string, string> {
  if (cursor === undefined) return {};
  const kept = rawQuery(request.url)
    .split('&')
    .filter((pair) => pair !== '' && !/^cursor(?:=|$)/.test(pair));
  return { Link: `<${rawPath(request.url)}?${[...kept, `cursor=${cursor}`].join('&')}>; rel="next"` };
}

async function pageText(reading: Reading, memory: MemoryShare): Promise<string> {
  const records: string[] = [];
  let size = 0;
  try {
    while (size < PAGE_BYTES) {
      const record = await reading.next();
      if (record === undefined) break;
      memory.take(record.length);
      records.push(record);
      size += record.length;
    }
  } finally {
    await reading.stop();
  }
  const cursor = reading.cursor();
  return `{"records":[${records.join(',')}]${cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`}}`;
}

/** Lines are sent in chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

const NDJSON = 'application/x-ndjson';

type Reading = Awaited<ReturnType<typeof begun>>;

/** The items of a stream. A scan also has a cursor. */
interface Given<T> extends AsyncIterable<T> {
  readonly cursor?: string | undefined;
}

/** Fetches the first item, so that an early error still gets a status of its own. */
async function begun<T>(given: Given<T>, textOf: (item: T) => string) {
  const iterator: AsyncIterator<T> = given[Symbol.asyncIterator]();
  // The connection pulls the stream, but the work belongs to the request.
  const forRequest = AsyncLocalStorage.snapshot();
  let ahead: IteratorResult<T, unknown> | undefined = await iterator.next();
  return {
    /** The next item as JSON text, undefined at the end. */
    async next(): Promise<string | undefined> {
      const result = ahead ?? (await forRequest(() => iterator.next()));
      ahead = undefined;
      return result.done === true ? undefined : textOf(result.value);
    },
    /** Goes on after the last item that was given; undefined if none is left. */
    cursor: () => given.cursor,
    async stop() {
      await iterator.return?.();
    },
  };
}

/** The answer with all items, one per line. */
function streamed(reading: Reading, call: Pick<Call, 'endsWith'>): Response {
  const { promise: ended, resolve: end } = Promise.withResolvers<Problem | undefined>();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { text, last, problem } = await chunkText(reading);
        controller.enqueue(Buffer.from(text));
        if (!last) return;
        controller.close();
        end(problem);
      },
      async cancel() {
        end(undefined);
        await reading.stop();
      },
    },
    { highWaterMark: 1 },
  );
  call.endsWith(ended);
  return new Response(stream, { headers: { 'Content-Type': NDJSON, ...CACHING } });
}

async function chunkText(reading: Reading): Promise<{ text: string; last: boolean; problem?: Problem }> {
  let text = '';
  try {
    while (text.length < CHUNK_BYTES) {
      const item = await reading.next();
      if (item === undefined) return { text: `${text}${lineOf({ end: true, cursor: reading.cursor() })}`, last: true };
      // In JSON a line break can only be white space, never a part of a string.
      text += `${item.replaceAll(/[\r\n]+/g, ' ')}\n`;
    }
    return { text, last: false };
  } catch (error) {
    const problem = toProblem(error);
    return { text: `${text}${lineOf({ error: problem.body(), cursor: reading.cursor() })}`, last: true, problem };
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Holds a key and a record of 512 KiB, even if each byte is an escape of six characters. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;

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
async function putLines(tables: Tables, call: Call): Promise<Response> {
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
