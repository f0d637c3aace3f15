// Records as a JSON page, or as a stream of lines, which was cut off unless its last line is `end`
// or `error`.
import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod/mini';
import type { EncodedValue, Entry, ScanOptions } from '../../shared/store/index.ts';
import type { MemoryShare } from '../http/body-memory.ts';
import { jsonText, MEDIA_TYPE_OF, negotiated } from '../http/content.ts';
import { CACHING } from '../http/headers.ts';
import { rawPath, rawQuery } from '../http/paths.ts';
import { Problem, toProblem } from '../http/problem.ts';
import { type Call, reply, replyJson } from '../http/route.ts';
import { numberLike, parsed } from '../http/validate.ts';
import { isoTime, type Tables } from './table-handlers.ts';

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

export const COUNT_QUERY = z.strictObject(RANGE);

/** Without bounds, `confirm` has to be the table's name. */
export const CLEAR_QUERY = z.strictObject({ ...RANGE, confirm: text });

/** A page has 1,000 records at most, a stream all. */
export const SCAN_QUERY = z.strictObject({
  ...RANGE,
  reverse: z.exactOptional(isTrue),
  limit: z.exactOptional(z.pipe(numberLike(/^\d{1,16}$/), count)),
  cursor: text,
});

export async function countRecords(tables: Tables, { bounds, query, param }: Call): Promise<Response> {
  const range = parsed(COUNT_QUERY, query);
  const count = await tables.use(param('table'), bounds, (table) => table.count({ ...bounds, ...range }));
  return replyJson({ count });
}

/** If the deadline ends it early, the same request deletes the rest. */
export async function clearRecords(tables: Tables, { bounds, query, param }: Call): Promise<Response> {
  const { confirm, ...range } = parsed(CLEAR_QUERY, query);
  const name = param('table');
  if (Object.keys(range).length === 0 && confirm !== name) throw new Problem('invalid', UNCONFIRMED);
  const deleted = await tables.use(name, bounds, (table) => table.clear({ ...bounds, ...range }));
  return replyJson({ deleted });
}

const UNCONFIRMED =
  'without a prefix or other bounds this deletes all records: add ?confirm= and the name of the table';

export async function scanRecords(tables: Tables, call: Call): Promise<Response> {
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

export const NDJSON = 'application/x-ndjson';

export type Reading = Awaited<ReturnType<typeof begun>>;

/** The items of a stream. A scan also has a cursor. */
interface Given<T> extends AsyncIterable<T> {
  readonly cursor?: string | undefined;
}

/** Fetches the first item, so that an early error still gets a status of its own. */
export async function begun<T>(given: Given<T>, textOf: (item: T) => string) {
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
export function streamed(reading: Reading, call: Pick<Call, 'endsWith'>): Response {
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

/** If JSON cannot express the value, `data` has its bytes in base64 instead. */
export function recordText(entry: Entry<EncodedValue>): string {
  const { value } = entry;
  const text = jsonText(value);
  const tail = text === undefined ? `"data":"${Buffer.from(value.bytes).toString('base64')}"` : `"value":${text}`;
  return `${JSON.stringify(recordHead(entry)).slice(0, -1)},${tail}}`;
}

/** All but the value. */
export function recordHead({ key, version, expiresAtMs, value }: Entry<EncodedValue>): object {
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: isoTime(expiresAtMs) };
  return { key, version, ...expiry, contentType: MEDIA_TYPE_OF[value.codec] };
}
