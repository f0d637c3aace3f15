// The table service's requests, each sent once. Every change names an etag, because without one the
// service would write in any case. All properties are binary, and base64 on the wire.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
import { randomUUID } from 'node:crypto';
import type { EntityId, EntityVersion } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { RequestMemory } from '../common/request-memory.ts';
import type { Credential } from './authorization.ts';
import {
  type HttpReply,
  JSON_WITHOUT_METADATA,
  objectIn,
  refusalIn,
  type Reply,
  type TableService,
  tableService,
} from './table-service.ts';
import { RefusedRequestError } from './azure-errors.ts';

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
    async createTable(untilMs) {
      if (!mayCreate)
        throw new StoreError('not_found', `there is no Azure table ${tableName}: correct its name, or create it`);
      const body = Buffer.from(JSON.stringify({ TableName: tableName }));
      return service.send({ method: 'POST', path: '/Tables', headers: INSERT_HEADERS, body }, untilMs);
    },
    close: () => service.close(),
  };
}

type PiecesRequest = Omit<Parameters<TableService['send']>[0], 'body'> & { readonly body: readonly string[] };

/** Reuses memory only after the operating system has taken the body, as a reply may come before. */
export function bodySender(service: Pick<TableService, 'send'>) {
  const memories = new RequestMemory();
  return async (request: PiecesRequest, untilMs: number): Promise<HttpReply> => {
    const memory = memories.take(request.body.reduce((sum, piece) => sum + piece.length, 0));
    const reply = await service.send({ ...request, body: bytesOf(request.body, memory) }, untilMs);
    if (reply.isRequestWritten) memories.giveBack(memory);
    return reply;
  };
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

/** Properties by name, in pieces of base64. */
export type Properties = Readonly<Record<string, readonly string[]>>;

export interface RowKeys {
  readonly partition: string;
  readonly row: EntityId;
}

/** Inserts a row, or changes it if it has this etag. */
export interface RowWrite extends RowKeys {
  readonly properties: Properties;
  readonly change?: { readonly mode: 'Merge' | 'Replace'; readonly etag: EntityVersion };
}

const METHODS = { Merge: 'PATCH', Replace: 'PUT' } as const;

/** Sent with each request that has properties in its body or reply. */
const DATA_VERSION = ['DataServiceVersion', '3.0'];

const BODY_HEADERS = [...DATA_VERSION, 'Content-Type', JSON_WITHOUT_METADATA];
const INSERT_HEADERS = [...BODY_HEADERS, 'Prefer', 'return-no-content'];

/** The path of a table, or of a row if keys are given, which need no escapes. */
function pathOf(tableName: string, keys?: RowKeys): string {
  if (keys === undefined) return `/${tableName}`;
  return `/${tableName}(PartitionKey='${keys.partition}',RowKey='${keys.row}')`;
}

/**
 * A write as a request of its own, or as a member of a transaction. All pieces of its body are
 * ASCII. Throws a TypeError for a change without an etag.
 */
function requestOf(tableName: string, write: RowWrite) {
  const { change } = write;
  const body = piecesOf(write);
  if (change === undefined) return { method: 'POST' as const, path: pathOf(tableName), headers: INSERT_HEADERS, body };
  const headers = [...BODY_HEADERS, ...conditionOf(change.etag)];
  return { method: METHODS[change.mode], path: pathOf(tableName, write), headers, body };
}

/** The header without which the service would write whatever the row's version is. */
export function conditionOf(etag: EntityVersion): string[] {
  if (!etag || etag.includes('*')) throw new TypeError('a change needs a condition');
  return ['If-Match', etag];
}

/** Writes pieces of ASCII into `memory`: a socket takes up to three times as long for a string. */
function bytesOf(pieces: readonly string[], memory: Buffer): Uint8Array {
  let end = 0;
  for (const piece of pieces) end += memory.write(piece, end, 'latin1');
  return memory.subarray(0, end);
}

/** Base64, ids and names need no escapes. JSON.stringify takes 4.3 ns per byte, this takes 0.5. */
function piecesOf({ partition, row, properties }: RowWrite): string[] {
  const pieces = [`{"PartitionKey":${JSON.stringify(partition)},"RowKey":${JSON.stringify(row)}`];
  for (const [name, value] of Object.entries(properties))
    pieces.push(`,"${name}":"`, ...value, `","${name}@odata.type":"Edm.Binary"`);
  pieces.push('}');
  return pieces;
}

/** The status of a change, and of an insert that asks for no content. */
const MEMBER_SUCCESS = 204;

interface Member {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: string;
}

/**
 * Several writes of one partition in one request, all or nothing. `url` is the account's, as
 * members have full addresses. They carry no authorization.
 * https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
 */
function transactionOf(url: string, tableName: string, writes: readonly RowWrite[]) {
  const [batch, changes] = [`batch_${randomUUID()}`, `changeset_${randomUUID()}`];
  const pieces = [`--${batch}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n`];
  for (const write of writes) {
    const { method, path, headers, body } = requestOf(tableName, write);
    pieces.push(`--${changes}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n`);
    pieces.push(`${method} ${url}${path} HTTP/1.1\r\n${linesOf(headers)}\r\n`, ...body, '\r\n');
  }
  pieces.push(`--${changes}--\r\n--${batch}--\r\n`);
  const type = ['Content-Type', `multipart/mixed; boundary=${batch}`];
  return { headers: [...DATA_VERSION, 'MaxDataServiceVersion', '3.0', ...type], body: pieces };
}

/** Undefined unless all were surely written. Throws a RefusedRequestError if none was. */
export function etagsIn({ headers, body }: Reply, count: number): readonly EntityVersion[] | undefined {
  const members = membersIn(headers['content-type'] ?? '', body.toString());
  const [first] = members;
  // The answer to a change set that failed has one member, which says why.
  if (first !== undefined && members.length === 1 && first.status >= 400)
    throw new RefusedRequestError({ ...refusalIn(first.body), status: first.status, isVerdict: true });
  const etags = members.flatMap(({ status, etag }) =>
    status === MEMBER_SUCCESS && etag !== undefined ? [etag as EntityVersion] : [],
  );
  return members.length === count && etags.length === count ? etags : undefined;
}

/** The members of the one change set in a reply; none if it is cut or malformed. */
function membersIn(contentType: string, text: string): Member[] {
  const [changes, ...others] = partsIn(text, boundaryIn(contentType));
  if (changes === undefined || others.length > 0) return [];
  const head = changes.slice(0, changes.indexOf('\r\n\r\n'));
  const members = partsIn(changes, boundaryIn(head)).map(memberIn);
  return members.some((member) => member === undefined) ? [] : (members as Member[]);
}

/** The parts, each with the line break before its headers. None without the last delimiter. */
function partsIn(text: string, boundary: string | undefined): string[] {
  if (boundary === undefined) return [];
  const pieces = `\r\n${text}`.split(`\r\n--${boundary}`).slice(1);
  const end = pieces.pop();
  return end?.startsWith('--') === true && pieces.every((piece) => piece.startsWith('\r\n')) ? pieces : [];
}

function boundaryIn(headers: string): string | undefined {
  return /multipart\/mixed;\s*boundary="?([^\s";]+)/i.exec(headers)?.[1];
}

function memberIn(part: string): Member | undefined {
  const [, status, head, body] = /\r\n\r\nHTTP\/1\.1 (\d{3})\b[^\r\n]*(\r\n[^]*?)\r\n\r\n([^]*)$/.exec(part) ?? [];
  if (status === undefined || head === undefined || body === undefined) return undefined;
  return { status: Number(status), etag: /\r\nETag: *([^\r\n]+)/i.exec(head)?.[1], body };
}

function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}
