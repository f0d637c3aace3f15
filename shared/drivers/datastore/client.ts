// Three calls of the Datastore API, each sent exactly once: the SDK's retries and gRPC's own are off. The low-level client is used
// because the high-level one exposes neither masks nor base versions; it is imported by path because the package's main module
// reads a file from disk, which a bundle does not have.
import type { google } from '@google-cloud/datastore/build/src/protos.js';
import { DatastoreClient } from '@google-cloud/datastore/build/src/v1/index.js';
import { GoogleAuth, googleAuthLibrary, grpc } from 'google-gax';
import { Requests } from '../common/outcomes.ts';
import { isDeadline } from './errors.ts';

export type Key = google.datastore.v1.IKey;
export type StoredEntity = google.datastore.v1.IEntity;
export type EntityResult = google.datastore.v1.IEntityResult;
export type Mutation = google.datastore.v1.IMutation;
export type Query = google.datastore.v1.IQuery;
export type LookupResponse = google.datastore.v1.ILookupResponse;
export type CommitResponse = google.datastore.v1.ICommitResponse;
type QueryBatch = google.datastore.v1.IQueryResultBatch;

/** Where the service is, and with whose rights. One of `auth` and `endpoint` is needed; the environment is never read. */
export interface ClientOptions {
  readonly projectId: string;
  /** Default: the project's default database. */
  readonly databaseId?: string;
  /** Credentials, for the service itself and for `https:` endpoints. */
  readonly auth?: GoogleAuth;
  /** An emulator (`http://host:port`, no credentials) or another address of the service (`https://host`). */
  readonly endpoint?: string;
}

export interface DatastoreCalls {
  lookup(keys: readonly Key[], mask: readonly string[] | undefined, timeoutMs: number): Promise<LookupResponse>;
  commit(mutations: readonly Mutation[], timeoutMs: number): Promise<CommitResponse>;
  runQuery(namespace: string, query: Query, timeoutMs: number): Promise<QueryBatch>;
  close(): Promise<void>;
}

export function datastoreCalls(options: ClientOptions): DatastoreCalls {
  const channel = new Channel(options);
  const database = { projectId: options.projectId, databaseId: options.databaseId ?? '' };
  return {
    async lookup(keys, mask, timeoutMs) {
      const propertyMask = mask === undefined ? null : { paths: [...mask] };
      const request = { ...database, keys: [...keys], propertyMask };
      const [response] = await channel.run(timeoutMs, (client, once) => client.lookup(request, once));
      return response;
    },
    async commit(mutations, timeoutMs) {
      const request = { ...database, mode: 'NON_TRANSACTIONAL' as const, mutations: [...mutations] };
      const [response] = await channel.run(timeoutMs, (client, once) => client.commit(request, once));
      return response;
    },
    async runQuery(namespace, query, timeoutMs) {
      const request = { ...database, partitionId: { ...database, namespaceId: namespace }, query };
      const [response] = await channel.run(timeoutMs, (client, once) => client.runQuery(request, once));
      return response.batch ?? {};
    },
    close: () => channel.close(),
  };
}

/** How each request is sent: once, and given up when the signal aborts. */
interface Once {
  readonly timeout: number;
  readonly retry: null;
  readonly signal: AbortSignal;
}

/**
 * The client on its connection, and a fresh one for a connection that fell silent: nothing tells of its end, and gRPC would keep it for as
 * long as the kernel does. Not keepalive pings: how many of them the service tolerates is not documented (30 s between two was said to be
 * safe, 10 s not: github.com/googleapis/java-bigtable/pull/528), and a request's own deadline shows the same, sooner.
 */
class Channel {
  readonly #options: ClientOptions;
  readonly #requests = new Requests();
  #client: DatastoreClient;
  #repliedMs = -Infinity;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#client = new DatastoreClient(transportOf(options));
  }

  /** Rejects with gRPC's error, or a DeadlineError. */
  async run<T>(timeoutMs: number, call: (client: DatastoreClient, once: Once) => Promise<T>): Promise<T> {
    const client = this.#client;
    const sentMs = performance.now();
    try {
      const result = await this.#requests.run(timeoutMs, (signal) =>
        call(client, { timeout: timeoutMs, retry: null, signal }),
      );
      this.#repliedMs = performance.now();
      return result;
    } catch (error) {
      if (!isDeadline(error)) this.#repliedMs = performance.now();
      else if (client === this.#client && this.#repliedMs < sentMs) this.#renew();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#requests.close();
    await this.#client.close();
  }

  #renew(): void {
    const silent = this.#client;
    this.#client = new DatastoreClient(transportOf(this.#options));
    // Requests under way on it go on to their deadlines. A client that could not be made fails its calls, not its end.
    silent.close().catch(() => {});
  }
}

function transportOf({ projectId, auth, endpoint }: ClientOptions) {
  const common = {
    projectId,
    // Said here so that the SDK does not look for it in the environment.
    universeDomain: 'googleapis.com',
    // A resend below this driver could answer with the verdict on its own earlier success.
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    // Channels to one address share a connection otherwise: a fresh channel would be on the silent one.
    'grpc.use_local_subchannel_pool': 1,
  };
  if (endpoint === undefined) {
    if (auth === undefined)
      throw new TypeError('give the datastore driver credentials (auth), or the endpoint of an emulator');
    return { ...common, auth };
  }
  const { protocol, hostname, port } = new URL(endpoint);
  const address = { ...common, apiEndpoint: hostname, port: Number(port || (protocol === 'http:' ? 80 : 443)) };
  if (protocol !== 'http:') {
    if (auth === undefined) throw new TypeError(`an https endpoint needs credentials (auth): endpoint=${endpoint}`);
    return { ...address, auth };
  }
  const nobody = new GoogleAuth({ authClient: new googleAuthLibrary.PassThroughClient() });
  const sslCreds = grpc.credentials.createInsecure();
  // A proxy for the internet has no business between this machine and its own emulator.
  return { ...address, auth: nobody, sslCreds, 'grpc.enable_http_proxy': 0 };
}
