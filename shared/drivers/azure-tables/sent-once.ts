// A policy that sends each of the driver's requests once. The client's other requests pass through.
import { isOfService, type Reply } from './service.ts';

/** A request as the pipeline of @azure/core-rest-pipeline has it, as far as it is used. */
interface PipelineRequest {
  readonly abortSignal?: object | undefined;
}

interface PipelineResponse {
  readonly status: number;
  readonly headers: { toJSON(): Record<string, string> };
  readonly bodyAsText?: string | null | undefined;
}

/** One policy of a pipeline. */
export interface Policy {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- requests and responses are the SDK's own
  sendRequest(request: any, next: (request: any) => Promise<any>): Promise<any>;
}

/** The course of one request. Only the policy has seen its reply. */
export interface Sending {
  isSent: boolean;
  reply: Reply | undefined;
}

/** By the request's signal, the one thing that the SDK hands through untouched. */
const sendings = new WeakMap<object, Sending>();

/** Watches the request that has this signal. */
export function watch(signal: AbortSignal): Sending {
  const sending: Sending = { isSent: false, reply: undefined };
  sendings.set(signal, sending);
  return sending;
}

export const SENT_ONCE: Policy = {
  name: 'stowageSentOnce',
  async sendRequest(request: PipelineRequest, next: (request: PipelineRequest) => Promise<PipelineResponse>) {
    const sending = sendings.get(request.abortSignal ?? SENT_ONCE);
    return sending === undefined ? next(request) : sendOnce(sending, () => next(request));
  },
};

/** The SDK's policies repeat its own errors and busy statuses: neither comes out. */
async function sendOnce(sending: Sending, next: () => Promise<PipelineResponse>): Promise<PipelineResponse> {
  if (sending.isSent && !mayBeRepeated(sending.reply)) throw new Error('the driver sends no request twice');
  sending.isSent = true;
  sending.reply = undefined;
  const response = await next().catch((cause: Error) => {
    throw new Error(cause.message, { cause });
  });
  const { status, headers, bodyAsText } = response;
  sending.reply = { status, headers: headers.toJSON(), body: bodyAsText ?? '' };
  if (status === 408 || status === 429 || status >= 500) throw new Error(`the service answered ${status}`);
  return response;
}

/** The service did not take the token: the request had no effect (RFC 9110, 15.5.2). */
function mayBeRepeated(reply: Reply | undefined): boolean {
  return reply?.status === 401 && isOfService(reply);
}
