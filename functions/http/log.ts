// One structured line per request, which never has a value, a record's key or an access key, and
// the names by which an answer, a log line and the caller's trace tell of the same request.
import { randomUUID } from 'node:crypto';
import type { Problem } from './problem.ts';

export interface LogLine {
  readonly severity: 'INFO' | 'WARNING' | 'ERROR';
  readonly message: string;
  readonly requestId: string;
  /** W3C trace context of the request, if it had a well-formed one. */
  readonly traceparent?: string;
  readonly method: string;
  /** The route's pattern, never the path: a path holds keys. */
  readonly route: string;
  readonly table?: string;
  /** An admin's action, done or refused: `create`, `drop`, `vacuum`, else method and route. */
  readonly audit?: string;
  /** Role and name of the caller's key, as in auth.ts; absent without a configured key. */
  readonly role?: string;
  readonly key?: string;
  readonly status: number;
  /** The problem's code; absent on success. */
  readonly code?: string;
  /** The problem's `instance`, as its caller was told. */
  readonly instance?: string;
  readonly durationMs: number;
  /** Name and code of each cause of a 5xx, outermost first. Messages may quote data. */
  readonly causes?: readonly string[];
  /** The innermost's name, code and stack, without its message. */
  readonly stack?: string;
}

/** Takes the line of a request when its answer has ended. Must not throw. */
export type Log = (line: LogLine) => void;

/** Platforms collect standard output. */
export function logToStdout(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** `ERROR` for 5xx, `WARNING` for 429, otherwise `INFO`, as callers' mistakes need no alarm. */
export function severityOf(status: number): LogLine['severity'] {
  if (status >= 500) return 'ERROR';
  return status === 429 ? 'WARNING' : 'INFO';
}

const CAUSES_MAX = 8;

/** The chain of causes under a problem, for the log of a 5xx. */
export function causesOf(problem: Problem): Pick<LogLine, 'causes' | 'stack'> {
  const causes: string[] = [];
  let stack: string | undefined;
  for (let at: unknown = problem.cause; at instanceof Error && causes.length < CAUSES_MAX; at = at.cause) {
    const code = 'code' in at ? ` ${String(at.code)}` : '';
    const frames = at.stack?.match(/\n\s+at [^\n]+/g) ?? [];
    causes.push(`${at.name}${code}${frames[0]?.replace(/^\s+/, ' ') ?? ''}`);
    if (frames.length > 0) stack = `${at.name}:${code}${frames.join('')}`;
  }
  return stack === undefined ? { causes } : { causes, stack };
}

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
