// The frame of all functions: deadlines, roles, problems, the log line. It knows no cloud.
import * as z from 'zod/mini';
import { TABLE_NAME } from '../../shared/store/index.ts';
import { type AuthConfig, type Caller, createGate, type Role, type Visitor } from './auth.ts';
import { readBody, readLines } from './body.ts';
import { conditionHeaders, refuseUnknownHeaders, wholeNumberHeader } from './headers.ts';
import { inGzip } from './gzip.ts';
import { causesOf, type Log, type LogLine, type Names, namesOf, type RequestTracer, severityOf } from './log.ts';
import { countedSize, heldUntilSent, Memory, type MemoryShare } from './body-memory.ts';
import { decoded, queryOf, refuseAmbiguous } from './paths.ts';
import { Problem, problemResponse, toProblem } from './problem.ts';
import { type Call, type Match, reply, type Route, routerOf, routesIn, type RouteTable } from './route.ts';

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

/** What the platform knows of an invocation. Each member replaces the app's own. */
export interface Invocation {
  readonly log?: Log;
  /** The platform's id of this invocation, for a caller that sends none in `X-Request-Id`. */
  readonly requestId?: string;
  /** The target as it arrived. The Request's own URL has folded backslashes and dot segments. */
  readonly target?: string;
}

/** A function's application, to which each platform's entry hands its requests. */
export interface App {
  readonly routes: readonly Route[];
  /** Never rejects: each error becomes a response. */
  fetch(request: Request, invocation?: Invocation): Promise<Response>;
}

/** Adds `GET /v1/health`. */
export function createApp(table: RouteTable, options: FrameOptions): App {
  const routes = routesIn({ ...HEALTH, ...table });
  const matchOf = routerOf(routes);
  const visitorOf = createGate(options.auth);
  const memory = new Memory();

  async function answer(request: Request, invocation: Invocation): Promise<Response> {
    const match = matchOf(request);
    const { route } = match;
    const { log = options.log, target = request.url } = invocation;
    const startedMs = performance.now();
    const names = namesOf(request, invocation.requestId);
    const span = options.tracer?.begin(`${request.method} ${route.path}`, names.traceparent);
    const visitor = visitorOf(request);
    const share = memory.share();
    let ending: Promise<Problem | undefined> | undefined;
    const endsWith: Call['endsWith'] = (promise) => void (ending = promise);
    const work = () => settle({ match, request, target, names, visitor, share, endsWith });
    const outcome = await (span === undefined ? work() : span.within(work));
    const response = inGzip(heldUntilSent(outcome.response, request, share), request);
    const { status } = response;
    const finish = (problem: Problem | undefined): void => {
      const durationMs = performance.now() - startedMs;
      const traced = span?.traceparent === undefined ? names : { ...names, traceparent: span.traceparent };
      log(lineOf(match, request, { names: traced, caller: visitor.caller, status, problem, durationMs }));
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
    if (request.method !== 'HEAD') return response;
    // Otherwise the source of the unread body would never learn that it is not needed.
    await response.body?.cancel();
    return new Response(null, response);
  }

  async function settle({ match, request, target, names, visitor, share, endsWith }: Arrived) {
    try {
      refuseAmbiguous(target);
      const { route, params } = match;
      if ('problem' in route) throw route.problem;
      const authorize = (needed: Role): void => {
        visitor.authorize(needed);
        if (route.showsOwnTables !== true) visitor.confine(tableIn(match));
      };
      if (route.role !== undefined && route.isExempt?.(request) !== true) authorize(route.role);
      refuseUnknownHeaders(request, ['Stowage-Timeout-Ms', ...Object.keys(route.headers ?? {})]);
      const bounds = boundsOf(request, options);
      const query = queryOf(request, Object.keys(route.query?.shape ?? {}));
      const param = (name: string): string =>
        params[name] === undefined ? (query[name] ?? missing(name)) : decoded(params[name], 'path');
      const bytesMax = route.body?.bytesMax ?? 0;
      const bodyBounds = { bytesMax, signal: bounds.signal, take: share.take };
      const body = () => readBody(request, bodyBounds);
      const lines = () => readLines(request, bodyBounds);
      const { opens } = visitor;
      const call: Call = { request, bounds, query, param, endsWith, body, lines, memory: share, authorize, opens };
      const response = await route.handle(call);
      // The size of a list is known only now. The answer to a write is never refused for its size.
      if (request.method === 'GET') share.take(Math.max(0, countedSize(response, 0) - share.held));
      return { response, problem: undefined };
    } catch (error) {
      const problem = toProblem(error, conditionHeaders(request));
      return { response: problemResponse(problem, names.instance), problem };
    }
  }

  return { routes, fetch: (request, invocation = {}) => answer(request, invocation) };
}

/** Tells that this instance serves, and nothing about its data. */
export const HEALTH: RouteTable = {
  'GET /v1/health': {
    role: undefined,
    id: 'health',
    summary: 'Whether this instance serves; it reads no data.',
    answers: {
      200: { description: 'It does.', content: { 'application/json': z.object({ status: z.literal('ok') }) } },
    },
    handle: async () => reply('application/json', '{"status":"ok"}', { 'Cache-Control': 'no-store' }),
  },
};

function boundsOf(request: Request, { timeoutMs, timeoutMaxMs }: FrameOptions): Call['bounds'] {
  const own = wholeNumberHeader(request, 'Stowage-Timeout-Ms', timeoutMaxMs) ?? timeoutMs;
  return { timeoutMs: own, signal: AbortSignal.any([request.signal, AbortSignal.timeout(own)]) };
}

interface Arrived {
  readonly match: Match;
  readonly request: Request;
  readonly target: string;
  readonly names: Names;
  readonly visitor: Visitor;
  readonly share: MemoryShare;
  readonly endsWith: Call['endsWith'];
}

interface Ending extends Pick<LogLine, 'status' | 'durationMs'> {
  readonly names: Names;
  readonly caller: Caller | undefined;
  readonly problem: Problem | undefined;
}

function lineOf(match: Match, request: Request, ending: Ending): LogLine {
  const { names, caller, status, problem, durationMs } = ending;
  const { instance, ...sought } = names;
  const table = loggedTable(match);
  const { route } = match;
  const audit = 'problem' in route ? undefined : auditOf(route);
  // The problem counts, because a stream may fail after its status was sent.
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

function auditOf({ audit, role, method, path }: Route): string | undefined {
  return audit ?? (role === 'admin' ? `${method} ${path}` : undefined);
}

/** Undefined also for a text that is no table's name, which may be as long as a URL. */
function loggedTable(match: Match): string | undefined {
  try {
    const table = tableIn(match);
    return table !== undefined && TABLE_NAME.test(table) ? table : undefined;
  } catch {
    return undefined;
  }
}

function tableIn({ params: { table } }: Match): string | undefined {
  return table === undefined ? undefined : decoded(table, 'path');
}

function missing(name: string): never {
  throw new Problem('invalid', `the query names no ${name}: add ?${name}=`);
}
