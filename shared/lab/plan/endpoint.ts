// A function `compare` as its callers see it: its three requests, and its failures in words.
import * as z from 'zod';
import { type CellRequest, type CellResult, cellResultSchema, type DatasetRequest, placeSchema } from '../load/cell.ts';
import { DRAIN_MS, WINDOW_GROWTH_MAX } from '../load/phases.ts';
import type { Provider } from '../kit/dimensions.ts';

/** A `compare` function to run cells in. */
export interface Endpoint {
  readonly provider: Provider;
  /**
   * Without `/v1`. One where a platform spreads requests over instances; several where each is an
   * instance: the i-th is sent to url i modulo their number.
   */
  readonly urls: readonly [string, ...string[]];
  /** Sent with each request: the keys. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The target of a request. */
export interface Sending {
  readonly endpoint: Endpoint;
  /** Which of the endpoint's instances. */
  readonly instance: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** There was no answer, or none that can be read: the function is not there. */
export class NoAnswerError extends Error {}

/** The request was refused (401, 403) before anything was done. */
export class RefusedError extends Error {
  /** Who refused: the platform's gate before the function, or the function for its app key. */
  readonly by: 'gate' | 'key';

  constructor(message: string, by: RefusedError['by'] = 'key') {
    super(message);
    this.by = by;
  }
}

/** Azure ends every HTTP request after 230 s, and the function has its own deadline before. */
const FUNCTION_MOST_MS = 215_000;
/** Lets the function's own deadline come first: its answer says more than a broken connection. */
const ANSWER_MARGIN_MS = 5_000;
/** Opening a table, connecting, and a function that has to start first. */
const START_MS = 40_000;

/** Checks address, gate and key. Rejects with one line, or the signal's reason. */
export async function checkEndpoint(sending: Sending): Promise<void> {
  const body = await ask('/v1/compare/place', { method: 'GET' }, START_MS, sending);
  const place = placeSchema.safeParse(body);
  if (!place.success) throw new NoAnswerError('what answers there is no function of the comparison');
  assertProvider(place.data.provider, sending.endpoint);
}

/**
 * Loads a dataset unless it is there, in time for 100,000 records at Datastore's first 500 a
 * second. Rejects with one line, or the signal's reason.
 */
export async function prepareDataset(request: DatasetRequest, sending: Sending): Promise<void> {
  await post('/v1/compare/datasets', request, FUNCTION_MOST_MS, sending);
}

/** Runs one instance's part. Rejects with one line, or the signal's reason. */
export async function runPart(request: CellRequest, sending: Sending): Promise<CellResult> {
  const waitMs = request.windowAtMs === null ? request.warmup.mostMs : Math.max(0, request.windowAtMs - Date.now());
  const growth = request.ratePerSecond === null ? WINDOW_GROWTH_MAX : 1;
  const timeoutMs = Math.ceil(waitMs + growth * request.durationMs + DRAIN_MS + START_MS);
  const body = await post('/v1/compare/cells', request, Math.min(timeoutMs, FUNCTION_MOST_MS), sending);
  const parsed = cellResultSchema.safeParse(body);
  if (!parsed.success) throw new NoAnswerError(`the answer is no result of a cell: ${firstIssue(parsed.error)}`);
  assertProvider(parsed.data.provider, sending.endpoint);
  return parsed.data;
}

function assertProvider(found: Provider, { provider, urls }: Endpoint): void {
  if (found !== provider) throw new Error(`the function at ${urls[0]} is on ${found}, not on ${provider}`);
}

/** No error where there is none. Rejects with one line. The run's own signal does not end it. */
export async function removeDataset(
  dataset: string,
  timeoutMs: number,
  sending: Omit<Sending, 'signal'>,
): Promise<void> {
  const { signal } = new AbortController();
  const path = `/v1/compare/datasets/${dataset}`;
  const response = await send(path, { method: 'DELETE' }, timeoutMs, { ...sending, signal });
  if (!response.ok) throw failureOf(response.status, await response.json().catch(() => undefined));
}

async function post(path: string, body: object, timeoutMs: number, sending: Sending): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  return await ask(path, { method: 'POST', headers, body: JSON.stringify(body) }, timeoutMs, sending);
}

async function ask(path: string, init: Init, timeoutMs: number, sending: Sending): Promise<unknown> {
  const response = await send(path, init, timeoutMs, sending);
  const { status, ok } = response;
  if (status === 204) return undefined;
  const answer: unknown = await response.json().catch((error: unknown) => {
    sending.signal.throwIfAborted();
    if (isRefusal(status)) throw failureOf(status, undefined);
    throw new NoAnswerError(`HTTP ${status} with an answer that is no JSON`, { cause: error });
  });
  if (!ok) throw failureOf(status, answer);
  return answer;
}

async function send(path: string, init: Init, timeoutMs: number, sending: Sending): Promise<Response> {
  const { endpoint, instance, signal, fetch: fetchIt } = sending;
  const url = endpoint.urls[instance % endpoint.urls.length]!;
  try {
    return await fetchIt(url + path, {
      ...init,
      // A redirect would give the keys to another origin: fetch drops only Authorization.
      redirect: 'error',
      headers: { ...endpoint.headers, ...init.headers, 'Stowage-Timeout-Ms': String(timeoutMs) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + ANSWER_MARGIN_MS)]),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new NoAnswerError(messageOf(error), { cause: error });
  }
}

interface Init {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const problemSchema = z.object({ title: z.string().optional(), detail: z.string().optional() });

/** In one line; `body` is the answer's parsed JSON, or undefined. */
function failureOf(status: number, body: unknown): Error {
  const problem = problemSchema.safeParse(body);
  const text = problem.success ? (problem.data.detail ?? problem.data.title) : undefined;
  if (!isRefusal(status)) return new Error(`HTTP ${status}${text === undefined ? '' : `: ${text}`}`);
  return new RefusedError(
    `HTTP ${status}: ${text ?? "the platform's own gate refuses: its token or key is missing or wrong"}`,
    text === undefined ? 'gate' : 'key',
  );
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

function firstIssue({ issues }: z.ZodError): string {
  const [first] = issues;
  return first === undefined ? 'unknown' : `${first.path.join('.') || 'it'}: ${first.message}`;
}

/** An error in one line, with its cause: `fetch failed` alone does not help. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  // A request without an answer has its cause in its own words.
  return `${text}${error instanceof NoAnswerError ? '' : cause}`.replaceAll(/\s+/g, ' ');
}
