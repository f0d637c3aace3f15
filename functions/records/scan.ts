// A JSON page or an NDJSON stream. A stream without a last line `end` or `error` was cut off.
import type { EncodedValue, Entry, Scan, ScanOptions } from '../../shared/store/index.ts';
import { type Call, reply, type Route } from '../http/app.ts';
import { MEDIA_TYPE_OF, negotiated } from '../http/content.ts';
import { CACHING } from '../http/headers.ts';
import { rawPath, rawQuery } from '../http/paths.ts';
import { Problem, toProblem } from '../http/problem.ts';
import { recordText } from './record-text.ts';
import type { Tables } from './tables.ts';

const PAGE_RECORDS_DEFAULT = 100;
const PAGE_RECORDS_MAX = 1_000;
/** The page's last record may go beyond by 3 MiB of JSON text. Hosts pass 32 MB. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Lines of a stream are sent in chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

const NDJSON = 'application/x-ndjson';

const QUERY = ['prefix', 'from', 'to', 'limit', 'cursor'] as const;

export function scanRoute(tables: Tables): Route {
  return {
    method: 'GET',
    path: '/v1/tables/:table/records',
    role: 'read',
    query: QUERY,
    handle: (call) => scanRecords(tables, call),
  };
}

async function scanRecords(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const { limit: limitText, ...range } = call.query as Partial<Record<(typeof QUERY)[number], string>>;
  const contentType = negotiated(request, [MEDIA_TYPE_OF.json, NDJSON]);
  const streamed = contentType === NDJSON;
  const limit = limitOf(limitText, streamed);
  const options: ScanOptions = { ...bounds, ...range, ...(limit === undefined ? {} : { limit }) };
  // Fetches the first record before the answer begins: early errors get their own status.
  const reading = await tables.use(call.param('table'), bounds, (table) => Reading.start(table.scan(options)));
  if (!streamed) {
    const text = await pageText(reading);
    return reply(contentType, text, linkOf(request, reading.cursor));
  }
  const { stream, ended } = streamOf(reading);
  call.endsWith(ended);
  return new Response(stream, { headers: { 'Content-Type': NDJSON, ...CACHING } });
}

/** The next page, for a caller that goes on as it began (RFC 8288). */
function linkOf(request: Request, cursor: string | undefined): Record<string, string> {
  if (cursor === undefined) return {};
  const kept = rawQuery(request.url)
    .split('&')
    .filter((pair) => pair !== '' && !/^cursor(?:=|$)/.test(pair));
  return { Link: `<${rawPath(request.url)}?${[...kept, `cursor=${cursor}`].join('&')}>; rel="next"` };
}

function limitOf(text: string | undefined, streamed: boolean): number | undefined {
  if (text === undefined) return streamed ? undefined : PAGE_RECORDS_DEFAULT;
  const max = streamed ? Number.MAX_SAFE_INTEGER : PAGE_RECORDS_MAX;
  const limit = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw new Problem('invalid', `limit must be a whole number from 1 to ${max}`);
  return limit;
}

/** A scan whose first record has been fetched. */
class Reading {
  readonly #scan: Scan<EncodedValue>;
  readonly #iterator: AsyncIterator<Entry<EncodedValue>>;
  #ahead: Promise<IteratorResult<Entry<EncodedValue>, unknown>> | undefined;

  private constructor(scan: Scan<EncodedValue>) {
    this.#scan = scan;
    this.#iterator = scan[Symbol.asyncIterator]();
  }

  static async start(scan: Scan<EncodedValue>): Promise<Reading> {
    const reading = new Reading(scan);
    reading.#ahead = Promise.resolve(await reading.#iterator.next());
    return reading;
  }

  /** The next record as JSON text, undefined at the end. */
  async next(): Promise<string | undefined> {
    const result = await (this.#ahead ?? this.#iterator.next());
    this.#ahead = undefined;
    return result.done === true ? undefined : recordText(result.value);
  }

  /** Resumes after the last record given; undefined if nothing is left. */
  get cursor(): string | undefined {
    return this.#scan.cursor;
  }

  async stop(): Promise<void> {
    await this.#iterator.return?.();
  }
}

async function pageText(reading: Reading): Promise<string> {
  const records: string[] = [];
  let size = 0;
  for (;;) {
    const record = await reading.next();
    if (record === undefined) break;
    records.push(record);
    size += record.length;
    if (size >= PAGE_BYTES) {
      await reading.stop();
      break;
    }
  }
  const { cursor } = reading;
  return `{"records":[${records.join(',')}]${cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`}}`;
}

function streamOf(reading: Reading): { stream: ReadableStream<Uint8Array>; ended: Promise<Problem | undefined> } {
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
  return { stream, ended };
}

async function chunkText(reading: Reading): Promise<{ text: string; last: boolean; problem?: Problem }> {
  let text = '';
  try {
    while (text.length < CHUNK_BYTES) {
      const record = await reading.next();
      if (record === undefined) return { text: `${text}${lineOf({ end: true, cursor: reading.cursor })}`, last: true };
      // JSON has line breaks only outside its strings, as white space.
      text += `${record.replaceAll(/[\r\n]+/g, ' ')}\n`;
    }
    return { text, last: false };
  } catch (error) {
    const problem = toProblem(error);
    return { text: `${text}${lineOf({ error: problem.body(), cursor: reading.cursor })}`, last: true, problem };
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
