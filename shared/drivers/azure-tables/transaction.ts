// Entity group transactions: several writes of one partition in one request, all or nothing.
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
import { randomUUID } from 'node:crypto';
import type { EntityVersion } from '../../store/contract/driver.ts';
import { DATA_VERSION, requestOf, type RowWrite } from './row-requests.ts';
import { RefusedRequestError } from './azure-errors.ts';
import { refusalIn, type Reply } from './table-service.ts';

/** The status of a change, and of an insert that asks for no content. */
const MEMBER_SUCCESS = 204;

interface Member {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: string;
}

/** `url` is the account's, as members have full addresses. They carry no authorization. */
export function transactionOf(url: string, tableName: string, writes: readonly RowWrite[]) {
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
