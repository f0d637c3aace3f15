// Requests to the table service at one endpoint: authorized, with its headers, and with its refusals as errors.
import { withDeadline } from '../common/outcomes.ts';
import { authorizeWith, type Credential, type Proof } from './authorization.ts';
import { RefusedRequestError } from './errors.ts';
import { httpClient, type HttpReply, type HttpRequest } from './http.ts';

export const JSON_WITHOUT_METADATA = 'application/json;odata=nometadata';

const COMMON_HEADERS = ['x-ms-version', '2019-02-02', 'Accept', JSON_WITHOUT_METADATA];

interface ServiceRequest extends Omit<HttpRequest, 'target'> {
  /** From the account's address on: `/table(...)`, `/Tables`, `/$batch`. Encoded. */
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
}

export interface TableService {
  /** The account's address, without a query. */
  readonly url: string;
  /**
   * The reply, if it is a success. Rejects with a RefusedRequestError if the service gave another, with other errors if no whole reply came, with
   * a DeadlineError at `untilMs` by `performance.now()`.
   * What is answered 401 has not been carried out (RFC 9110, 15.5.2): where the credential may have a newer token, it goes out once more.
   */
  send(request: ServiceRequest, untilMs: number): Promise<HttpReply>;
  close(): void;
}

/** No I/O. `endpoint` may hold a SAS. */
export function tableService(endpoint: string, credential: Credential | undefined): TableService {
  const { origin, pathname, search } = new URL(endpoint);
  const account = pathname.replace(/\/$/, '');
  const authorize = authorizeWith(credential);
  const client = httpClient(origin);

  const sendWith = ({ headers: shown, query: signature }: Proof, request: ServiceRequest, untilMs: number) => {
    const { method, path, body } = request;
    const query = [search.slice(1), signature, request.query].filter(Boolean).join('&');
    const target = query === '' ? account + path : `${account}${path}?${query}`;
    const headers = [...COMMON_HEADERS, ...request.headers, ...shown];
    return client.send({ method, target, headers, body }, untilMs);
  };

  return {
    url: origin + account,
    async send(request, untilMs) {
      const path = account + request.path;
      const proof = await inTime(authorize(path), untilMs);
      const reply = await sendWith(proof, request, untilMs);
      if (reply.status !== 401 || proof.forget === undefined) return success(reply);
      proof.forget();
      // The first request's body may be under way still.
      const second = await sendWith(await inTime(authorize(path), untilMs), request, untilMs);
      return success({ ...second, isRequestWritten: second.isRequestWritten && reply.isRequestWritten });
    },
    close: () => client.close(),
  };
}

function inTime(proof: Proof | Promise<Proof>, untilMs: number): Proof | Promise<Proof> {
  return proof instanceof Promise ? withDeadline(proof, untilMs - performance.now()) : proof;
}

function success(reply: HttpReply): HttpReply {
  if (reply.status < 300) return reply;
  const code = reply.headers['x-ms-error-code'];
  throw refusalOf(reply.status, reply.body.toString(), typeof code === 'string' ? code : undefined);
}

interface ODataError {
  readonly code?: string;
  readonly message?: { readonly value?: string };
}

/** The error that a reply tells of in its body, or, without one, in the header that gives a code. */
export function refusalOf(status: number, body: string, headerCode?: string): RefusedRequestError {
  const { code = headerCode, message } = (objectIn(body)?.['odata.error'] ?? {}) as ODataError;
  return new RefusedRequestError(status, code, message?.value ?? '');
}

/** The JSON object that a body is; undefined if it is something else. */
export function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
