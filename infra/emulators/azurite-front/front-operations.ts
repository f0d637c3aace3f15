// Finds the operations of a request: one, those of a transaction, or none if it touches no entity.
import type { Body } from './entity-size.ts';

export interface Operation {
  readonly kind: 'insert' | 'replace' | 'merge' | 'delete' | 'read';
  readonly table: string;
  readonly partitionKey: string;
  readonly rowKey: string;
  readonly body: Body;
}

export interface IncomingRequest {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export function isBatch({ url }: Pick<IncomingRequest, 'url'>): boolean {
  return /\/\$batch(\?|$)/.test(url);
}

/** Gives the operations in order. Throws a URIError if a path has an escape that is none. */
export function operationsOf(request: IncomingRequest): Operation[] {
  if (isBatch(request))
    return innerRequests(request.body.toString('utf8')).flatMap((inner) => operationOf(inner) ?? []);
  const operation = operationOf(request);
  return operation === undefined ? [] : [operation];
}

/** `/account/table(PartitionKey='p',RowKey='r')`, or `/account/table` for an insert. */
const ENTITY = /\/([A-Za-z][A-Za-z0-9]{2,62})\(PartitionKey='((?:[^']|'')*)',\s*RowKey='((?:[^']|'')*)'\)$/;
const TABLE = /\/([A-Za-z][A-Za-z0-9]{2,62})(\(\))?$/;

function operationOf(request: IncomingRequest): Operation | undefined {
  const path = decodeURIComponent(request.url.split('?', 1)[0]!);
  const method = String(request.headers['x-http-method'] ?? request.method).toUpperCase();
  const entity = ENTITY.exec(path);
  if (entity !== null) {
    const kind = KINDS[method];
    if (kind === undefined) return undefined;
    const [, table, partitionKey, rowKey] = entity;
    return {
      kind,
      table: table!,
      partitionKey: unquoted(partitionKey!),
      rowKey: unquoted(rowKey!),
      body: bodyOf(request),
    };
  }
  const table = TABLE.exec(path)?.[1];
  if (method !== 'POST' || table === undefined || table === 'Tables') return undefined;
  const body = bodyOf(request);
  const { PartitionKey: partitionKey = '', RowKey: rowKey = '' } = body;
  return { kind: 'insert', table, partitionKey: String(partitionKey), rowKey: String(rowKey), body };
}

const KINDS: Readonly<Record<string, Operation['kind']>> = {
  GET: 'read',
  PUT: 'replace',
  MERGE: 'merge',
  PATCH: 'merge',
  DELETE: 'delete',
};

function unquoted(text: string): string {
  return text.replaceAll("''", "'");
}

/** Empty unless the text is a JSON object: Azurite refuses all else itself. */
function bodyOf({ body }: IncomingRequest): Body {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Body) : {};
  } catch {
    return {};
  }
}

/** The requests in a multipart body, where the SDKs put one or two empty lines before a content. */
function innerRequests(multipart: string): IncomingRequest[] {
  return multipart.split(/^--(?:changeset|batch)\S*$/m).flatMap((part) => {
    const inner = /^([A-Z]+) (\S+) HTTP\/1\.1\r?\n([^]*?)\r?\n\r?\n([^]*)$/m.exec(part);
    if (inner === null) return [];
    const [, method = '', url = '', head = '', body = ''] = inner;
    return [{ method, url, headers: headersOf(head), body: Buffer.from(body.trim()) }];
  });
}

function headersOf(head: string): Record<string, string> {
  const lines = head.split(/\r?\n/).filter((line) => line.includes(':'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}
