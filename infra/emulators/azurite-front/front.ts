// In Azurite's server, and as strict as Azure: refuses too large entities, throttles, fails on
// demand. It reads the entities that a merge changes from Azurite's memory.
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Answer, answerOf, type Refusal, Refused } from './answers.ts';
import { createTableFaults, createThrottle, ENTITIES_PER_SECOND, type TableFault, type TableFaults } from './faults.ts';
import { type IncomingRequest, isBatch, type Operation, operationsOf } from './operations.ts';
import { type Body, ENTITY_BYTES_MAX, entityBytes, mergedSizes, PROPERTIES_MAX, propertySizes } from './size.ts';

export type EntityName = Pick<Operation, 'table' | 'partitionKey' | 'rowKey'>;

export interface FrontOptions {
  readonly server: Server;
  /** The properties of an entity that Azurite holds; empty if absent, which Azurite reports. */
  readonly presentOf: (entity: EntityName) => Body;
  /** Clock of the throttle, in milliseconds. Default: the system's. */
  readonly nowMs?: (() => number) | undefined;
}

/** A request, its content, and what that asks for. */
interface Asked {
  readonly incoming: IncomingMessage;
  readonly request: IncomingRequest;
  readonly operations: readonly Operation[];
}

/** Keeps large bodies out of memory. Azurite itself refuses a transaction above 4 MiB. */
const BODY_BYTES_MAX = 16 * 1_024 * 1_024;

/** Takes all requests of a server before its listeners do. The caller may install faults. */
export function placeFront({ server, presentOf, nowMs = Date.now }: FrontOptions): TableFaults {
  const faults = createTableFaults();
  const isThrottled = createThrottle(ENTITIES_PER_SECOND, nowMs);
  const inTurn = createTurns();
  const listeners = server.listeners('request');

  /** Has Azurite answer. Ends with the answer, or with the connection. */
  const pass = async ({ incoming, request: { body } }: Asked, outgoing: ServerResponse): Promise<void> => {
    const ended = new Promise((resolve) => outgoing.once('finish', resolve).once('close', resolve));
    const again = readAgain(incoming, body);
    for (const listener of listeners) listener.call(server, again, outgoing);
    await ended;
  };

  const answer = async (asked: Asked, outgoing: ServerResponse): Promise<void> => {
    const writes = asked.operations.filter(({ kind }) => kind !== 'read');
    const [first] = writes;
    if (first === undefined) return await pass(asked, outgoing);
    // Another write to the partition in between would make the checked sizes wrong.
    await inTurn(placeOf(first), async () => {
      const refusal = refusalOf(writes, presentOf);
      if (refusal === undefined) await pass(asked, outgoing);
      else send(outgoing, answerOf(refusal, isBatch(asked.request)));
    });
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    const operations = operationsOf(request);
    const fault = faults.take(operations);
    if (fault?.when === 'before') throw injected(fault);
    const [first] = operations;
    if (first !== undefined && isThrottled(placeOf(first), operations.length))
      throw new Refused(503, 'ServerBusy', 'the partition is asked for more than 2,000 entities a second');
    const asked = { incoming, request, operations };
    if (fault === undefined) return await answer(asked, outgoing);
    await answer(asked, unseenAnswer(incoming));
    throw injected(fault);
  };

  server.removeAllListeners('request');
  server.on('request', (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, answerOf(refusalFor(error), false));
    });
  });
  return faults;
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
