// Sends the table service's requests, each once. Every change names an etag, because without one
// the service would write in any case.
import type { EntityId, EntityVersion } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { RequestMemory } from '../common/request-memory.ts';
import type { Credential } from './authorization.ts';
import type { HttpReply } from './send-http.ts';
import {
  bytesOf,
  conditionOf,
  DATA_VERSION,
  lengthOf,
  pathOf,
  requestOf,
  type RowKeys,
  type RowWrite,
} from './row-requests.ts';
import { JSON_WITHOUT_METADATA, objectIn, type Reply, type TableService, tableService } from './table-service.ts';
import { etagsIn, transactionOf } from './transaction.ts';

/** The service's address, table and credential. The environment is never read. */
export interface ClientOptions {
  /** `https://account.table.core.windows.net`, with a SAS, or an emulator's with the account. */
  readonly endpoint: string;
  /** The physical table: 3 to 63 letters and digits, a letter first. Created when first needed. */
  readonly tableName: string;
  /** Left out if the endpoint has a SAS. */
  readonly credential?: Credential;
  /** Allows `http:` to another machine. Default false: only to this one, for emulators. */
  readonly allowInsecureConnection?: boolean;
  /** False: calls on a missing table fail with `not_found`. Default true. */
  readonly createTable?: boolean;
}

interface RowReply {
  readonly etag: EntityVersion | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface RowPage {
  readonly rowKeys: readonly EntityId[];
  /** The listing's next page, as query parameters. */
  readonly continuation: string | undefined;
}

/** One request each, until `untilMs` of `performance.now()`. Rejects with the service's error. */
export interface TableCalls {
  get(keys: RowKeys, select: readonly string[] | undefined, untilMs: number): Promise<RowReply>;
  /** Gives the new etag; undefined if the service does not tell it. */
  write(write: RowWrite, untilMs: number): Promise<EntityVersion | undefined>;
  delete(keys: RowKeys, etag: EntityVersion, untilMs: number): Promise<unknown>;
  /** Gives the new etags in order; undefined unless the reply tells of a success. */
  submit(writes: readonly RowWrite[], untilMs: number): Promise<readonly EntityVersion[] | undefined>;
  listPage(filter: string, count: number, continuation: string | undefined, untilMs: number): Promise<RowPage>;
  createTable(untilMs: number): Promise<unknown>;
  close(): void;
}

/** No I/O. The factory has checked whether the endpoint may be without TLS. */
export function tableCalls(
  options: Omit<ClientOptions, 'allowInsecureConnection'>,
  wired?: Parameters<typeof tableService>[2],
): TableCalls {
  const { endpoint, tableName, credential, createTable: mayCreate = true } = options;
  const service = tableService(endpoint, credential, wired);
  const sendBody = bodySender(service);
  return {
    async get(keys, select, untilMs) {
      const query = select === undefined ? '' : `$select=${select.join()}`;
      const request = { method: 'GET', path: pathOf(tableName, keys), query, headers: DATA_VERSION } as const;
      const reply = await service.send(request, untilMs);
      return { etag: etagOf(reply), properties: propertiesIn(reply) };
    },
    async write(write, untilMs) {
      return etagOf(await sendBody(requestOf(tableName, write), untilMs));
    },
    async delete(keys, etag, untilMs) {
      return service.send({ method: 'DELETE', path: pathOf(tableName, keys), headers: conditionOf(etag) }, untilMs);
    },
    async submit(writes, untilMs) {
      const { headers, body } = transactionOf(service.url, tableName, writes);
      const reply = await sendBody({ method: 'POST', path: '/$batch', headers, body, success: 202 }, untilMs);
      return etagsIn(reply, writes.length);
    },
    async listPage(filter, count, continuation, untilMs) {
      const query = `$select=RowKey&$top=${count}&$filter=${encodeURIComponent(filter)}${continuation ?? ''}`;
      const request = { method: 'GET', path: `${pathOf(tableName)}()`, query, headers: DATA_VERSION } as const;
      return pageIn(await service.send(request, untilMs));
    },
    createTable: (untilMs) =>
      mayCreate ? createTable(service, tableName, untilMs) : Promise.reject(noTable(tableName)),
    close: () => service.close(),
  };
}

type PiecesRequest = Omit<Parameters<TableService['send']>[0], 'body'> & { readonly body: readonly string[] };

/** Reuses memory only after the operating system has taken the body, as a reply may come before. */
export function bodySender(service: Pick<TableService, 'send'>) {
  const memories = new RequestMemory();
  return async (request: PiecesRequest, untilMs: number): Promise<HttpReply> => {
    const memory = memories.take(lengthOf(request.body));
    const reply = await service.send({ ...request, body: bytesOf(request.body, memory) }, untilMs);
    if (reply.isRequestWritten) memories.giveBack(memory);
    return reply;
  };
}

function noTable(tableName: string): StoreError {
  return new StoreError('not_found', `there is no Azure table ${tableName}: correct its name, or create it`);
}

function createTable(service: TableService, tableName: string, untilMs: number): Promise<unknown> {
  const headers = [...DATA_VERSION, 'Content-Type', JSON_WITHOUT_METADATA, 'Prefer', 'return-no-content'];
  const body = Buffer.from(JSON.stringify({ TableName: tableName }));
  return service.send({ method: 'POST', path: '/Tables', headers, body }, untilMs);
}

export function etagOf({ headers }: Pick<Reply, 'headers'>): EntityVersion | undefined {
  return headers.etag as EntityVersion | undefined;
}

function propertiesIn({ body }: Pick<Reply, 'body'>): Readonly<Record<string, unknown>> {
  const properties = objectIn(body.toString());
  if (properties !== undefined) return properties;
  throw new StoreError('unavailable', 'the reply was not from azure tables: look for a proxy on the way');
}

function rowKeyOf(row: unknown): EntityId | undefined {
  const { RowKey = '' } = (row ?? { RowKey: null }) as { readonly RowKey?: unknown };
  return typeof RowKey === 'string' ? (RowKey as EntityId) : undefined;
}

/** https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination */
export function pageIn(reply: Reply): RowPage {
  const { value } = propertiesIn(reply);
  const rowKeys = Array.isArray(value) ? value.map(rowKeyOf) : [undefined];
  if (!rowKeys.every((key) => key !== undefined))
    throw new StoreError('unavailable', 'the reply was not a page of rows: look for a proxy on the way');
  const next = ['NextPartitionKey', 'NextRowKey'].flatMap((name) => {
    const key = reply.headers[`x-ms-continuation-${name.toLowerCase()}`];
    return typeof key === 'string' && key !== '' ? [`&${name}=${encodeURIComponent(key)}`] : [];
  });
  return { rowKeys, continuation: next.length === 0 ? undefined : next.join('') };
}
