// Before Azurite, and as strict as Azure: refuses too large entities, throttles, fails on demand.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, answerOf, type Refusal, Refused } from './answers.ts';
import { createTableFaults, createThrottle, ENTITIES_PER_SECOND, type TableFault, type TableFaults } from './faults.ts';
import { type IncomingRequest, isBatch, type Operation, operationsOf } from './operations.ts';
import { type Body, ENTITY_BYTES_MAX, entityBytes, mergedSizes, PROPERTIES_MAX, propertySizes } from './size.ts';

export interface FrontOptions {
  /** Azurite's address without the account. Writes of others there would not be counted. */
  readonly target: string;
  /** Signs the reads of entities that a merge changes. */
  readonly accountName: string;
  readonly accountKey: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Clock of the throttle, in milliseconds. Default: the system's. */
  readonly nowMs?: () => number;
}

export interface TableFront {
  /** `http://127.0.0.1:port`, without the account. */
  readonly address: string;
  readonly faults: TableFaults;
  /** Idempotent. Azurite stays. */
  close(): Promise<void>;
}

/** Azurite, and the connections to it that are kept. */
interface Azurite extends Pick<FrontOptions, 'target' | 'accountName' | 'accountKey'> {
  readonly agent: http.Agent;
}

/** Keeps large bodies out of memory. Azurite itself refuses a transaction above 4 MiB. */
const BODY_BYTES_MAX = 16 * 1_024 * 1_024;
const TARGET_TIMEOUT_MS = 30_000;

export async function startTableFront(options: FrontOptions): Promise<TableFront> {
  const { nowMs = Date.now, port = 0 } = options;
  const faults = createTableFaults();
  const isThrottled = createThrottle(ENTITIES_PER_SECOND, nowMs);
  const agent = new http.Agent({ keepAlive: true });
  const azurite: Azurite = { ...options, agent };
  const inTurn = createTurns();

  const answer = async (request: IncomingRequest, operations: readonly Operation[]): Promise<Answer> => {
    const writes = operations.filter(({ kind }) => kind !== 'read');
    const [first] = writes;
    // Another write to the partition in between would make the checked sizes wrong.
    if (first === undefined) return await forward(request, azurite);
    return await inTurn(placeOf(first), () => checkedWrite(request, writes, azurite));
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    const operations = operationsOf(request);
    const fault = faults.take(operations);
    if (fault?.when === 'before') throw injected(fault);
    const [first] = operations;
    if (first !== undefined && isThrottled(placeOf(first), operations.length))
      throw new Refused(503, 'ServerBusy', 'the partition is asked for more than 2,000 entities a second');
    const given = await answer(request, operations);
    if (fault !== undefined) throw injected(fault);
    send(outgoing, given);
  };

  const server = http.createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, answerOf(refusalFor(error), false));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  return { status: 500, code: 'InternalError', message: String(error), place: 0 };
}

function injected({ status, code }: TableFault): Refused {
  return new Refused(status, code, 'injected');
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length });
  outgoing.end(body);
}

async function readRequest(incoming: IncomingMessage): Promise<IncomingRequest> {
  const { method = 'GET', url = '/', headers } = incoming;
  return { method, url, headers, body: await readAll(incoming) };
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > BODY_BYTES_MAX)
      throw new Refused(413, 'RequestBodyTooLarge', `the body has more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Passes a request on with its path unchanged, which is part of what the client has signed. */
async function forward({ method, url, headers, body }: IncomingRequest, { target, agent }: Azurite): Promise<Answer> {
  const { hostname, port } = new URL(target);
  const request = http.request({ hostname, port, path: url, method, headers, agent, timeout: TARGET_TIMEOUT_MS });
  request.on('timeout', () => request.destroy(new Error(`Azurite did not answer within ${TARGET_TIMEOUT_MS} ms`)));
  // A reply that has begun tells its reader.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const content = await readAll(response);
  const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = response.headers;
  return { status: response.statusCode ?? 502, headers: kept as Record<string, string>, body: content };
}

/** Passes a write on unless the service would refuse it. */
async function checkedWrite(request: IncomingRequest, writes: readonly Operation[], azurite: Azurite): Promise<Answer> {
  const refusal = await refusalOf(writes, azurite);
  return refusal === undefined ? await forward(request, azurite) : answerOf(refusal, isBatch(request));
}

/** The refusal of the first write that the service would refuse; undefined if it takes all. */
async function refusalOf(writes: readonly Operation[], azurite: Azurite): Promise<Refusal | undefined> {
  for (const [place, operation] of writes.entries()) {
    const { kind, partitionKey, rowKey, body } = operation;
    if (kind === 'delete') continue;
    const present = kind === 'merge' ? await presentEntity(operation, azurite) : {};
    const sizes = mergedSizes(propertySizes(present), body);
    const sizeBytes = entityBytes(partitionKey, rowKey, sizes);
    const refused = (code: string, what: string, most: number): Refusal => {
      return { status: 400, code, message: `the entity has ${what}, ${most} are allowed`, place };
    };
    if (sizes.size > PROPERTIES_MAX) return refused('TooManyProperties', `${sizes.size} properties`, PROPERTIES_MAX);
    if (sizeBytes > ENTITY_BYTES_MAX) return refused('EntityTooLarge', `${sizeBytes} bytes`, ENTITY_BYTES_MAX);
  }
  return undefined;
}

/** With the types of all properties; empty if absent, which Azurite then reports. */
async function presentEntity(operation: Operation, azurite: Azurite): Promise<Body> {
  const { accountName, accountKey } = azurite;
  const { table, partitionKey, rowKey } = operation;
  const url = `/${accountName}/${table}(PartitionKey='${quoted(partitionKey)}',RowKey='${quoted(rowKey)}')`;
  const date = new Date().toUTCString();
  const signature = createHmac('sha256', Buffer.from(accountKey, 'base64'))
    .update(`${date}\n/${accountName}${url}`)
    .digest('base64');
  const headers = {
    'x-ms-date': date,
    'x-ms-version': '2019-02-02',
    accept: 'application/json;odata=fullmetadata',
    authorization: `SharedKeyLite ${accountName}:${signature}`,
  };
  const { status, body } = await forward({ method: 'GET', url, headers, body: Buffer.alloc(0) }, azurite);
  if (status === 404) return {};
  if (status !== 200) throw new Error(`Azurite answered ${status} to a read before a merge: ${body.toString()}`);
  return JSON.parse(body.toString()) as Body;
}

function quoted(text: string): string {
  return encodeURIComponent(text.replaceAll("'", "''"));
}

function placeOf({ table, partitionKey }: Operation): string {
  return `${table}\n${partitionKey}`;
}

/** Runs bodies of the same name one after the other. */
function createTurns(): <T>(name: string, body: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, body) => {
    const before = last.get(name);
    const turn = (async () => {
      await before?.catch(() => {});
      return await body();
    })();
    last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (last.get(name) === turn) last.delete(name);
    }
  };
}
