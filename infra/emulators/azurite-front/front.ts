// Runs in Azurite's server and makes it as strict as Azure: it refuses entities that are too large,
// as it finds them in Azurite's memory, and throttles, fails and answers late as a network says.
import { randomUUID } from 'node:crypto';
import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type IncomingRequest, isBatch, type Operation, operationsOf } from './front-operations.ts';
import { type Body, ENTITY_BYTES_MAX, entityBytes, mergedSizes, PROPERTIES_MAX, propertySizes } from './entity-size.ts';

export type EntityName = Pick<Operation, 'table' | 'partitionKey' | 'rowKey'>;

/** A request on its way. A query names no entities and no partition. */
export interface Sent {
  readonly kind: 'read' | 'query' | 'commit';
  readonly operations: readonly Operation['kind'][];
  readonly ids: readonly string[];
  readonly bytes: number;
  readonly partition: string;
}

/** Decides when a request has its effect and when its answer is back, and turns requests away. */
export interface Network {
  /** Resolves when the effect is due, or when the signal aborts. */
  arrive(sent: Sent, signal: AbortSignal): Promise<Arrived>;
}

interface Arrived {
  readonly isThrottled: boolean;
  /** Nothing happens, and the caller gets this answer. A throttled request gets 503 ServerBusy. */
  readonly refusal?: Pick<Refusal, 'status' | 'code'> | undefined;
  /** The effect happens, then the connection ends instead of an answer. */
  readonly isReplyLost?: boolean;
  /** Resolves when an answer of this size is due, or when the signal aborts. */
  reply(bytes: number, signal: AbortSignal): Promise<void>;
}

export interface FrontOptions {
  readonly server: Server;
  /** The properties that Azurite holds of an entity; empty if it has no such entity. */
  readonly presentOf: (entity: EntityName) => Body;
  readonly network: Network;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Index of the operation in its transaction; 0 for a request of its own. */
  readonly place: number;
}

/** Refuses a request as a whole, whatever its operations are. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.refusal = { status, code, message, place: 0 };
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A request with its content and the operations in it. */
interface Asked {
  readonly incoming: IncomingMessage;
  readonly request: IncomingRequest;
  readonly operations: readonly Operation[];
}

const BUSY = { status: 503, code: 'ServerBusy' } as const;

/** Keeps large bodies out of memory. Azurite itself refuses a transaction above 4 MiB. */
const BODY_BYTES_MAX = 16 * 1_024 * 1_024;

/** Takes all requests of a server before its listeners do. */
export function placeFront({ server, presentOf, network }: FrontOptions): void {
  const inTurn = createTurns();
  const listeners = server.listeners('request');

  /** Has Azurite answer. */
  const pass = async ({ incoming, request: { body } }: Asked, { outgoing, answered }: Held): Promise<void> => {
    const again = readAgain(incoming, body);
    for (const listener of listeners) listener.call(server, again, outgoing);
    await answered;
  };

  const answer = async (asked: Asked, held: Held): Promise<void> => {
    const writes = asked.operations.filter(({ kind }) => kind !== 'read');
    const [first] = writes;
    if (first === undefined) return await pass(asked, held);
    // In turn, because another write to the partition would change the sizes that were checked.
    await inTurn(placeOf(first), async () => {
      const refusal = refusalOf(writes, presentOf);
      if (refusal === undefined) await pass(asked, held);
      else send(held.outgoing, answerOf(refusal, isBatch(asked.request)));
    });
  };

  /** If the caller leaves before the effect, nothing happens; later, only the answer is dropped. */
  const serveLater = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const held = hold(outgoing);
    let arrived: Arrived | undefined;
    try {
      const request = await readRequest(incoming);
      const operations = operationsOf(request);
      arrived = await network.arrive(sentOf(request, operations), gone.signal);
      if (gone.signal.aborted) return;
      const { isThrottled, refusal = isThrottled ? BUSY : undefined } = arrived;
      if (refusal !== undefined) throw new Refused(refusal.status, refusal.code, 'the request was turned away');
      await answer({ incoming, request, operations }, held);
    } catch (error) {
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, answerOf(refusalFor(error), false));
    }
    await arrived?.reply(held.bytes(), gone.signal);
    if (arrived?.isReplyLost === true) outgoing.destroy();
    else held.release();
  };

  server.removeAllListeners('request');
  server.on('request', (incoming, outgoing) => void serveLater(incoming, outgoing));
}

/** An answer whose body is kept back until it is released. */
interface Held {
  readonly outgoing: ServerResponse;
  /** Resolves when the answer is complete, or its connection has ended. */
  readonly answered: Promise<unknown>;
  bytes(): number;
  release(): void;
}

function hold(outgoing: ServerResponse): Held {
  const end = outgoing.end.bind(outgoing) as (body: Buffer) => void;
  const chunks: Buffer[] = [];
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  outgoing.once('close', resolve);
  const write = (chunk: Uint8Array | string = ''): true => {
    chunks.push(Buffer.from(chunk as Uint8Array));
    return true;
  };
  Object.assign(outgoing, { write, end: (chunk?: Uint8Array | string) => write(chunk) && resolve() });
  return {
    outgoing,
    answered,
    bytes: () => chunks.reduce((sum, { length }) => sum + length, 0),
    release: () => end(Buffer.concat(chunks)),
  };
}

function sentOf({ body }: IncomingRequest, operations: readonly Operation[]): Sent {
  const [first] = operations;
  const isRead = operations.every(({ kind }) => kind === 'read');
  return {
    kind: first === undefined ? 'query' : isRead ? 'read' : 'commit',
    operations: operations.map(({ kind }) => kind),
    ids: operations.map((operation) => `${placeOf(operation)}\n${operation.rowKey}`),
    bytes: body.length,
    partition: first === undefined ? '' : placeOf(first),
  };
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  const message = String(error);
  if (error instanceof URIError) return { status: 400, code: 'InvalidUri', message, place: 0 };
  return { status: 500, code: 'InternalError', message, place: 0 };
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length });
  outgoing.end(body);
}

async function readRequest(incoming: IncomingMessage): Promise<IncomingRequest> {
  const { method = 'GET', url = '/', headers } = incoming;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > BODY_BYTES_MAX)
      throw new Refused(413, 'RequestBodyTooLarge', `the body has more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return { method, url, headers, body: Buffer.concat(chunks) };
}

/** A request whose body was read, to be read once more. */
function readAgain(incoming: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = incoming;
  const head = { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor };
  const request = Object.assign(new IncomingMessage(incoming.socket), head, { complete: true });
  request.push(body);
  request.push(null);
  return request;
}

/** The refusal of the first write that the service would refuse; undefined if it takes all. */
function refusalOf(writes: readonly Operation[], presentOf: FrontOptions['presentOf']): Refusal | undefined {
  for (const [place, operation] of writes.entries()) {
    const { kind, partitionKey, rowKey, body } = operation;
    if (kind === 'delete') continue;
    const present = kind === 'merge' ? presentOf(operation) : {};
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

/** As the service does: a JSON error, within a multipart answer for a transaction. */
function answerOf(refusal: Refusal, inBatch: boolean): Answer {
  return inBatch && refusal.status < 500 ? batchAnswer(refusal) : single(refusal);
}

function single({ status, code, message }: Refusal): Answer {
  return {
    status,
    headers: { ...serviceHeaders(), 'content-type': 'application/json;odata=minimalmetadata', 'x-ms-error-code': code },
    body: Buffer.from(errorBody(code, message)),
  };
}

/** The answer to a refused transaction is a 202 with the refusal inside. */
function batchAnswer({ status, code, message, place }: Refusal): Answer {
  const batch = `batchresponse_${randomUUID()}`;
  const changeset = `changesetresponse_${randomUUID()}`;
  const lines = [
    `--${batch}`,
    `Content-Type: multipart/mixed; boundary=${changeset}`,
    '',
    `--${changeset}`,
    'Content-Type: application/http',
    'Content-Transfer-Encoding: binary',
    '',
    `HTTP/1.1 ${status} Bad Request`,
    'Content-Type: application/json;odata=minimalmetadata;charset=utf-8',
    'DataServiceVersion: 3.0;',
    '',
    errorBody(code, `${place}:${message}`),
    `--${changeset}--`,
    `--${batch}--`,
    '',
  ];
  return {
    status: 202,
    headers: { ...serviceHeaders(), 'content-type': `multipart/mixed; boundary=${batch}` },
    body: Buffer.from(lines.join('\r\n')),
  };
}

/** All answers of the service have these headers, so clients know that no proxy answered. */
function serviceHeaders(): Record<string, string> {
  return { 'x-ms-request-id': randomUUID(), 'x-ms-version': '2019-02-02' };
}

function errorBody(code: string, message: string): string {
  return JSON.stringify({ 'odata.error': { code, message: { lang: 'en-US', value: message } } });
}
