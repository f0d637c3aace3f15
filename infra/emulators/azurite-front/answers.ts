// Writes refusals as the service does: a JSON error, within a multipart answer for a transaction.
import { randomUUID } from 'node:crypto';

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Index of the operation in its transaction; 0 for a request of its own. */
  readonly place: number;
}

/** Refuses a request as a whole, whatever its operations are. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.refusal = { status, code, message, place: 0 };
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function answerOf(refusal: Refusal, inBatch: boolean): Answer {
  return inBatch && refusal.status < 500 ? batchAnswer(refusal) : single(refusal);
}

function single({ status, code, message }: Refusal): Answer {
  return {
    status,
    headers: { ...serviceHeaders(), 'content-type': 'application/json;odata=minimalmetadata', 'x-ms-error-code': code },
    body: Buffer.from(errorBody(code, message)),
  };
}

/** The answer to a refused transaction is a 202 with the refusal inside. */
function batchAnswer({ status, code, message, place }: Refusal): Answer {
  const batch = `batchresponse_${randomUUID()}`;
  const changeset = `changesetresponse_${randomUUID()}`;
  const lines = [
    `--${batch}`,
    `Content-Type: multipart/mixed; boundary=${changeset}`,
    '',
    `--${changeset}`,
    'Content-Type: application/http',
    'Content-Transfer-Encoding: binary',
    '',
    `HTTP/1.1 ${status} Bad Request`,
    'Content-Type: application/json;odata=minimalmetadata;charset=utf-8',
    'DataServiceVersion: 3.0;',
    '',
    errorBody(code, `${place}:${message}`),
    `--${changeset}--`,
    `--${batch}--`,
    '',
  ];
  return {
    status: 202,
    headers: { ...serviceHeaders(), 'content-type': `multipart/mixed; boundary=${batch}` },
    body: Buffer.from(lines.join('\r\n')),
  };
}

/** All answers of the service have these headers, so clients know that no proxy answered. */
function serviceHeaders(): Record<string, string> {
  return { 'x-ms-request-id': randomUUID(), 'x-ms-version': '2019-02-02' };
}

function errorBody(code: string, message: string): string {
  return JSON.stringify({ 'odata.error': { code, message: { lang: 'en-US', value: message } } });
}
