// The frame of both functions: routes, deadlines, roles, problems, the log line. It knows no cloud.
import { Hono } from 'hono';
import type * as z from 'zod/mini';
import { TABLE_NAME } from '../../shared/store/index.ts';
import { type AuthConfig, type Caller, createGate, type Role, type Visitor } from './auth.ts';
import { readBody } from './body.ts';
import { conditionHeaders } from './conditions.ts';
import { inGzip } from './gzip.ts';
import { CACHING, refuseUnknownHeaders, wholeNumberHeader } from './headers.ts';
import { causesOf, type Log, type LogLine, severityOf } from './log.ts';
import { countedSize, heldUntilSent, Memory, type MemoryShare } from './memory.ts';
import { decoded, queryOf, rawPath, refuseAmbiguous } from './paths.ts';
import { Problem, problemResponse, toProblem } from './problem.ts';
import { type Names, namesOf, type RequestTracer } from './tracing.ts';

/** A request on its way to a handler, with its bounds and the check of its caller's role. */
export interface Call {
  readonly request: Request;
  readonly query: Partial<Record<string, string>>;
  /** A parameter of the route's path, or else of its query; throws `malformed` or `invalid`. */
  readonly param: (name: string) => string;
  /** Bounds for the store: the request's own deadline, or its caller's hanging up. */
  readonly bounds: { readonly timeoutMs: number; readonly signal: AbortSignal };
  /** The body, of at most so many bytes, inflated; throws what `readBody` does. */
  body(bytesMax: number): Promise<Uint8Array>;
  /** For handlers whose answers may be large: it is held until the answer is sent. */
  readonly memory: MemoryShare;
  /** For handlers that learn from the body which role is needed. Throws the Problem `forbidden`. */
  authorize(needed: Role): void;
  /** Whether the caller's key may know of this table. */
  readonly opens: (table: string) => boolean;
  /** A streaming handler hands over here how its stream will end; the log line waits for it. */
  endsWith(outcome: Promise<Problem | undefined>): void;
}

export interface Route {
  /** GET answers HEAD too. */
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  /**
   * As Hono spells it. Parameters are for matching only: handlers read the raw path. A route
   * confines itself to its `:table`; a key of some tables opens no other.
   */
  readonly path: string;
  /** The least role, checked before anything else; undefined: open to everybody. */
  readonly role: Role | undefined | ((request: Request) => Role | undefined);
  /** It has no `:table`, and shows a key of some tables only what `call.opens`. */
  readonly showsOwnTables?: true;
  /** The action's name in the log. Routes of the role `admin` have one without asking. */
  readonly audit?: string;
  /** Has the query's parameters; default: none. A refusal reads no query, no headers. */
  readonly query?: z.ZodMiniObject | 'unread';
  /** Headers of this API that it takes, beside `Stowage-Timeout-Ms`. */
  readonly headers?: readonly string[];
  handle(call: Call): Promise<Response>;
}

/** The options of every function's app. */
export interface FrameOptions {
  readonly auth: AuthConfig;
  readonly log: Log;
  /** Deadline of a request that names none in `Stowage-Timeout-Ms`, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest deadline a request may name, in milliseconds. */
  readonly timeoutMaxMs: number;
  /** Default: no spans, and nothing is spent on them. */
  readonly tracer?: RequestTracer | undefined;
}

/** The platform's knowledge of one invocation. Each member replaces the app's own. */
export interface Invocation {
  readonly log?: Log;
  /** The platform's id of this invocation, for a caller that sends none in `X-Request-Id`. */
  readonly requestId?: string;
  /** As it arrived: the Request's own URL has folded backslashes and dot segments. */
  readonly target?: string;
}

/** A function's application: the platforms' entries hand it requests. */
export interface App {
  /** Never rejects: whatever goes wrong is a response. */
  fetch(request: Request, invocation?: Invocation): Promise<Response>;
}

/** Adds `GET /v1/health`. Other paths are `route_not_found`, other methods `method_not_allowed`. */
export function createApp(routes: readonly Route[], options: FrameOptions): App {
  const visitorOf = createGate(options.auth);
  const memory = new Memory();
  const hono = new Hono<{ Bindings: Invocation }>({ getPath: (request) => rawPath(request.url) });
  const all = [...routes, HEALTH];
  for (const route of all) {
    hono.on(route.method, route.path, ({ req, env }) => answer(route, req.raw, env));
  }
  for (const path of new Set(all.map((route) => route.path))) {
    const refusal = refusing(path, () => notAllowed(all.filter((route) => route.path === path)));
    hono.all(path, ({ req, env }) => answer(refusal, req.raw, env));
  }
  const elsewhere = notFound(all);
  hono.notFound(({ req, env }) => answer(elsewhere, req.raw, env));

  async function answer(route: Route, request: Request, invocation: Invocation) {
    const { log = options.log, target = request.url } = invocation;
    const startedMs = performance.now();
    const names = namesOf(request, invocation.requestId);
    const span = options.tracer?.begin(`${request.method} ${route.path}`, names.traceparent);
    const visitor = visitorOf(request);
    const share = memory.share();
    let ending: Promise<Problem | undefined> | undefined;
    const endsWith: Call['endsWith'] = (promise) => {
      ending = promise;
    };
    const work = () => settle({ route, request, target, names, visitor, share, endsWith });
    const outcome = await (span === undefined ? work() : span.within(work));
    const response = inGzip(heldUntilSent(outcome.response, request, share), request);
    const { status } = response;
    const finish = (problem: Problem | undefined): void => {
      const durationMs = performance.now() - startedMs;
      const traced = span?.traceparent === undefined ? names : { ...names, traceparent: span.traceparent };
      log(lineOf(route, request, { names: traced, caller: visitor.caller, status, problem, durationMs }));
      const attributes = {
        'http.request.method': request.method,
        'http.route': route.path,
        'http.response.status_code': status,
      };
      span?.end(attributes, (problem?.status ?? status) >= 500 ? (problem?.code ?? String(status)) : undefined);
    };
    if (ending === undefined) finish(outcome.problem);
    else void ending.then(finish);
    response.headers.set('X-Request-Id', names.requestId);
    if (names.traceparent !== undefined) response.headers.set('traceparent', names.traceparent);
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // Hono drops the body of an answer to HEAD unread: its stream would never learn of the end.
    if (request.method === 'HEAD') await response.body?.cancel();
    return response;
  }

  async function settle({ route, request, target, names, visitor, share, endsWith }: Arrived) {
    try {
      refuseAmbiguous(target);
      const role = typeof route.role === 'function' ? route.role(request) : route.role;
      const authorize = (needed: Role): void => {
        visitor.authorize(needed);
        if (route.showsOwnTables !== true) visitor.confine(tableOf(route, request));
      };
      if (role !== undefined) authorize(role);
      if (route.query !== 'unread') refuseUnknownHeaders(request, ['Stowage-Timeout-Ms', ...(route.headers ?? [])]);
      const bounds = boundsOf(request, options);
      const query = route.query === 'unread' ? {} : queryOf(request, Object.keys(route.query?.shape ?? {}));
      const param = (name: string): string =>
        isInPath(route, name) ? paramOf(route, request, name) : (query[name] ?? missing(name));
      const body = (bytesMax: number) => readBody(request, { bytesMax, signal: bounds.signal, take: share.take });
      const { opens } = visitor;
      const response = await route.handle({
        request,
        bounds,
        query,
        param,
        endsWith,
        body,
        memory: share,
        authorize,
        opens,
      });
      // The size of a list is known when it is made. A write that was done is always told.
      if (request.method === 'GET') share.take(Math.max(0, countedSize(response, 0) - share.held));
      return { response, problem: undefined };
    } catch (error) {
      const problem = toProblem(error, conditionHeaders(request));
      return { response: problemResponse(problem, names.instance), problem };
    }
  }

  return { fetch: async (request, invocation = {}) => await hono.fetch(request, invocation) };
}

/** A response with its whole body in memory, of that length, for its one caller's cache. */
export function reply(
  contentType: string,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Response {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    status,
    headers: { 'Content-Type': contentType, 'Content-Length': String(bytes.length), ...CACHING, ...headers },
  });
}

export function replyJson(value: unknown, status = 200): Response {
  return reply('application/json', JSON.stringify(value), {}, status);
}

/** Says that this instance serves, and nothing about what it stores. */
export const HEALTH: Route = {
  method: 'GET',
  path: '/v1/health',
  role: undefined,
  handle: async () => reply('application/json', '{"status":"ok"}', { 'Cache-Control': 'no-store' }),
};

/** As callers and the document read it: `/v1/tables/{table}`. */
export function shownPath({ path }: Route): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function notFound(routes: readonly Route[]): Route {
  const paths = new Set(routes.map(shownPath));
  const detail = `no such route; there are ${[...paths].join(', ')}`;
  return refusing(
    '*',
    ({ url }) => new Problem('route_not_found', KEY_OF_PARTS.test(rawPath(url)) ? SLASHED + detail : detail),
  );
}

/** A key with slashes in it; or with %2F, which some proxies decode. */
const KEY_OF_PARTS = /^\/v1\/tables\/[^/]+\/records\/[^/]+\//;

const SLASHED =
  'write a / within a key as %2F, or give the key as /v1/tables/{table}/record?key=, which no proxy decodes: ';

function refusing(path: string, problem: (request: Request) => Problem): Route {
  const handle = ({ request }: Call): Promise<never> => Promise.reject(problem(request));
  return { method: 'GET', path, role: undefined, query: 'unread', handle };
}

function notAllowed(routes: readonly Route[]): Problem {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = methods.join(', ');
  return new Problem('method_not_allowed', `this path takes ${allow}`, { headers: { Allow: allow } });
}

function boundsOf(request: Request, { timeoutMs, timeoutMaxMs }: FrameOptions): Call['bounds'] {
  const own = wholeNumberHeader(request, 'Stowage-Timeout-Ms', timeoutMaxMs) ?? timeoutMs;
  return { timeoutMs: own, signal: AbortSignal.any([request.signal, AbortSignal.timeout(own)]) };
}

interface Arrived {
  readonly route: Route;
  readonly request: Request;
  readonly target: string;
  readonly names: Names;
  readonly visitor: Visitor;
  readonly share: MemoryShare;
  readonly endsWith: Call['endsWith'];
}

interface Ending {
  readonly names: Names;
  readonly caller: Caller | undefined;
  readonly status: number;
  readonly problem: Problem | undefined;
  readonly durationMs: number;
}

function lineOf(route: Route, request: Request, ending: Ending): LogLine {
  const { names, caller, status, problem, durationMs } = ending;
  const { instance, ...sought } = names;
  const table = loggedTable(route, request);
  const audit = route.audit ?? (route.role === 'admin' ? `${route.method} ${route.path}` : undefined);
  // A stream's status was sent before it failed: the problem knows better.
  const severity = severityOf(problem?.status ?? status);
  return {
    severity,
    message: `${request.method} ${route.path} ${status}`,
    ...sought,
    method: request.method,
    route: route.path,
    ...(table === undefined ? {} : { table }),
    ...(audit === undefined ? {} : { audit }),
    ...caller,
    status,
    ...(problem === undefined ? {} : { code: problem.code, instance }),
    durationMs: Math.round(durationMs * 100) / 100,
    ...(problem !== undefined && severity === 'ERROR' ? causesOf(problem) : {}),
  };
}

/** Undefined also for a text that names no table: it may be as long as the address. */
function loggedTable(route: Route, request: Request): string | undefined {
  try {
    const table = tableOf(route, request);
    return table !== undefined && TABLE_NAME.test(table) ? table : undefined;
  } catch {
    return undefined;
  }
}

function tableOf(route: Route, request: Request): string | undefined {
  return isInPath(route, 'table') ? paramOf(route, request, 'table') : undefined;
}

function isInPath({ path }: Route, name: string): boolean {
  return path.split('/').includes(`:${name}`);
}

function missing(name: string): never {
  throw new Problem('invalid', `the query names no ${name}: add ?${name}=`);
}

function paramOf({ path }: Route, request: Request, name: string): string {
  return decoded(rawPath(request.url).split('/')[path.split('/').indexOf(`:${name}`)]!, 'path');
}
