// Makes an app a handler of @azure/functions (v4), whose requests are almost the Fetch API's.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandler, HttpMethod, HttpResponseBodyInit } from '@azure/functions';
import type { App } from '../http/http-app.ts';
import { type LogLine, logToStdout } from '../http/log.ts';
import { lazyBody } from '../http/node.ts';

/** All methods that the platform can route. The app decides which of them a path takes. */
export const METHODS: HttpMethod[] = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'];

interface Caller {
  /** Aborts when the caller of the invocation has gone. */
  readonly signal: AbortSignal;
  /** The target as it arrived here, after whatever the platform's front end folded. */
  readonly target: string;
}

/** Callers by invocation, from the arrival of the request to the end of its response. */
const callers = new Map<string, Caller>();

/**
 * Watches Node's server, as the library gives no signal (azure-functions-nodejs-library#273, #294).
 * Only a deadline ends the request of a caller whose going the front end hides
 * (azure-functions-host#8873).
 */
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const invocationId = request.headers['x-ms-invocation-id'];
  if (typeof invocationId !== 'string') return;
  const gone = new AbortController();
  callers.set(invocationId, { signal: gone.signal, target: request.url ?? '/' });
  response.once('close', () => {
    callers.delete(invocationId);
    if (!response.writableFinished) gone.abort();
  });
});

const LEVELS = { INFO: 'log', WARNING: 'warn', ERROR: 'error' } as const;

/** The host takes the severity of a line on standard error from its text. */
function logLate(line: LogLine): void {
  if (line.severity === 'INFO') logToStdout(line);
  else process.stderr.write(`${JSON.stringify(line)}\n`);
}

/** Logs through the invocation's context, which takes no line after the handler has returned. */
export function handlerOf(app: Pick<App, 'fetch'>): HttpHandler {
  return async (request, context) => {
    const { method, url, headers } = request;
    const chunks = (request.body as ReadableStream<Uint8Array> | null)?.values({ preventCancel: true });
    const body = chunks === undefined ? {} : { body: lazyBody(chunks), duplex: 'half' as const };
    const caller = callers.get(context.invocationId);
    const signal = caller === undefined ? {} : { signal: caller.signal };
    let returned = false;
    const response = await app.fetch(new Request(url, { method, headers, ...signal, ...body }), {
      requestId: context.invocationId,
      ...(caller === undefined ? {} : { target: caller.target }),
      log: (line) => {
        if (returned) logLate(line);
        else context[LEVELS[line.severity]](JSON.stringify(line));
      },
    });
    returned = true;
    const { status, headers: answered } = response;
    return { status, headers: answered, body: thenDrained(response.body, chunks) as HttpResponseBodyInit };
  };
}

/** The answer, during which the request's body may still be read. Drains the rest of the body. */
function thenDrained(
  answer: ReadableStream<Uint8Array> | null,
  chunks: AsyncIterator<Uint8Array> | undefined,
): ReadableStream<Uint8Array> | null {
  if (chunks === undefined) return answer;
  if (answer !== null)
    return answer.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ flush: () => void drain(chunks) }));
  void drain(chunks);
  return null;
}

/** Without this the next request on the connection waits for ever. The platform bounds the body. */
async function drain(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    // The connection is gone, and the body with it.
  }
}
