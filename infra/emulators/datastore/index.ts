// google.datastore.v1 over gRPC on this machine. Data is in memory, and in a file if one is named.
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import type { Database } from './entities/entity-keys.ts';
import { lookup, runQuery } from './reads.ts';
import { createKeptStorage, type KeptStorage } from './storage/storage.ts';
import { createTransactions, type Services } from './storage/open-transactions.ts';
import { decoder, encoder, type Messages, type Request } from './wire/protocol.ts';
import { REQUEST_BYTES_MAX } from './wire/service-limits.ts';
import { inside, invalid, status, StatusError, unsupported } from './wire/rpc-status.ts';
import { allocateIds, commit } from './writes.ts';

/** A call as a network sees it on its way. */
export interface Sent {
  readonly kind: 'read' | 'query' | 'commit';
  /** The encoded keys of the entities that it names. */
  readonly ids: readonly string[];
  readonly bytes: number;
}

/** Decides when a call has its effect and when its answer is back, and turns calls away. */
export interface Network {
  /** Resolves when the effect is due, or when the signal aborts. */
  arrive(sent: Sent, signal: AbortSignal): Promise<Arrived>;
}

export interface Arrived {
  readonly isThrottled: boolean;
  /** Nothing happens, and the caller gets this code. A throttled call gets RESOURCE_EXHAUSTED. */
  readonly refusal?: keyof typeof status | undefined;
  /** The effect happens, then the caller gets UNAVAILABLE, as when a connection breaks. */
  readonly isReplyLost?: boolean;
  /** Resolves when an answer of this size is due, or when the signal aborts. */
  reply(bytes: number, signal: AbortSignal): Promise<void>;
}

export interface EmulatorOptions {
  /** Default: 127.0.0.1, which only this machine reaches. */
  readonly host?: string | undefined;
  /** Default: 0, a free one. */
  readonly port?: number;
  /** Milliseconds since 1970, for versions and transactions. Default: the system's clock. */
  readonly nowMs?: () => number;
  /** A file that keeps the entities. Default: they are gone when the server closes. */
  readonly dataFile?: string | undefined;
  /** Default: calls are answered at once. */
  readonly network?: Network | undefined;
}

export interface DatastoreEmulator {
  /** `host:port`, as DATASTORE_EMULATOR_HOST has it. */
  readonly address: string;
  /** Forgets all entities and transactions. */
  reset(): void;
  /** Ends the server: cancels the calls under way. Idempotent. */
  close(): Promise<void>;
}

/** gRPC refuses larger messages unread. The service's own limit is lower and is checked later. */
const MESSAGE_BYTES_MAX = 4 * REQUEST_BYTES_MAX;

/** Waits until it listens. Rejects if the port is taken or the file holds something else. */
export async function startDatastoreEmulator(options: EmulatorOptions = {}): Promise<DatastoreEmulator> {
  const { host = '127.0.0.1', port = 0, nowMs = Date.now, dataFile, network } = options;
  const kept = createKeptStorage(nowMs, dataFile);
  const { storage } = kept;
  const services: Services = { storage, transactions: createTransactions(storage, nowMs) };
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  });
  const handlers = Object.entries(CALLS).map(([rpc, call]) => {
    const answer = answerer(call, services, kept);
    return [rpc, network === undefined ? answerAtOnce(answer) : answerLater(rpc, answer, network)] as const;
  });
  server.addService(definition(), Object.fromEntries(handlers));
  const bound = await listen(server, `${host}:${port}`).catch((error: unknown) => {
    kept.close();
    throw error;
  });
  return {
    address: `${host}:${bound}`,
    reset() {
      services.transactions.clear();
      kept.clear();
    },
    async close() {
      server.forceShutdown();
      kept.close();
    },
  };
}

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(new Error(`cannot listen on ${address}: ${error.message}`, { cause: error }));
    });
  });
}

const asIs = (bytes: Buffer) => bytes;

/** Passes messages as bytes, because each call reports itself what is wrong with its request. */
function definition(): ServiceDefinition {
  const serializers = { requestSerialize: asIs, requestDeserialize: asIs };
  const unary = { requestStream: false, responseStream: false, ...serializers };
  const methods = Object.keys(CALLS).map((rpc) => {
    const path = `/google.datastore.v1.Datastore/${rpc}`;
    return [rpc, { path, ...unary, responseSerialize: asIs, responseDeserialize: asIs }] as const;
  });
  return Object.fromEntries(methods);
}

type Handler = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => unknown;
type Answerer = (request: Buffer) => Answer;
interface Answer {
  readonly error: { readonly code: status; readonly details: string } | null;
  readonly response?: Buffer;
}

function answerer(call: Call, services: Services, kept: KeptStorage): Answerer {
  return (request) => {
    try {
      if (request.length > REQUEST_BYTES_MAX)
        throw invalid('request', `has ${request.length} bytes; it must not be larger than ${REQUEST_BYTES_MAX} bytes`);
      try {
        return { error: null, response: call(request, services) };
      } finally {
        // Before the answer, also if the call failed in the middle.
        kept.keep();
      }
    } catch (error) {
      return { error: errorOf(error) };
    }
  };
}

function answerAtOnce(answer: Answerer): Handler {
  return ({ request }, callback) => {
    const { error, response } = answer(request);
    callback(error, response);
  };
}

/** If the caller leaves before the effect, nothing happens; later, only the answer is dropped. */
function answerLater(rpc: string, answer: Answerer, network: Network): Handler {
  return async (call, callback) => {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort());
    const arrived = await network.arrive(sentOf(rpc, call.request), gone.signal);
    if (gone.signal.aborted) return;
    const refusal = arrived.isThrottled ? 'RESOURCE_EXHAUSTED' : arrived.refusal;
    const answered = refusal === undefined ? answer(call.request) : failed(refusal, 'the call was turned away');
    await arrived.reply(answered.response?.length ?? 0, gone.signal);
    const { error, response } = arrived.isReplyLost === true ? failed('UNAVAILABLE', 'the reply was lost') : answered;
    if (!gone.signal.aborted) callback(error, response);
  };
}

function failed(code: keyof typeof status, details: string): Answer {
  return { error: { code: status[code], details } };
}

/** A request that cannot be read names no entities; its answer will say why. */
function sentOf(rpc: string, request: Buffer): Sent {
  const kind = rpc === 'Commit' ? 'commit' : rpc === 'RunQuery' ? 'query' : 'read';
  return { kind, ids: keysOf(rpc, request).map((key) => key.toString('latin1')), bytes: request.length };
}

const decodeLookup = decoder('LookupRequest');
const decodeCommit = decoder('CommitRequest');
const decodeEntity = decoder('Entity');

function keysOf(rpc: string, request: Buffer): readonly Buffer[] {
  try {
    if (rpc === 'Lookup') return decodeLookup(request).keys;
    if (rpc !== 'Commit') return [];
    return decodeCommit(request).mutations.flatMap(({ operation, ...entities }) => {
      if (operation === undefined) return [];
      return operation === 'delete' ? entities.delete : decodeEntity(entities[operation]).key;
    });
  } catch {
    return [];
  }
}

/** Answers an encoded request with the encoded response, or throws a StatusError. */
type Call = (bytes: Buffer, services: Services) => Buffer;

const EMPTY = Buffer.alloc(0);
const encodeBegun = encoder('BeginTransactionResponse');

/** The calls of the API by name. */
const CALLS: Readonly<Record<string, Call>> = {
  Lookup: reading('LookupRequest', lookup),
  RunQuery: reading('RunQueryRequest', runQuery),
  RunAggregationQuery: refusing('RunAggregationQuery'),
  Commit: reading('CommitRequest', commit),
  AllocateIds: reading('AllocateIdsRequest', allocateIds),
  ReserveIds: refusing('ReserveIds'),
  BeginTransaction: reading('BeginTransactionRequest', (request, _, { transactions }) =>
    encodeBegun({ transaction: transactions.begin(request.transactionOptions).id }),
  ),
  Rollback: reading('RollbackRequest', (request, _, { transactions }) => {
    transactions.rollback(request.transaction);
    return EMPTY;
  }),
};

function reading<M extends keyof Messages & `${string}Request`>(
  message: M,
  answer: (request: Messages[M], database: Database, services: Services) => Buffer,
): Call {
  const decode = decoder(message);
  return (bytes, services) => {
    const request = inside(message, () => decode(bytes));
    return answer(request, databaseOf(request), services);
  };
}

function refusing(rpc: string): Call {
  return () => {
    throw unsupported(rpc);
  };
}

function databaseOf({ projectId, databaseId }: Request): Database {
  if (projectId === '') throw invalid('project_id', 'must be set');
  if (databaseId === '(default)')
    throw invalid('database_id', 'must be empty for the default database, not "(default)"');
  return { projectId, databaseId };
}

/** A message travels in a header of at most 8 KiB, where a character takes up to nine bytes. */
const MESSAGE_CHARS_MAX = 800;

/** An error that is no StatusError is a bug of the emulator; the client gets INTERNAL. */
function errorOf(error: unknown): { code: status; details: string } {
  if (error instanceof StatusError) return { code: error.code, details: cut(error.message) };
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: status.INTERNAL, details: cut(`a bug of this emulator: ${details}`) };
}

/** Cuts out the middle, as the beginning names the field and the end says what is wrong. */
function cut(message: string): string {
  if (message.length <= MESSAGE_CHARS_MAX) return message;
  const half = MESSAGE_CHARS_MAX / 2;
  return `${message.slice(0, half)} ... ${message.slice(-half)}`.toWellFormed();
}
