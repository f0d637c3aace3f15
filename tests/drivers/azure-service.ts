// Servers that stand for Azure's table service. A raw one answers byte for byte as a test says: it
// reads whole HTTP requests off its sockets, and writes nothing by itself.
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { type TableCalls, tableCalls } from '../../shared/drivers/azure-tables/table-calls.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/table-sdk.ts';
import { idsOfOneLane, insert, part } from '../../shared/drivers/conformance/check-calls.ts';
import type { Driver, Write } from '../../shared/store/contract/driver.ts';
import { AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import type { closedAfterEach } from '../support/opened.ts';
import type { Certificate } from '../support/certificate.ts';
import { listening } from '../support/listening.ts';
import { azureAt, type Transport } from './emulated.ts';

export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const BATCH_TYPE = { 'Content-Type': 'multipart/mixed; boundary=out' };
export const ETAG = { ETag: 'W/"datetime\'2026\'"' };

export function odataError(code: string): string {
  return JSON.stringify({ 'odata.error': { code, message: { lang: 'en', value: 'said by a test' } } });
}

/** The service's reply that tells of an error. */
export function errorText(status: number, code: string, more: Readonly<Record<string, string>> = {}): string {
  return azureText(status, { ...JSON_TYPE, ...more }, odataError(code));
}

/** A member of a transaction's reply. */
export function member(status: number, head = 'ETag: v\r\n', body = ''): string {
  return `--in\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ${status} Whatever\r\n${head}\r\n${body}\r\n`;
}

export function multipart(...members: readonly string[]): string {
  return `--out\r\nContent-Type: multipart/mixed; boundary=in\r\n\r\n${members.join('')}--in--\r\n--out--\r\n`;
}

/** Two inserts that fit into one request. */
export function twoWrites(driver: Driver): Write[] {
  return idsOfOneLane(driver, 'x', 2).map((id) => insert(id, [part('h', 'x')]));
}

/** Drivers of this transport, each with a server of its own that answers so. */
export function servedOver(transport: Transport, opened: ReturnType<typeof closedAfterEach>) {
  return async (answer: (request: RawRequest) => void) => {
    const server = opened(await rawServer(answer));
    const credential = new AzureNamedKeyCredential('account', 'a2V5');
    const driver = opened(azureAt(transport, `http://127.0.0.1:${server.port}`, 'table', credential));
    return { driver, server };
  };
}

/** What is below a driver of this transport, with a server on this port. */
export function callsOver(transport: Transport, port: number): TableCalls {
  const [endpoint, tableName] = [`http://127.0.0.1:${port}/account?sig=s`, 'table'] as const;
  if (transport === 'own') return tableCalls({ endpoint, tableName });
  return sdkCalls(new TableClient(endpoint, tableName, { allowInsecureConnection: true }));
}

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
