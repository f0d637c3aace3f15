// Each route is one entry, from which come the router, the refusal of unknown headers and queries,
// the OpenAPI document, the CORS headers, and the table in functions/README.md.
import type * as z from 'zod/mini';
import type { Role } from './auth.ts';
import { MEDIA_TYPE_OF } from './content.ts';
import { CACHING } from './headers.ts';
import type { MemoryShare } from './body-memory.ts';
import { rawPath } from './paths.ts';
import { Problem, type ProblemCode } from './problem.ts';

type Schema = z.core.$ZodType;

/** Schemas by media type; `binary` is any sequence of bytes. */
export type Content = Readonly<Record<string, Schema | 'binary'>>;

type Method = 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

/**
 * Routes by method and path. GET answers HEAD too. A segment `:name` of a path takes any text; a
 * key for some tables opens no other `:table`.
 */
export type RouteTable = Readonly<Record<`${Method} /${string}`, RouteEntry>>;

export interface RouteEntry {
  /** The role that a key needs, checked before anything else; undefined: no key is needed. */
  readonly role: Role | undefined;
  /** Requests that need no key, although the route has a role. */
  readonly isExempt?: (request: Request) => boolean;
  /** It has no `:table`, and shows a key for some tables only those that `call.opens`. */
  readonly showsOwnTables?: true;
  /** The action's name in the log. Default: for the role `admin` the method and path, else none. */
  readonly audit?: string;
  /** One sentence for the document and the README. */
  readonly summary: string;
  /** The query's parameters. Default: it takes none. */
  readonly query?: z.ZodMiniObject;
  /** Headers that it reads. Others that begin with `Stowage-` are refused. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** Default: no body is read. */
  readonly body?: Body;
  /** The operation's name in the OpenAPI document. Default: the document leaves it out. */
  readonly id?: string;
  /** Successful answers by status. Pages of other origins may read their headers. */
  readonly answers?: Readonly<Record<number, Answer>>;
  /** Problems that it may answer beside those of every route. */
  readonly problems?: readonly ProblemCode[];
  handle(call: Call): Promise<Response>;
}

export interface Body {
  /** Bounds the body as it is sent, and inflated; if the body is lines, each line. */
  readonly bytesMax: number;
  readonly content: Content;
  readonly isOptional?: boolean;
}

export interface Answer {
  readonly description: string;
  readonly content?: Content;
  /** What each header says. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonAnswer(description: string, schema: Schema): Answer {
  return { description, content: { [MEDIA_TYPE_OF.json]: schema } };
}

/** Problems of each route that reads a body, and of each that reads a table. */
export const BODY_PROBLEMS = ['unsupported_media_type', 'body_timeout'] as const;
export const READ_PROBLEMS = ['table_not_found', 'corrupt'] as const;

/** An entry with its place. */
export interface Route extends RouteEntry {
  readonly method: string;
  readonly path: string;
}

export function routesIn(table: RouteTable): Route[] {
  return Object.entries(table).map(([place, entry]) => {
    const [method = '', path = ''] = place.split(' ');
    return { ...entry, method, path };
  });
}

/** A request on its way to a handler, with its bounds and the check of its caller's role. */
export interface Call {
  readonly request: Request;
  readonly query: Partial<Record<string, string>>;
  /** A parameter of the route's path, or else of its query; throws `malformed` or `invalid`. */
  readonly param: (name: string) => string;
  /** Bounds for the store: the request's own deadline, or its caller's hanging up. */
  readonly bounds: { readonly timeoutMs: number; readonly signal: AbortSignal };
  /** The body, inflated, within the route's bound; throws what `readBody` does. */
  body(): Promise<Uint8Array>;
  /** Instead of `body`: its lines, of any number, each within the bound; throws the same. */
  lines(): AsyncIterable<Uint8Array>;
  /** For handlers whose answers may be large. It is given back when the answer is sent. */
  readonly memory: MemoryShare;
  /** For handlers that learn from the body which role is needed. Throws the Problem `forbidden`. */
  authorize(needed: Role): void;
  /** Whether the caller's key may know of this table. */
  readonly opens: (table: string) => boolean;
  /** Called by streaming handlers with the end of their stream, for which the log line waits. */
  endsWith(outcome: Promise<Problem | undefined>): void;
}

/** Takes the place of a route if no route takes the request. */
export interface Refusal {
  readonly path: string;
  readonly problem: Problem;
}

export interface Match {
  readonly route: Route | Refusal;
  /** The texts of the path's parameters, as they were sent. */
  readonly params: Readonly<Record<string, string>>;
}

/** Refuses other paths with `route_not_found`, other methods with `method_not_allowed`. */
export function routerOf(routes: readonly Route[]): (request: Request) => Match {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const places = [...byPath].map(([path, here]) => ({ path, segments: path.split('/'), here }));
  const known = [...new Set(routes.map(shownPath))].join(', ');
  return (request) => {
    const path = rawPath(request.url);
    const given = path.split('/');
    const place = places.find(({ segments }) => isAt(segments, given));
    if (place === undefined) return { route: { path: '*', problem: notFound(path, known) }, params: {} };
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = place.here.find((candidate) => candidate.method === method);
    const params = place.segments.flatMap((segment, at) =>
      segment.startsWith(':') ? [[segment.slice(1), given[at]!]] : [],
    );
    return {
      route: route ?? { path: place.path, problem: notAllowed(place.here) },
      params: Object.fromEntries(params) as Match['params'],
    };
  };
}

function isAt(segments: readonly string[], given: readonly string[]): boolean {
  const fits = (segment: string, at: number) => (segment.startsWith(':') ? given[at] !== '' : segment === given[at]);
  return segments.length === given.length && segments.every(fits);
}

/** The path in the form of documents: `/v1/tables/{table}`. */
export function shownPath({ path }: Pick<Route, 'path'>): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** A key with slashes in it; or with %2F, which some proxies decode. */
const KEY_OF_PARTS = /^\/v1\/tables\/[^/]+\/records\/[^/]+\//;

const SLASHED =
  'write a / within a key as %2F, or give the key as /v1/tables/{table}/record?key=, which no proxy decodes: ';

function notFound(path: string, known: string): Problem {
  return new Problem('route_not_found', `${KEY_OF_PARTS.test(path) ? SLASHED : ''}no such route; there are ${known}`);
}

function notAllowed(routes: readonly Route[]): Problem {
  const allow = methodsOf(routes).join(', ');
  return new Problem('method_not_allowed', `this path takes ${allow}`, { headers: { Allow: allow } });
}

/** Each method once, HEAD beside GET. */
export function methodsOf(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
}

/** A response with its whole body in memory, for its caller's cache alone. */
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
