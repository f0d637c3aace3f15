// A policy that sends each request of the driver once, and does not change the client's others.
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { FOREIGN, isForeign, REQUEST_ID } from './send-http.ts';
import { isOfService, type Reply } from './table-service.ts';

/** The part of a request of @azure/core-rest-pipeline that is used here. */
interface PipelineRequest {
  url: string;
  readonly headers: { get(name: string): string | undefined };
  readonly abortSignal?: object | undefined;
  /** Replies with these statuses are handed over before their bodies are read. */
  streamResponseStatusCodes?: Set<number> | undefined;
}

interface PipelineResponse {
  readonly status: number;
  readonly headers: { toJSON(): Record<string, string> };
  bodyAsText?: string | null | undefined;
  readableStreamBody?: Readable | undefined;
}

/** One policy of a pipeline. */
export interface Policy {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- requests and responses are the SDK's own
  sendRequest(request: any, next: (request: any) => Promise<any>): Promise<any>;
}

/** The state of one request, whose reply only the policy sees. */
export interface Sending {
  /** Whether it may have been carried out. */
  isSent: boolean;
  /** Whether it was given up and must not be sent any more. */
  isOver: boolean;
  reply: Reply | undefined;
  /** The query, which holds the shared access signature. */
  query: string;
}

/** Requests by their signals, the only option that the SDK passes on unchanged. */
const sendings = new WeakMap<object, Sending>();

/** Watches the request that has this signal. */
export function watch(signal: AbortSignal): Sending {
  const sending: Sending = { isSent: false, isOver: false, reply: undefined, query: '' };
  sendings.set(signal, sending);
  return sending;
}

export const SENT_ONCE: Policy = {
  name: 'stowageSentOnce',
  async sendRequest(request: PipelineRequest, next: (request: PipelineRequest) => Promise<PipelineResponse>) {
    const sending = sendings.get(request.abortSignal ?? SENT_ONCE);
    return sending === undefined ? next(request) : sendOnce(sending, request, () => next(request));
  },
};

/** Node.js's codes if there was no connection, or its certificate was not accepted. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CERT_|UNABLE_TO_|ERR_TLS_CERT_|\w+_SELF_SIGNED_CERT|SELF_SIGNED_CERT_)/;
const CONNECTING = /^(connect|getaddrinfo) E/;

/** The SDK takes a `+` in a signature that is not encoded for a space, which base64 never has. */
const SPACES_IN_SIGNATURE = /(?<=[?&]sig=[^&]*)(\+|%20)/g;

/** Hides the SDK's own errors, and statuses of a busy service, as its policies would send again. */
async function sendOnce(
  sending: Sending,
  request: PipelineRequest,
  next: () => Promise<PipelineResponse>,
): Promise<PipelineResponse> {
  if (sending.isOver || (sending.isSent && !mayBeRepeated(sending.reply)))
    throw new Error('the driver sends no request twice');
  request.url = request.url.replaceAll(SPACES_IN_SIGNATURE, '%2B');
  // Takes each reply as a stream, because only an unread reply allows to close its connection.
  const { streamResponseStatusCodes } = request;
  request.streamResponseStatusCodes = new Set([Infinity]);
  Object.assign(sending, { isSent: true, reply: undefined, query: new URL(request.url).search });
  const response = await next().catch((cause: NodeJS.ErrnoException) => {
    sending.isSent = !(NO_CONNECTION.test(cause.code ?? '') || CONNECTING.test(cause.message));
    throw withoutCode(cause);
  });
  request.streamResponseStatusCodes = streamResponseStatusCodes;
  sending.reply = await replyIn(response, request);
  const { status } = response;
  if (status === 408 || status === 429 || status >= 500) throw new Error(`the service answered ${status}`);
  return response;
}

/** Reads the body; throws for the reply to another request, whose connection it closes. */
async function replyIn(response: PipelineResponse, request: PipelineRequest): Promise<Reply> {
  const headers = response.headers.toJSON();
  const { readableStreamBody: body } = response;
  response.readableStreamBody = undefined;
  if (isForeign(headers[REQUEST_ID], request.headers.get(REQUEST_ID) ?? '')) {
    body?.destroy();
    throw new Error(FOREIGN);
  }
  if (body !== undefined)
    response.bodyAsText = await text(body).catch((cause: Error) => Promise.reject(withoutCode(cause)));
  return { status: response.status, headers, body: response.bodyAsText ?? '' };
}

/** Removes the code by which the SDK's policies would send again. */
function withoutCode(cause: Error): Error {
  return new Error(cause.message, { cause });
}

/** True if the service refused the token, as the request then had no effect (RFC 9110, 15.5.2). */
function mayBeRepeated(reply: Reply | undefined): boolean {
  return reply?.status === 401 && isOfService(reply);
}
