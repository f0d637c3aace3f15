// The names by which an answer, a log line and the caller's trace tell of the same request.
import { randomUUID } from 'node:crypto';

/** Makes a span of each request, in its caller's trace. */
export interface RequestTracer {
  /** `traceparent`: the caller's, if it sent one. */
  begin(name: string, traceparent: string | undefined): RequestSpan;
}

export interface RequestSpan {
  /** Names the span in a log line; undefined if the trace is not sampled. */
  readonly traceparent: string | undefined;
  /** The store's calls in `work` are within the span. */
  within<T>(work: () => T): T;
  /** `error`: why the request failed; undefined if it did not. */
  end(attributes: Readonly<Record<string, string | number>>, error: string | undefined): void;
}

export interface Names {
  /** The caller's `X-Request-Id`, or else the platform's id, or else a new UUID. */
  readonly requestId: string;
  /** The `instance` of the problem, if it becomes one: a URI, which a caller's id need not be. */
  readonly instance: string;
  /** The caller's W3C trace context, if it is one. */
  readonly traceparent?: string;
}

/** A header, a log line and a URL carry these unchanged; four UUIDs long. */
const REQUEST_ID = /^[\w.:/+=@-]{1,144}$/;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Trace Context, 3.2: 00 ends there, later versions may go on; ff and ids of zeros are invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|(?<!^00.*)-)/;

/** Bounds the header of later versions. */
const TRACEPARENT_CHARS_MAX = 256;

/** `platformId` is the invocation's. A malformed header counts as none. */
export function namesOf({ headers }: Request, platformId: string | undefined): Names {
  const given = headers.get('X-Request-Id') ?? '';
  const requestId = REQUEST_ID.test(given) ? given : (platformId ?? randomUUID());
  const traceparent = headers.get('traceparent') ?? '';
  const isTraced = traceparent.length <= TRACEPARENT_CHARS_MAX && TRACEPARENT.test(traceparent);
  return {
    requestId,
    instance: `urn:uuid:${UUID.test(requestId) ? requestId.toLowerCase() : randomUUID()}`,
    ...(isTraced ? { traceparent } : {}),
  };
}
