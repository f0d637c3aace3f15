// A client of HTTP for Azure's SDK whose connections are set as those of .NET were in 2011, or otherwise: how many there are, whether small
// writes wait for each other (Nagle's algorithm), whether a body waits for the server's leave (Expect: 100-continue, RFC 9110, 10.1.1).
import http from 'node:http';
import {
  createHttpHeaders,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';

export interface ConnectionSettings {
  /** Connections at a time; requests beyond wait for one. */
  readonly connectionsMax: number;
  /** Whether Nagle's algorithm holds small segments back: TCP_NODELAY is off then. */
  readonly nagle: boolean;
  /** Whether a body is sent only when the server has answered 100 to its headers. */
  readonly expectContinue: boolean;
}

/** A client with connections of its own. */
export interface SettableClient extends HttpClient {
  /** Closes its connections. */
  close(): void;
}

/** .NET sent the body after this time even if the server had not said 100 (the default of HttpWebRequest.ContinueTimeout). */
const CONTINUE_TIMEOUT_MS = 350;
const REQUEST_TIMEOUT_MS = 30_000;

/** A client for `http:` addresses, as the emulators have. A request ends after 30 s. */
export function settableClient({ connectionsMax, nagle, expectContinue }: ConnectionSettings): SettableClient {
  // Sockets take `noDelay` from their agent's options, of which its declared type says nothing.
  const options = { keepAlive: true, maxSockets: connectionsMax, noDelay: !nagle };
  const agent = new http.Agent(options);
  return {
    sendRequest: (request) => send(request, agent, expectContinue),
    close: () => agent.destroy(),
  };
}

async function send(request: PipelineRequest, agent: http.Agent, expectContinue: boolean): Promise<PipelineResponse> {
  const body = bodyOf(request);
  const waits = expectContinue && body !== undefined;
  const headers: http.OutgoingHttpHeaders = { ...request.headers.toJSON({ preserveCase: true }) };
  if (body !== undefined) headers['Content-Length'] = Buffer.byteLength(body);
  if (waits) headers['Expect'] = '100-continue';
  const { method } = request;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const sent = http.request(request.url, { agent, method, headers, signal });
    sent.once('error', reject);
    sent.once('response', (reply) => {
      // A server may refuse by the headers alone, and the body stays unsent.
      if (!sent.writableEnded) sent.end();
      responseOf(request, reply).then(resolve, reject);
    });
    if (waits) endWhenAllowed(sent, body);
    else sent.end(body);
  });
}

/** Node sends the headers of a request that expects something at once. */
function endWhenAllowed(sent: http.ClientRequest, body: string): void {
  const end = (): void => {
    clearTimeout(timer);
    if (!sent.writableEnded) sent.end(body);
  };
  const timer = setTimeout(end, CONTINUE_TIMEOUT_MS);
  sent.once('continue', end);
  sent.once('close', () => clearTimeout(timer));
}

/** The SDK's requests to tables carry text, or nothing. */
function bodyOf({ body }: PipelineRequest): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  throw new TypeError('this client sends text alone');
}

async function responseOf(request: PipelineRequest, reply: http.IncomingMessage): Promise<PipelineResponse> {
  const parts: Buffer[] = [];
  for await (const part of reply) parts.push(part as Buffer);
  const headers = createHttpHeaders();
  for (const [name, value] of Object.entries(reply.headers)) headers.set(name, String(value));
  return { request, status: reply.statusCode ?? 0, headers, bodyAsText: Buffer.concat(parts).toString() };
}
