// Three calls of the Datastore API, each sent exactly once. The SDK takes two to three times the
// processor time.
import { SILENCE_MS } from '../../store/contract/driver.ts';
import { RequestMemory } from '../common/request-memory.ts';
import { Channel, type Auth } from './grpc/channel.ts';
import type { Key, KeysQuery, LookupResponse, Mutation, MutationResult, QueryBatch } from './messages/messages.ts';
import { commitBytes, framedCommit, framedLookup, framedRunQuery } from './messages/request-messages.ts';
import { readCommitResponse, readLookupResponse, readRunQueryResponse } from './messages/response-messages.ts';

/** Give `auth`, or the `endpoint` of an emulator. The environment is never read. */
export interface ClientOptions {
  readonly projectId: string;
  /** Default: the project's default database. */
  readonly databaseId?: string;
  /** For the service and `https:` endpoints. Scope: `https://www.googleapis.com/auth/datastore`. */
  readonly auth?: Auth;
  /** An emulator (`http://host:port`) or another address of the service (`https://host`). */
  readonly endpoint?: string;
}

/**
 * Each takes one round trip. Rejects with a StatusError, a DeadlineError, a NotSentError, or an
 * Error for a broken reply. The driver's own transport also ends reads after SILENCE_MS of silence.
 */
export interface DatastoreCalls {
  /** `mask`: the wanted properties. Default: all. */
  lookup(keys: readonly Key[], mask: readonly string[] | undefined, timeoutMs: number): Promise<LookupResponse>;
  /** Outside of transactions. */
  commit(mutations: readonly Mutation[], timeoutMs: number): Promise<readonly MutationResult[]>;
  runQuery(namespace: string, query: KeysQuery, timeoutMs: number): Promise<QueryBatch>;
  close(): Promise<void>;
}

export const SERVICE = 'https://datastore.googleapis.com';
const PATH = '/google.datastore.v1.Datastore';

/** As gRPC asks: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, "User Agents". */
const USER_AGENT = `grpc-node-stowage/1 (node/${process.versions.node})`;

/** Sends messages of gRPC. */
export type Wire = Pick<Channel, 'unary' | 'close'>;

/** No I/O. `wired` may see or answer what is sent. */
export function datastoreCalls(
  options: ClientOptions,
  wired: (channel: Wire) => Wire = (channel) => channel,
): DatastoreCalls {
  const { projectId, databaseId = '' } = options;
  const database = { projectId, databaseId };
  const channel = wired(channelTo(options));
  const memories = new RequestMemory();
  const ask = (method: string, message: Buffer, timeoutMs: number) =>
    channel.unary({ path: `${PATH}/${method}`, message, timeoutMs, silenceMs: SILENCE_MS });
  return {
    async lookup(keys, mask, timeoutMs) {
      return readLookupResponse(await ask('Lookup', framedLookup(database, keys, mask), timeoutMs));
    },
    async commit(mutations, timeoutMs) {
      const memory = memories.take(commitBytes(mutations));
      const message = framedCommit(database, mutations, memory);
      const written = (): void => memories.giveBack(memory);
      return readCommitResponse(await channel.unary({ path: `${PATH}/Commit`, message, timeoutMs, written }));
    },
    async runQuery(namespaceId, query, timeoutMs) {
      const message = framedRunQuery({ ...database, namespaceId }, query);
      return readRunQueryResponse(await ask('RunQuery', message, timeoutMs));
    },
    close: async () => channel.close(),
  };
}

function channelTo({ projectId, databaseId = '', auth, endpoint }: ClientOptions): Channel {
  const address = new URL(endpoint ?? SERVICE);
  const headers = {
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': USER_AGENT,
    // Tells Google the database and so its region: https://google.aip.dev/client-libraries/4222
    'x-goog-request-params': `project_id=${encodeURIComponent(projectId)}&database_id=${encodeURIComponent(databaseId)}`,
  };
  if (address.protocol === 'http:') return new Channel({ address, headers });
  if (auth !== undefined) return new Channel({ address, headers, auth });
  if (endpoint !== undefined) throw new TypeError(`an https endpoint needs credentials (auth): endpoint=${endpoint}`);
  throw new TypeError('give the datastore driver credentials (auth), or the endpoint of an emulator');
}
