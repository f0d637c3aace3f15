// Makes the calls by Google's own client, without its retries, because a second attempt could
// report a conflict with the first one's success.
import { ClientCalls } from '../common/under-way.ts';
import { SILENCE_MS } from '../../store/contract/driver.ts';
import { DeadlineError, NotSentError, withDeadline } from '../common/driver-outcomes.ts';
import type { DatastoreCalls } from './datastore-calls.ts';
import { noCredentials } from './grpc/channel.ts';
import { CODE, StatusError } from './grpc/call.ts';
import type { Key, KeysQuery, Mutation, QueryBatch, StoredEntity } from './messages/messages.ts';

/** A `Datastore` of @google-cloud/datastore 11 or later, as far as it is used. */
export interface DatastoreClient {
  readonly namespace?: string | undefined;
  readonly options: object;
  readonly auth: { getClient(): Promise<unknown> };
  request_(
    call: { client: string; method: string; reqOpts?: object; gaxOpts?: object },
    callback: (error?: Error | null, reply?: unknown) => void,
  ): void;
}

/** The options of a client that are used here. */
interface ClientSettings {
  readonly projectId?: string;
  readonly databaseId?: string;
  readonly servicePath?: string;
  readonly port?: number;
  readonly fallback?: unknown;
}

type ClientClass = new (options: object) => DatastoreClient & {
  readonly clients_: ReadonlyMap<string, { close(): Promise<void> }>;
};

/** Turns all retries of gRPC off, even of a stream that the service says it refused. */
const SENT_ONCE = { 'grpc.enable_retries': 0 };

const SERVICE_HOST = /(^|[-.])datastore\.googleapis\.com$/;

/** Where a client sends its requests. `isService`: to Google's own address. */
export function spaceOf(client: DatastoreClient) {
  const { projectId = '', databaseId = '', servicePath = '', port = 443 } = client.options as ClientSettings;
  const isService = SERVICE_HOST.test(servicePath);
  return { projectId, databaseId, namespace: client.namespace ?? '', address: `${servicePath}:${port}`, isService };
}

/** Throws a TypeError without gRPC. Makes another client, as only options turn retries off. */
export function sdkCalls(given: DatastoreClient): DatastoreCalls {
  const { projectId, databaseId } = spaceOf(given);
  const ask = askerOver(given);
  return {
    async lookup(keys, mask, timeoutMs) {
      const propertyMask = mask === undefined ? {} : { propertyMask: { paths: mask } };
      const reply = await ask.send<LookupReply>('lookup', { keys, ...propertyMask }, timeoutMs);
      const found = reply.found.map(({ entity, version }) => ({ entity, version: versionIn(version) }));
      return { found, missing: reply.missing.map(({ entity }) => entity.key) };
    },
    async commit(mutations, timeoutMs) {
      const reply = await ask.send<CommitReply>('commit', { mutations: mutations.map(protoOf) }, timeoutMs);
      return reply.mutationResults.map((one) => ({ ...one, version: versionIn(one.version) }));
    },
    async runQuery(namespaceId, query, timeoutMs) {
      const partitionId = { projectId, databaseId, namespaceId };
      const { batch } = await ask.send<QueryReply>('runQuery', { partitionId, query: queryOf(query) }, timeoutMs);
      return batchOf(batch);
    },
    close: () => ask.close(),
  };
}

/** Uses a client of the driver's own, and replaces it when its connection seems dead. */
function askerOver({ options, auth, constructor }: DatastoreClient) {
  if (((options as ClientSettings).fallback ?? false) !== false)
    throw new TypeError('datastoreDriver: client does not speak gRPC: leave out its option fallback');
  const connect = () => new (constructor as ClientClass)({ ...options, auth, ...SENT_ONCE });
  const calls = new ClientCalls();
  let client = connect();
  let heardMs = -Infinity;

  /** Called when a deadline passed in silence, for which the library itself would wait minutes. */
  const leave = (silent: typeof client): void => {
    if (client !== silent) return;
    client = connect();
    close(silent).catch(() => undefined);
  };
  return {
    async send<Reply>(method: string, reqOpts: object, timeoutMs: number): Promise<Reply> {
      const [asked, sentMs] = [client, performance.now()];
      let isAsked = false;
      try {
        const reply = await calls.run(timeoutMs, async (signal) => {
          // Without credentials the SDK throws where nobody can catch it. Emulators need none.
          if (!('sslCreds' in options)) await credentialsOf(auth);
          if (signal.aborted) throw new NotSentError(signal.reason);
          isAsked = true;
          const gaxOpts = { timeout: timeoutMs, retry: null, signal };
          return answer(asked, { client: 'DatastoreClient', method, reqOpts, gaxOpts });
        });
        heardMs = performance.now();
        return reply as Reply;
      } catch (error) {
        if (!isAsked) throw error instanceof NotSentError ? error : new NotSentError(error);
        if (isDeadline(error) && heardMs <= sentMs) leave(asked);
        throw error;
      }
    },
    async close(): Promise<void> {
      calls.close();
      await close(client);
    },
  };
}

async function credentialsOf(auth: DatastoreClient['auth']): Promise<void> {
  try {
    await withDeadline(auth.getClient(), SILENCE_MS, 'the credentials');
  } catch (error) {
    throw noCredentials(error);
  }
}

function answer(client: DatastoreClient, call: Parameters<DatastoreClient['request_']>[0]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // oxlint-disable-next-line no-underscore-dangle -- the SDK's own name
    client.request_(call, (error, reply) => {
      if (error === null || error === undefined) resolve(reply);
      else reject(statusOf(error));
    });
  });
}

async function close(client: InstanceType<ClientClass>): Promise<void> {
  // oxlint-disable-next-line no-underscore-dangle -- the SDK's own name
  await client.clients_.get('DatastoreClient')?.close();
}

function isDeadline(error: unknown): boolean {
  return error instanceof DeadlineError || (error instanceof StatusError && error.code === CODE.DEADLINE_EXCEEDED);
}

interface LookupReply {
  readonly found: readonly { readonly entity: StoredEntity; readonly version: string }[];
  readonly missing: readonly { readonly entity: StoredEntity }[];
}

interface CommitReply {
  readonly mutationResults: readonly { readonly version: string; readonly conflictDetected: boolean }[];
}

interface QueryReply {
  readonly batch: {
    readonly entityResults: readonly { readonly entity: StoredEntity }[];
    readonly endCursor: Uint8Array;
    readonly moreResults: string;
  } | null;
}

/** The SDK gives a number that was left out as 0. */
function versionIn(version: string): string | undefined {
  return version === '0' ? undefined : version;
}

function protoOf({ propertyMask, ...mutation }: Mutation): object {
  return propertyMask === undefined ? mutation : { ...mutation, propertyMask: { paths: propertyMask } };
}

const KEY = { name: '__key__' };

function queryOf({ kind, range, startCursor, limit }: KeysQuery): object {
  const bound = (op: string, keyValue: Key) => ({ propertyFilter: { property: KEY, op, value: { keyValue } } });
  const filter = (from: Key, before: Key) => ({
    compositeFilter: { op: 'AND', filters: [bound('GREATER_THAN_OR_EQUAL', from), bound('LESS_THAN', before)] },
  });
  return {
    kind: [{ name: kind }],
    projection: [{ property: KEY }],
    order: [{ property: KEY, direction: 'ASCENDING' }],
    limit: { value: limit },
    ...(range === undefined ? {} : { filter: filter(...range) }),
    ...(startCursor === undefined ? {} : { startCursor }),
  };
}

function batchOf(batch: QueryReply['batch']): QueryBatch {
  if (batch === null) throw new Error('the reply is no message of the Datastore API');
  const { entityResults, endCursor, moreResults } = batch;
  return { keys: entityResults.map(({ entity }) => entity.key), endCursor, moreResults };
}

/** Codes that the SDK also makes up, for answers of a proxy or errors of its credentials. */
const MADE_UP: ReadonlySet<unknown> = new Set([CODE.PERMISSION_DENIED, CODE.UNAUTHENTICATED, CODE.UNIMPLEMENTED]);
const HTTP_STATUS = 'Received HTTP status code';
const NO_METADATA = 'Getting metadata from plugin';
const DETAILS_MADE_UP = new RegExp(`^(${HTTP_STATUS}|Protocol not secure|${NO_METADATA})`);
/** Errors of the SDK before it has a connection or token, so that nothing was sent. */
const NOT_SENT = new RegExp(`^(No connection established|Name resolution failed|${NO_METADATA})`);

interface GrpcError extends Error {
  readonly code?: unknown;
  readonly details?: string;
  /** The reply's; empty where none came. */
  readonly metadata?: { get(name: string): readonly unknown[]; toJSON(): object };
}

/** Tells the service's own refusal, a reply without a body, from errors that the SDK makes up. */
function statusOf(error: GrpcError): Error {
  const { code, details = error.message, metadata } = error;
  if (typeof code !== 'number') return error;
  if (NOT_SENT.test(details) && Object.keys(metadata?.toJSON() ?? {}).length === 0)
    return new NotSentError(
      details.startsWith(NO_METADATA) ? noCredentials(error) : new StatusError(code, details, { cause: error }),
    );
  const isGrpc = String(metadata?.get('content-type')[0]).startsWith('application/grpc');
  const isVerdict = !MADE_UP.has(code) || (isGrpc && !DETAILS_MADE_UP.test(details));
  // The reply had no message, or a broken one.
  const isBroken = code === CODE.UNIMPLEMENTED && !isVerdict && !details.startsWith(HTTP_STATUS);
  return new StatusError(isBroken ? CODE.INTERNAL : code, details, { isVerdict, cause: error });
}
