// Runs in Azurite's server and makes it as strict as Azure: it refuses entities that are too large,
// throttles, answers late, and fails on demand. It finds the entity that a merge changes in
// Azurite's memory.
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Answer, answerOf, type Refusal, Refused } from './answers.ts';
import { createTableFaults, type TableFault, type TableFaults } from './front-faults.ts';
import { type IncomingRequest, isBatch, type Operation, operationsOf } from './front-operations.ts';
import { type Body, ENTITY_BYTES_MAX, entityBytes, mergedSizes, PROPERTIES_MAX, propertySizes } from './entity-size.ts';

export type EntityName = Pick<Operation, 'table' | 'partitionKey' | 'rowKey'>;

/** A request on its way. A query names no entities and no partition. */
export interface Sent {
  readonly kind: 'read' | 'query' | 'commit';
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

/** A request with its content and the operations in it. */
interface Asked {
  readonly incoming: IncomingMessage;
  readonly request: IncomingRequest;
  readonly operations: readonly Operation[];
}

const BUSY = 'The server is currently unable to receive requests. Please retry your request.';

/** Keeps large bodies out of memory. Azurite itself refuses a transaction above 4 MiB. */
const BODY_BYTES_MAX = 16 * 1_024 * 1_024;

/** Takes all requests of a server before its listeners do. The caller may install faults. */
export function placeFront({ server, presentOf, network }: FrontOptions): TableFaults {
  const faults = createTableFaults();
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

  const serve = async (asked: Asked, held: Held, { isThrottled }: Arrived): Promise<void> => {
    const fault = faults.take(asked.operations);
    if (fault?.when === 'before') throw injected(fault);
    if (isThrottled) throw new Refused(503, 'ServerBusy', BUSY);
    if (fault === undefined) return await answer(asked, held);
    const unseen = hold(unseenAnswer(asked.incoming));
    await answer(asked, unseen);
    unseen.release();
    throw injected(fault);
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
      if (!gone.signal.aborted) await serve({ incoming, request, operations }, held, arrived);
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
  return faults;
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
    ids: operations.map((operation) => `${placeOf(operation)}\n${operation.rowKey}`),
    bytes: body.length,
    partition: first === undefined ? '' : placeOf(first),
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

/** An answer that goes nowhere. */
function unseenAnswer(incoming: IncomingMessage): ServerResponse {
  const answer = new ServerResponse(incoming);
  answer.assignSocket(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as Socket);
  return answer;
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
