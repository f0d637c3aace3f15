// google.datastore.v1 over gRPC on this machine. Data is in memory, and in a file if one is named.
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { CALLS, type Rpc, RPCS, type Sent, sentOf } from './rpc-calls.ts';
import { createFaults, type Faults } from './rpc-faults.ts';
import { createKeptStorage, type KeptStorage } from './storage/kept.ts';
import { createTransactions, type Services } from './storage/open-transactions.ts';
import { REQUEST_BYTES_MAX } from './wire/service-limits.ts';
import { invalid, status, StatusError } from './wire/rpc-status.ts';

/** Decides when a call has its effect and when its answer is back, and turns calls away. */
export interface Network {
  /** Resolves when the effect is due, or when the signal aborts. */
  arrive(sent: Sent, signal: AbortSignal): Promise<Arrived>;
}

export interface Arrived {
  readonly isThrottled: boolean;
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
  /** Faults to install. */
  readonly faults: Faults;
  /** Forgets all entities, transactions and faults. */
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
  const faults = createFaults();
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  });
  const answering = network === undefined ? answerAtOnce : answerLater(network);
  const handlers = RPCS.map((rpc) => [rpc, answering(rpc, answerer(rpc, services, faults, kept))]);
  server.addService(definition(), Object.fromEntries(handlers) as Record<Rpc, Handler>);
  const bound = await listen(server, `${host}:${port}`).catch((error: unknown) => {
    kept.close();
    throw error;
  });
  return {
    address: `${host}:${bound}`,
    faults,
    reset() {
      faults.clear();
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
  const methods = RPCS.map((rpc) => {
    const path = `/google.datastore.v1.Datastore/${rpc}`;
    return [rpc, { path, ...unary, responseSerialize: asIs, responseDeserialize: asIs }] as const;
  });
  return Object.fromEntries(methods);
}

type Handler = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => void;
type Answerer = (request: Buffer) => Answer;
interface Answer {
  readonly error: { readonly code: status; readonly details: string } | null;
  readonly response?: Buffer;
}

function answerer(rpc: Rpc, services: Services, faults: Faults, kept: KeptStorage): Answerer {
  const run = (request: Buffer): Buffer => {
    if (request.length > REQUEST_BYTES_MAX)
      throw invalid('request', `has ${request.length} bytes; it must not be larger than ${REQUEST_BYTES_MAX} bytes`);
    try {
      return CALLS[rpc](request, services);
    } finally {
      // Before the answer, also if the call failed in the middle.
      kept.keep();
    }
  };
  return (request) => {
    try {
      return { error: null, response: faults.run(rpc, () => run(request)) };
    } catch (error) {
      return { error: errorOf(error) };
    }
  };
}

function answerAtOnce(_: Rpc, answer: Answerer): Handler {
  return ({ request }, callback) => {
    const { error, response } = answer(request);
    callback(error, response);
  };
}

/** If the caller leaves before the effect, nothing happens; later, only the answer is dropped. */
function answerLater(network: Network): (rpc: Rpc, answer: Answerer) => Handler {
  return (rpc, answer) => async (call, callback) => {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort());
    const arrived = await network.arrive(sentOf(rpc, call.request), gone.signal);
    if (gone.signal.aborted) return;
    const answered = arrived.isThrottled ? THROTTLED : answer(call.request);
    await arrived.reply(answered.response?.length ?? 0, gone.signal);
    const { error, response } = arrived.isReplyLost === true ? LOST : answered;
    if (!gone.signal.aborted) callback(error, response);
  };
}

const THROTTLED: Answer = { error: { code: status.RESOURCE_EXHAUSTED, details: 'too many calls' } };
const LOST: Answer = { error: { code: status.UNAVAILABLE, details: 'the reply was lost' } };

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
