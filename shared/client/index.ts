// A client of the functions' HTTP: openapi-fetch with the types of their OpenAPI document. It
// repeats requests that the server says may be sent again.
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './openapi.ts';

export type { components, paths } from './openapi.ts';

/** Answers are JSON. For other forms send `Accept`, and take the answer with `parseAs`. */
export type StowageClient = Client<paths, 'application/json' | 'application/problem+json'>;

export interface StowageClientOptions {
  /** The function's address, before `/v1`. */
  readonly baseUrl: string;
  /** An app key. */
  readonly key?: string;
  /** Sent with each request, such as those that the platform's gate needs. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends a call, with all its tries, after so many milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Most tries of a call. Default 5. */
  readonly triesMax?: number;
  /** Sends one try. Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Waits between two tries. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * A call resolves with `data`, or with the `error` of the last try: problem details whose `code` is
 * as functions/README.md has it. A problem that is `retryable` is tried again after `Retry-After`,
 * while the deadline leaves time for that. At the deadline a call rejects with a TimeoutError, and
 * without a connection with fetch's TypeError: then whether a write took effect is not known.
 */
export function stowageClient(options: StowageClientOptions): StowageClient {
  const { baseUrl, key, headers } = options;
  const own = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return createClient({ baseUrl, headers: { ...own, ...headers }, fetch: (request) => tried(request, options) });
}

async function tried(
  request: Request,
  { timeoutMs = 30_000, triesMax = 5, fetch = globalThis.fetch, sleep = timer }: StowageClientOptions,
): Promise<Response> {
  const endMs = performance.now() + timeoutMs;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  const isLines = request.headers.get('Content-Type') === 'application/x-ndjson';
  // Never sends lines twice or follows a redirect, for which fetch would keep the whole body.
  const unkept: RequestInit = isLines ? { redirect: 'error', window: null } : {};
  for (let tries = 1; ; tries += 1) {
    const isLast = isLines || tries === triesMax;
    const response = await fetch(new Request(isLast ? request : request.clone(), { signal, ...unkept }));
    if (isLast || !(await isRetryable(response))) return response;
    const waitMs = waitMsOf(response);
    if (performance.now() + waitMs >= endMs) return response;
    await response.body?.cancel();
    await sleep(waitMs, signal);
  }
}

async function isRetryable(response: Response): Promise<boolean> {
  if (response.headers.get('Content-Type') !== 'application/problem+json') return false;
  return ((await response.clone().json()) as { readonly retryable: boolean }).retryable;
}

/** Waits up to twice as long as the server asks, so that not all callers come back at once. */
function waitMsOf({ headers }: Response): number {
  return Number(headers.get('Retry-After') ?? 1) * 1_000 * (1 + Math.random());
}

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = (): void => {
      clearTimeout(waiting);
      reject(signal.reason as Error);
    };
    const waiting = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
