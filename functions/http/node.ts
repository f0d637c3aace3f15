// Serves Node's HTTP with handlers of the Fetch API, with streams both ways. The request's signal
// aborts when the caller hangs up.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { originForm } from './paths.ts';

/** The request as it arrived: a framework may have bent `incoming.url` or `incoming.headers`. */
export interface Arrival {
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** `handle` must not reject. It is no error if the caller has gone. */
export async function serveNode(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  arrival: Arrival,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  const response = await handle(requestOf(incoming, arrival, chunks, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  try {
    if (response.body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
  // Reads the rest of the body, or the next request on this connection would wait for ever.
  await chunks.return?.();
  incoming.resume();
}

/** Request's constructor refuses these. They become OPTIONS, which no route takes either. */
const UNKNOWN_TO_REQUEST: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

function requestOf(
  incoming: IncomingMessage,
  { url, headers }: Arrival,
  chunks: AsyncIterator<Uint8Array>,
  signal: AbortSignal,
): Request {
  const method = UNKNOWN_TO_REQUEST.has(incoming.method ?? '') ? 'OPTIONS' : (incoming.method ?? 'GET');
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const bodiless = method === 'GET' || method === 'HEAD';
  // The host does not matter, and what callers write there may not even be a host name.
  return new Request(`http://localhost${originForm(url)}`, {
    method,
    headers: pairs,
    signal,
    ...(bodiless ? {} : { body: lazyBody(chunks), duplex: 'half' as const }),
  });
}

/** A stream that touches its source only when it is read, and never ends it early. */
export function lazyBody(chunks: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}
