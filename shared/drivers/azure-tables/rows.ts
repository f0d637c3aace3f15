// Requests for one row, sent through the SDK's own pipeline: its credentials, headers and transport, without its generated serializers, which
// take a sixth of a small request's time. All properties are binary and travel as base64; a row's keys are in its address.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
import {
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineRequest,
  type HttpMethods,
} from '@azure/core-rest-pipeline';
import type { TableClient } from '@azure/data-tables';
import type { EntityId, EntityVersion } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';

const JSON_WITHOUT_METADATA = 'application/json;odata=nometadata';

/** Properties by name, in base64. */
export type Properties = Readonly<Record<string, string>>;

export interface RowKeys {
  readonly partition: string;
  readonly row: EntityId;
}

interface RowRequest extends RowKeys {
  readonly method: HttpMethods;
  /** Of a read: the properties that are wanted; undefined: all. */
  readonly select?: readonly string[] | undefined;
  /** Of a write. */
  readonly properties?: Properties;
  /** The condition of a change. */
  readonly etag?: EntityVersion;
}

export interface RowReply {
  readonly etag: EntityVersion | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A reply of the service that is no success. Whether the request was carried out, its status and code tell (errors.ts). */
class RefusedRequestError extends Error {
  readonly statusCode: number;
  /** The service's word for it; undefined if it gave none. */
  readonly code: string | undefined;

  constructor(statusCode: number, code: string | undefined, detail: string) {
    super(`azure tables answered ${[statusCode, code, detail].filter(Boolean).join(' ')}`);
    this.name = 'RefusedRequestError';
    this.statusCode = statusCode;
    this.code = code;
  }
}

type SendRow = (request: RowRequest, abortSignal: AbortSignal) => Promise<RowReply>;

/** Requests for the rows of the physical table of `client`, which is at `endpoint`; `allowInsecureConnection` as the SDK has it. */
export function rowSender(client: TableClient, endpoint: string, allowInsecureConnection: boolean): SendRow {
  const http = createDefaultHttpClient();
  const { origin, pathname, search } = new URL(endpoint);
  const table = `${origin}${pathname.replace(/\/$/, '')}/${client.tableName}`;
  return async (request, abortSignal) => {
    const reply = await client.pipeline.sendRequest(
      http,
      createPipelineRequest({
        url: addressOf(table, search, request),
        method: request.method,
        headers: createHttpHeaders(headersOf(request)),
        ...(request.properties === undefined ? {} : { body: bodyOf(request, request.properties) }),
        allowInsecureConnection,
        abortSignal,
      }),
    );
    const body = bodyIn(reply);
    if (reply.status >= 300) throw refusalOf(reply.status, body, reply.headers.get('x-ms-error-code'));
    if (request.method === 'GET' && body === undefined)
      throw new StoreError('unavailable', 'the reply was not from azure tables: look for a proxy on the way');
    return { etag: reply.headers.get('etag') as EntityVersion | undefined, properties: body ?? {} };
  };
}

/** `search` may be a shared access signature. */
function addressOf(table: string, search: string, { method, partition, row, select }: RowRequest): string {
  if (method === 'POST') return `${table}${search}`;
  const address = `${table}(PartitionKey='${quoted(partition)}',RowKey='${quoted(row)}')${search}`;
  if (select === undefined) return address;
  return `${address}${search === '' ? '?' : '&'}$select=${select.join()}`;
}

function quoted(key: string): string {
  return encodeURIComponent(key.replaceAll("'", "''"));
}

function headersOf({ properties, etag, method }: RowRequest): Record<string, string> {
  // Without one the service would write whatever is there.
  const isChange = method !== 'GET' && method !== 'POST';
  if (isChange && (!etag || etag.includes('*'))) throw new TypeError('a change needs a condition');
  return {
    accept: JSON_WITHOUT_METADATA,
    dataserviceversion: '3.0',
    'x-ms-version': '2019-02-02',
    ...(properties === undefined ? {} : { 'content-type': JSON_WITHOUT_METADATA }),
    ...(etag === undefined ? {} : { 'if-match': etag }),
    ...(method === 'POST' ? { prefer: 'return-no-content' } : {}),
  };
}

/**
 * As bytes: a socket takes up to three times as long for a string. Written piece by piece, for base64 needs no escapes: JSON.stringify looks
 * for them in each character, and took 4.3 ns a byte where this takes 0.5.
 */
function bodyOf({ partition, row }: RowKeys, properties: Properties): Uint8Array {
  const pieces = [`{"PartitionKey":${JSON.stringify(partition)},"RowKey":${JSON.stringify(row)}`];
  for (const [name, value] of Object.entries(properties))
    pieces.push(`,"${name}":"`, value, `","${name}@odata.type":"Edm.Binary"`);
  pieces.push('}');
  // Ids, names and base64 are ASCII.
  const body = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let end = 0;
  for (const piece of pieces) end += body.write(piece, end, 'latin1');
  return body;
}

/** The body as the pipeline has parsed it; undefined if there was none. */
function bodyIn(reply: object): Readonly<Record<string, unknown>> | undefined {
  const { parsedBody } = reply as { readonly parsedBody?: unknown };
  const isObject = typeof parsedBody === 'object' && parsedBody !== null && !Array.isArray(parsedBody);
  return isObject ? (parsedBody as Readonly<Record<string, unknown>>) : undefined;
}

interface ODataError {
  readonly code?: string;
  readonly message?: { readonly value?: string };
}

function refusalOf(
  status: number,
  body: Readonly<Record<string, unknown>> | undefined,
  headerCode: string | undefined,
): RefusedRequestError {
  const { code = headerCode, message } = (body?.['odata.error'] ?? {}) as ODataError;
  return new RefusedRequestError(status, code, message?.value ?? '');
}
