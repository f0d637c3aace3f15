// Sends requests to one endpoint, with proofs and headers, and turns refusals into errors.
import { SILENCE_MS } from '../../store/contract/driver.ts';
import { NotSentError, withDeadline } from '../common/driver-outcomes.ts';
import { authorizeWith, type Credential, encodedSignature, type Proof } from './authorization.ts';
import { RefusedRequestError } from './azure-errors.ts';
import { type HttpClient, httpClient, type HttpReply, type HttpRequest } from './send-http.ts';

export const JSON_WITHOUT_METADATA = 'application/json;odata=nometadata';

const COMMON_HEADERS = ['x-ms-version', '2019-02-02', 'Accept', JSON_WITHOUT_METADATA];

const RETRY_AFTER_MS_MAX = 30_000;

interface ServiceRequest extends Omit<HttpRequest, 'target'> {
  /** Behind the account's address: `/table(...)`, `/Tables`, `/$batch`. Encoded. */
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
  /** The status of success. Default: 200 for a GET, else 204. */
  readonly success?: number;
}

export interface TableService {
  /** The account's address, without a query. */
  readonly url: string;
  /**
   * Gives the expected success. Rejects with a RefusedRequestError after another reply, with other
   * errors without one by `untilMs`. After a 401, which had no effect, it tries once more.
   */
  send(request: ServiceRequest, untilMs: number): Promise<HttpReply>;
  close(): void;
}

/** No I/O. `endpoint` may hold a SAS. `wired` may see or answer what is sent. */
export function tableService(
  endpoint: string,
  credential: Credential | undefined,
  wired: (client: HttpClient) => HttpClient = (client) => client,
): TableService {
  const { origin, pathname, search } = new URL(endpoint);
  const account = pathname.replace(/\/$/, '');
  const signed = encodedSignature(search);
  const authorize = authorizeWith(credential);
  const client = wired(httpClient(origin));

  const sendWith = ({ headers: shown, query: signature }: Proof, request: ServiceRequest, untilMs: number) => {
    const { method, path, body } = request;
    const query = [signed, signature, request.query].filter(Boolean).join('&');
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
      if (reply.status !== 401 || !isOfService(reply) || proof.forget === undefined)
        return checked(reply, request, proof.query || signed);
      proof.forget();
      // The first request's body may still be under way.
      const second = await sendWith(await inTime(authorize(path), untilMs), request, untilMs);
      return checked({ ...second, isRequestWritten: second.isRequestWritten && reply.isRequestWritten }, request);
    },
    close: () => client.close(),
  };
}

/** A silent credential ends the request as a silent service does, but may answer the next one. */
function inTime(proof: Proof | Promise<Proof>, untilMs: number): Proof | Promise<Proof> {
  if (!(proof instanceof Promise)) return proof;
  const timeoutMs = Math.min(SILENCE_MS, untilMs - performance.now());
  return withDeadline(proof, timeoutMs, 'the token credential').catch((error: unknown) => {
    throw new NotSentError(error);
  });
}

export type Reply = Pick<HttpReply, 'status' | 'headers'> & { readonly body: Buffer | string };

/**
 * Throws a RefusedRequestError unless the reply is the service's and the expected success.
 * `signature` is the query's shared access signature, if there is one.
 */
export function checked<Received extends Reply>(
  reply: Received,
  { method, success = method === 'GET' ? 200 : 204 }: Pick<ServiceRequest, 'method' | 'success'>,
  signature = '',
): Received {
  const { status, headers, body } = reply;
  const isVerdict = isOfService(reply);
  if (status === success && isVerdict) return reply;
  const { code = headers['x-ms-error-code']?.toString(), detail } = refusalIn(body.toString());
  const retryAfterMs = retryAfterIn(headers['retry-after']);
  const end = new URLSearchParams(signature).get('se') ?? '';
  throw new RefusedRequestError({
    status,
    code,
    detail,
    retryAfterMs,
    clockAheadMs: Date.now() - Date.parse(headers.date ?? ''),
    signatureEnded: Date.parse(end) < Date.now() ? end : undefined,
    isVerdict: isVerdict && status >= 400,
  });
}

/** The service tells seconds. A longer time than the most is no better than a guess. */
function retryAfterIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header) * 1_000, RETRY_AFTER_MS_MAX)
    : undefined;
}

/** Whether it has the headers of the service, unlike a proxy's. A denial has no version. */
export function isOfService({ status, headers }: Reply): boolean {
  const isDenial = status === 401 || status === 403;
  return headers['x-ms-request-id'] !== undefined && (isDenial || headers['x-ms-version'] !== undefined);
}

interface ODataError {
  readonly code?: string;
  readonly message?: { readonly value?: string };
}

export function refusalIn(body: string): { readonly code?: string | undefined; readonly detail?: string | undefined } {
  const { code, message } = (objectIn(body)?.['odata.error'] ?? {}) as ODataError;
  return { code, detail: message?.value?.replaceAll(/\s+/g, ' ') };
}

/** The body's JSON object; undefined if it is something else. */
export function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
