// Sends HTTP/1.1 requests to one endpoint over kept sockets, with proofs and headers, and turns
// refusals into errors. Each is sent once and without proxies.
import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { SILENCE_MS } from '../../store/contract/driver.ts';
import { NotSentError, withDeadline } from '../common/driver-outcomes.ts';
import { socketHost } from '../common/factory.ts';
import { UnderWay } from '../common/under-way.ts';
import { authorizeWith, type Credential, encodedSignature, type Proof } from './authorization.ts';
import { RefusedRequestError } from './azure-errors.ts';

export const JSON_WITHOUT_METADATA = 'application/json;odata=nometadata';

const COMMON_HEADERS = ['x-ms-version', '2019-02-02', 'Accept', JSON_WITHOUT_METADATA];

const RETRY_AFTER_MS_MAX = 30_000;

interface ServiceRequest extends Omit<HttpRequest, 'target'> {
  /** Behind the account's address: `/table(...)`, `/Tables`, `/$batch`. Encoded. */
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
  /** The status of success. Default: 200 for a GET, else 204. */
  readonly success?: number;
}

export interface TableService {
  /** The account's address, without a query. */
  readonly url: string;
  /**
   * Gives the expected success. Rejects with a RefusedRequestError after another reply, with other
   * errors without one by `untilMs`. After a 401, which had no effect, it tries once more.
   */
  send(request: ServiceRequest, untilMs: number): Promise<HttpReply>;
  close(): void;
}

/** No I/O. `endpoint` may hold a SAS. `wired` may see or answer what is sent. */
export function tableService(
  endpoint: string,
  credential: Credential | undefined,
  wired: (client: HttpClient) => HttpClient = (client) => client,
): TableService {
  const { origin, pathname, search } = new URL(endpoint);
  const account = pathname.replace(/\/$/, '');
  const signed = encodedSignature(search);
  const authorize = authorizeWith(credential);
  const client = wired(httpClient(origin));

  const sendWith = ({ headers: shown, query: signature }: Proof, request: ServiceRequest, untilMs: number) => {
    const { method, path, body } = request;
    const query = [signed, signature, request.query].filter(Boolean).join('&');
    const target = query === '' ? account + path : `${account}${path}?${query}`;
    const headers = [...COMMON_HEADERS, ...request.headers, ...shown];
    return client.send({ method, target, headers, body }, untilMs);
  };

  return {
    url: origin + account,
    async send(request, untilMs) {
      const path = account + request.path;
      const proof = await inTime(authorize(path), untilMs);
      const reply = await sendWith(proof, request, untilMs);
      if (reply.status !== 401 || !isOfService(reply) || proof.forget === undefined)
        return checked(reply, request, proof.query || signed);
      proof.forget();
      // The first request's body may still be under way.
      const second = await sendWith(await inTime(authorize(path), untilMs), request, untilMs);
      return checked({ ...second, isRequestWritten: second.isRequestWritten && reply.isRequestWritten }, request);
    },
    close: () => client.close(),
  };
}

/** A silent credential ends the request as a silent service does, but may answer the next one. */
function inTime(proof: Proof | Promise<Proof>, untilMs: number): Proof | Promise<Proof> {
  if (!(proof instanceof Promise)) return proof;
  const timeoutMs = Math.min(SILENCE_MS, untilMs - performance.now());
  return withDeadline(proof, timeoutMs, 'the token credential').catch((error: unknown) => {
    throw new NotSentError(error);
  });
}

export type Reply = Pick<HttpReply, 'status' | 'headers'> & { readonly body: Buffer | string };

/**
 * Throws a RefusedRequestError unless the reply is the service's and the expected success.
 * `signature` is the query's shared access signature, if there is one.
 */
export function checked<Received extends Reply>(
  reply: Received,
  { method, success = method === 'GET' ? 200 : 204 }: Pick<ServiceRequest, 'method' | 'success'>,
  signature = '',
): Received {
  const { status, headers, body } = reply;
  const isVerdict = isOfService(reply);
  if (status === success && isVerdict) return reply;
  const { code = headers['x-ms-error-code']?.toString(), detail } = refusalIn(body.toString());
  const retryAfterMs = retryAfterIn(headers['retry-after']);
  const end = new URLSearchParams(signature).get('se') ?? '';
  throw new RefusedRequestError({
    status,
    code,
    detail,
    retryAfterMs,
    clockAheadMs: Date.now() - Date.parse(headers.date ?? ''),
    signatureEnded: Date.parse(end) < Date.now() ? end : undefined,
    isVerdict: isVerdict && status >= 400,
  });
}

/** The service tells seconds. A longer time than the most is no better than a guess. */
function retryAfterIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header) * 1_000, RETRY_AFTER_MS_MAX)
    : undefined;
}

/** Whether it has the headers of the service, unlike a proxy's. A denial has no version. */
export function isOfService({ status, headers }: Reply): boolean {
  const isDenial = status === 401 || status === 403;
  return headers['x-ms-request-id'] !== undefined && (isDenial || headers['x-ms-version'] !== undefined);
}

export function refusalIn(body: string): { readonly code?: string | undefined; readonly detail?: string | undefined } {
  const error = objectIn(body)?.['odata.error'] ?? {};
  const { code, message } = error as { readonly code?: string; readonly message?: { readonly value?: string } };
  return { code, detail: message?.value?.replaceAll(/\s+/g, ' ') };
}

/** The body's JSON object; undefined if it is something else. */
export function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

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
