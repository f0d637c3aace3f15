// The calls of Azure's table service that the driver needs, each sent exactly once: the SDK's retries are off. Every change names an etag:
// the service takes a missing one for leave to write anything, the SDK's transactions for `*`. The physical table is created when a call
// finds it missing.
import http from 'node:http';
import https from 'node:https';
import {
  type AzureSASCredential,
  type NamedKeyCredential,
  TableClient,
  type TableEntity,
  type TransactionAction,
} from '@azure/data-tables';
import type { EntityId, EntityVersion } from '../../store/contract/driver.ts';
import { Requests, withDeadline } from '../common/outcomes.ts';
import { isTableNotFound } from './errors.ts';
import { type Properties, type RowKeys, type RowReply, rowSender } from './rows.ts';

/** The service's load balancer drops idle sockets silently after 60 s. */
const IDLE_SOCKET_MS = 55_000;

/** A token credential, such as those of `@azure/identity`. */
interface TokenSource {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>;
}

/** A shared key, a SAS, or a token credential. */
type Credential = NamedKeyCredential | AzureSASCredential | TokenSource;

/** Where the service is, and with whose rights; the environment is never read. */
export interface ClientOptions {
  /** `https://account.table.core.windows.net`, or an emulator's address with the account's path. A SAS may be part of it. */
  readonly endpoint: string;
  /** The physical table: 3 to 63 letters and digits, a letter first. Created when first needed. */
  readonly tableName: string;
  /** None if a SAS stands in the endpoint. */
  readonly credential?: Credential;
  /** Allows `http:` to another machine. Default false: to this one alone, for emulators. */
  readonly allowInsecureConnection?: boolean;
}

/** A row to be written: an insert, or a change on condition of its etag. */
export interface RowWrite extends RowKeys {
  readonly properties: Properties;
  readonly change?: { readonly mode: UpdateMode; readonly etag: EntityVersion };
}

interface RowPage {
  readonly rowKeys: readonly EntityId[];
  readonly continuation: string | undefined;
}

type UpdateMode = 'Merge' | 'Replace';

const METHODS = { Merge: 'PATCH', Replace: 'PUT' } as const;

export interface TableCalls {
  /** Rejects with the service's error if there is none. */
  get(keys: RowKeys, select: readonly string[] | undefined, timeoutMs: number): Promise<RowReply>;
  /** The new etag; undefined if the service does not tell. */
  write(write: RowWrite, timeoutMs: number): Promise<EntityVersion | undefined>;
  delete(keys: RowKeys, etag: EntityVersion, timeoutMs: number): Promise<void>;
  /** The new etags in order; undefined if the reply is not that of a transaction that succeeded. */
  submit(writes: readonly RowWrite[], timeoutMs: number): Promise<readonly EntityVersion[] | undefined>;
  listPage(filter: string, count: number, continuation: string | undefined, timeoutMs: number): Promise<RowPage>;
  close(): void;
}

/** Opens the calls; no I/O. The factory has judged whether the endpoint may do without TLS. */
export function tableCalls({
  endpoint,
  tableName,
  credential,
}: Omit<ClientOptions, 'allowInsecureConnection'>): TableCalls {
  const allowInsecureConnection = new URL(endpoint).protocol === 'http:';
  const agent = newAgent(endpoint);
  const options = {
    allowInsecureConnection,
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
    additionalPolicies: [{ position: 'perCall' as const, policy: agentPolicy(agent) }],
  };
  const client =
    credential === undefined
      ? new TableClient(endpoint, tableName, options)
      : // The SDK tells the kinds apart itself, but no overload takes their union.
        new TableClient(endpoint, tableName, credential as NamedKeyCredential, options);
  const requests = new Requests();
  const send = sender(client, requests);
  const row = rowSender(client, endpoint, allowInsecureConnection);

  return {
    get: (keys, select, timeoutMs) =>
      send(timeoutMs, (abortSignal) => row({ ...keys, method: 'GET', select }, abortSignal)),
    write: ({ change, ...write }, timeoutMs) =>
      send(timeoutMs, async (abortSignal) => {
        const how = change === undefined ? { method: 'POST' as const } : { method: METHODS[change.mode], ...change };
        return (await row({ ...write, ...how }, abortSignal)).etag;
      }),
    delete: (keys, etag, timeoutMs) =>
      send(timeoutMs, async (abortSignal) => {
        await row({ ...keys, method: 'DELETE', etag }, abortSignal);
      }),
    submit: (writes, timeoutMs) =>
      send(timeoutMs, async (abortSignal) => {
        const { subResponses } = await client.submitTransaction(writes.map(actionOf), { abortSignal });
        const succeeded = subResponses.every(({ status, etag }) => status < 300 && etag !== undefined);
        if (!succeeded || subResponses.length !== writes.length) return undefined;
        return subResponses.map(({ etag }) => etag as EntityVersion);
      }),
    listPage: (filter, count, continuation, timeoutMs) =>
      send(timeoutMs, async (abortSignal) => {
        const rows = client.listEntities({ abortSignal, queryOptions: { filter, select: ['RowKey'] } });
        const settings = {
          maxPageSize: count,
          ...(continuation === undefined ? {} : { continuationToken: continuation }),
        };
        const page = (await rows.byPage(settings).next()).value ?? [];
        return {
          rowKeys: page.map((row: { rowKey?: string }) => (row.rowKey ?? '') as EntityId),
          continuation: page.continuationToken,
        };
      }),
    close: () => {
      requests.close();
      agent.destroy();
    },
  };
}

function actionOf({ partition, row, properties, change }: RowWrite): TransactionAction {
  const entity: TableEntity = { partitionKey: partition, rowKey: row };
  for (const [name, value] of Object.entries(properties)) entity[name] = { type: 'Binary', value };
  return change === undefined ? ['create', entity] : ['update', entity, change.mode, { etag: change.etag }];
}

/** Sends a request, and once more after creating the table if there was none; a request that found no table had no effect. */
function sender(client: TableClient, requests: Requests) {
  let creating: Promise<void> | undefined;
  const create = (timeoutMs: number) => {
    creating ??= requests
      .run(timeoutMs, (abortSignal) => client.createTable({ abortSignal }))
      .finally(() => {
        creating = undefined;
      });
    return creating;
  };
  return async <T>(timeoutMs: number, request: (abortSignal: AbortSignal) => Promise<T>): Promise<T> => {
    const until = performance.now() + timeoutMs;
    const leftMs = () => Math.max(1, until - performance.now());
    try {
      return await requests.run(timeoutMs, request);
    } catch (error) {
      if (!isTableNotFound(error)) throw error;
    }
    await withDeadline(create(leftMs()), leftMs());
    return requests.run(leftMs(), request);
  };
}

function newAgent(endpoint: string): http.Agent {
  const options = { keepAlive: true, noDelay: true, timeout: IDLE_SOCKET_MS };
  return new URL(endpoint).protocol === 'http:' ? new http.Agent(options) : new https.Agent(options);
}

/** A request with an agent of its own also keeps the SDK from looking for a proxy in the environment. */
function agentPolicy(agent: http.Agent) {
  return {
    name: 'stowageAgentPolicy',
    sendRequest<Request extends { agent?: unknown }, Response>(request: Request, next: (request: Request) => Response) {
      request.agent = agent;
      return next(request);
    },
  };
}
