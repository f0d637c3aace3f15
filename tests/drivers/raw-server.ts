// A server that answers byte for byte as a test says: it reads whole HTTP requests off its sockets,
// and writes nothing by itself.
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import type { Certificate } from '../support/certificate.ts';
import { listening } from '../support/listening.ts';

export interface RawRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly socket: Socket;
}

/** Clients of other tests, of gRPC and of Azurite, look for servers that had this port before. */
function isOfOthers({ target }: RawRequest): boolean {
  return target === '*' || target.startsWith(`/${AZURITE_ACCOUNT_NAME}`);
}

export async function rawServer(answer: (request: RawRequest) => void, tls?: Certificate) {
  /** All whole requests so far, in order. */
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const serve = (socket: Socket): void => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let read = requestIn(bytes, socket); read !== undefined; read = requestIn(bytes, socket)) {
        if (isOfOthers(read.request)) {
          socket.destroy();
          return;
        }
        bytes = bytes.subarray(read.size);
        requests.push(read.request);
        answer(read.request);
      }
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => {});
  return {
    port: await listening(server),
    requests,
    /** Connections so far, and those still open. */
    accepted: () => accepted,
    open: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The first request in these bytes, if it is whole. */
function requestIn(bytes: Buffer, socket: Socket): { readonly request: RawRequest; readonly size: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const size = end + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < size) return undefined;
  const [method = '', target = ''] = first.split(' ');
  return { request: { method, target, headers, body: bytes.subarray(end + 4, size), socket }, size };
}

/** All replies of Azure's table service have these. */
export const SERVICE_HEADERS = {
  'x-ms-request-id': '1',
  'x-ms-version': '2019-02-02',
};

/** As `replyText`, from Azure's table service. */
export function azureText(status: number, headers: Readonly<Record<string, string>>, body = ''): string {
  return replyText(status, { ...SERVICE_HEADERS, ...headers }, body);
}

/** A reply as text; it says how long its body is. */
export function replyText(status: number, headers: Readonly<Record<string, string>>, body = ''): string {
  const length = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n${body}`;
}
