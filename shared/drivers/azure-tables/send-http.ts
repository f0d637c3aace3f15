// Sends HTTP/1.1 requests over kept sockets, each once and without proxies.
import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { SILENCE_MS } from '../../store/contract/driver.ts';
import { socketHost } from '../common/factory.ts';
import { NotSentError } from '../common/driver-outcomes.ts';
import { UnderWay } from '../common/under-way.ts';

/** The service's load balancer drops idle sockets silently after 60 s. */
const IDLE_SOCKET_MS = 55_000;
/** Replies stay below 2 MiB: an entity of 1 MiB in base64, or a page of 1,000 ids. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * The service repeats this id, so that a surplus reply on a connection does not acknowledge the
 * next request. Some replies of Azurite lack it (github.com/Azure/Azurite/issues/2265).
 */
export const REQUEST_ID = 'x-ms-client-request-id';

/** Whether a reply names another request than this. */
export function isForeign(echo: unknown, id: string): boolean {
  return echo !== undefined && echo !== id;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, as they go over the wire. */
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | undefined;
}

/** The message of a reply to another request, whose connection is closed. */
export const FOREIGN = 'the connection brought the reply to another request';

/** A reply that arrived whole. */
export interface HttpReply {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the memory of the request's body is no longer needed. */
  readonly isRequestWritten: boolean;
}

export type HttpClient = ReturnType<typeof httpClient>;

/** A client of one server; `origin` is its scheme, host and port. No I/O. */
export function httpClient(origin: string) {
  const url = new URL(origin);
  const { protocol, port, host } = url;
  const module = protocol === 'http:' ? http : https;
  // Sockets take `noDelay` from their agent's options, of which its declared type says nothing.
  const pool = { keepAlive: true, noDelay: true, timeout: IDLE_SOCKET_MS };
  const agent = new module.Agent(pool);
  const server = { agent, port, host: socketHost(url) };
  const common = ['Host', host, 'User-Agent', 'stowage', 'Connection', 'keep-alive'];
  const underWay = new UnderWay();
  const series = randomUUID();
  let requests = 0;
  return {
    /**
     * Rejects by `untilMs` (`performance.now()`), a GET also after SILENCE_MS of silence; with a
     * NotSentError where no connection came about.
     */
    send: ({ method, target, headers, body }: HttpRequest, untilMs: number) =>
      new Promise<HttpReply>((resolve, reject) => {
        underWay.check(untilMs);
        const length = body === undefined ? [] : ['Content-Length', String(body.byteLength)];
        // Node.js sends a list as it is; of an object it would first build a table.
        const id = `${series}-${(requests += 1)}`;
        const all = [...common, REQUEST_ID, id, ...length, ...headers];
        const sent = module.request({ ...server, method, path: target, headers: all });
        let isConnected = false;
        const fail = (cause: Error): void => {
          underWay.delete(sent);
          const { code = 'it does not say why' }: NodeJS.ErrnoException = cause;
          const error = new Error(`no whole reply from ${origin}: ${cause.message || code}`, { cause });
          reject(isConnected ? error : new NotSentError(error));
        };
        const take = (reply: Omit<HttpReply, 'isRequestWritten'>): void => {
          underWay.delete(sent);
          resolve({ ...reply, isRequestWritten: sent.writableFinished });
        };
        underWay.add(sent, untilMs, method === 'GET' ? SILENCE_MS : Infinity, fail);
        const heard = (): void => underWay.heard(sent);
        const connected = (): void => {
          isConnected = true;
        };
        sent.on('error', fail);
        sent.once('socket', (socket) => {
          heard();
          // Node.js sends nothing of the request before the handshake is done.
          if (socket.connecting) socket.once(protocol === 'http:' ? 'connect' : 'secureConnect', connected);
          else connected();
        });
        sent.once('response', (reply) => {
          if (!isForeign(reply.headers[REQUEST_ID], id)) return collect(reply.on('data', heard), take, fail);
          fail(new Error(FOREIGN));
          sent.destroy();
        });
        sent.end(body);
      }),
    /** Ends the requests under way, whose outcomes are then unknown, and refuses further ones. */
    close: () => {
      underWay.close();
      agent.destroy();
    },
  };
}

/** Node.js reports a reply that breaks off or is too short as an error of the reply. */
function collect(
  reply: IncomingMessage,
  resolve: (reply: Omit<HttpReply, 'isRequestWritten'>) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  reply.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    chunks.push(chunk);
    if (bytes > REPLY_BYTES_MAX) reply.destroy(new Error(`a reply of more than ${REPLY_BYTES_MAX} bytes`));
  });
  reply.on('error', reject);
  reply.once('end', () => {
    const [only] = chunks;
    const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
    resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body });
  });
}
