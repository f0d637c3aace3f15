// Errors over HTTP (RFC 9457), as functions/README.md lists them. Only the log has their causes.
import * as z from 'zod/mini';
import { StoreError } from '../../shared/store/index.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Whether the same request may be sent again. */
  readonly retryable: boolean;
}

/** Every code a caller can meet, with its status. */
export const PROBLEMS = {
  malformed: { status: 400, title: 'Malformed request', retryable: false },
  invalid: { status: 400, title: 'Invalid request', retryable: false },
  unauthenticated: { status: 401, title: 'No valid key', retryable: false },
  forbidden: { status: 403, title: 'The key does not allow this', retryable: false },
  route_not_found: { status: 404, title: 'No such route', retryable: false },
  table_not_found: { status: 404, title: 'No such table', retryable: false },
  record_not_found: { status: 404, title: 'No such record', retryable: false },
  method_not_allowed: { status: 405, title: 'Method not allowed', retryable: false },
  not_acceptable: { status: 406, title: 'Not available in an accepted media type', retryable: false },
  body_timeout: { status: 408, title: 'The body did not arrive in time', retryable: true },
  conflict: { status: 409, title: 'The state is not what the request assumed', retryable: false },
  precondition_failed: { status: 412, title: 'Precondition failed', retryable: false },
  too_large: { status: 413, title: 'Too large', retryable: false },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', retryable: false },
  throttled: { status: 429, title: 'Too many requests', retryable: true },
  internal: { status: 500, title: 'Internal error', retryable: false },
  corrupt: { status: 500, title: 'Stored data is damaged', retryable: false },
  unavailable: { status: 503, title: 'Not available now', retryable: true },
  aborted: { status: 503, title: 'The deadline passed before anything was written', retryable: true },
  unknown: { status: 504, title: 'The fate of the write is unknown', retryable: false },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The body of every error response; in a batch also the `problem` of a failed outcome. */
export const PROBLEM_BODY = z.strictObject({
  /** `urn:stowage:` and the code. */
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  retryable: z.boolean(),
  /** `urn:uuid:` and the UUID of this request, as in the log. Absent inside a batch. */
  instance: z.exactOptional(z.string()),
});

export type ProblemBody = z.output<typeof PROBLEM_BODY>;

interface ProblemDetails {
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** An error that already knows its response. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryable: boolean;

  /** `detail` tells the caller what to do, and is sent to it. */
  constructor(code: ProblemCode, detail: string, details: ProblemDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Problem';
    this.code = code;
    this.retryable = details.retryable ?? PROBLEMS[code].retryable;
    this.headers = details.headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  body(instance?: string): ProblemBody {
    const { status, title } = PROBLEMS[this.code];
    return {
      type: `urn:stowage:${this.code}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      retryable: this.retryable,
      ...(instance === undefined ? {} : { instance }),
    };
  }
}

/** For `throttled`, `unavailable` and `aborted`, unless the provider asks for more. */
export const RETRY_AFTER_SECONDS = '1';

/** If the request was `conditional` (If-Match, ifVersion), `conflict` is a failed precondition. */
export function toProblem(error: unknown, conditional = false): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError))
    return new Problem('internal', 'the function failed; its log has the cause under this request id', {
      cause: error,
    });
  if (error.code === 'not_found') return tableNotFound(error.table, error);
  const code = error.code === 'conflict' && conditional ? 'precondition_failed' : error.code;
  const waits = error.retryable && PROBLEMS[code].status >= 429;
  const seconds = error.retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil(error.retryAfterMs / 1_000);
  return new Problem(code, error.message, {
    retryable: error.retryable,
    cause: error,
    ...(waits ? { headers: { 'Retry-After': String(seconds) } } : {}),
  });
}

/** The Problem `table_not_found`, which says how to create the table. */
export function tableNotFound(table = '', cause?: unknown): Problem {
  const detail = `there is no table ${JSON.stringify(table)}; PUT /v1/tables/{table} creates it`;
  return new Problem('table_not_found', detail, { cause });
}

/** Always `application/problem+json`, so that the caller can read the error. */
export function problemResponse(problem: Problem, instance: string): Response {
  const body = Buffer.from(JSON.stringify(problem.body(instance)));
  return new Response(body, {
    status: problem.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      ...problem.headers,
    },
  });
}
