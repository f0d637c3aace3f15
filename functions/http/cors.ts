// Lets pages of other origins call an app (CORS), without credentials, as no browser sends app keys
// by itself.
import type { App } from './http-app.ts';
import { methodsOf, type Route } from './route.ts';

/** Origins such as `https://example.com`; `*` among them: any. */
export type Origins = readonly string[];

/** The headers that carry keys, and those that any route takes. */
const REQUEST_HEADERS = [
  'Accept, Authorization, Cache-Control, Content-Encoding, Content-Type, Stowage-Timeout-Ms',
  'traceparent, x-functions-key, X-Request-Id, X-Serverless-Authorization',
];

const ANSWER_HEADERS = ['Retry-After', 'X-Request-Id'];

/** The app, which also answers preflight requests and lets pages of these origins read answers. */
export function openToPages(app: App, origins: Origins): App {
  if (origins.length === 0) return app;
  const preflight = preflightOf(app.routes);
  const readable = listOf([...ANSWER_HEADERS, ...app.routes.flatMap(({ answers }) => headersIn(answers))]);
  return {
    ...app,
    fetch: async (request, invocation) => {
      const allowed = allowedOrigin(request, origins);
      const response =
        allowed !== undefined && isPreflight(request)
          ? new Response(null, { status: 204, headers: preflight })
          : await app.fetch(request, invocation);
      if (!origins.includes('*')) response.headers.append('Vary', 'Origin');
      if (allowed === undefined) return response;
      response.headers.set('Access-Control-Allow-Origin', allowed);
      response.headers.set('Access-Control-Expose-Headers', readable);
      return response;
    },
  };
}

function allowedOrigin({ headers }: Request, origins: Origins): string | undefined {
  if (origins.includes('*')) return '*';
  const origin = headers.get('Origin') ?? '';
  return origins.includes(origin) ? origin : undefined;
}

function preflightOf(routes: readonly Route[]): Record<string, string> {
  const headers = [...REQUEST_HEADERS, ...routes.flatMap((route) => Object.keys(route.headers ?? {}))];
  return {
    'Access-Control-Allow-Methods': listOf(methodsOf(routes)),
    'Access-Control-Allow-Headers': listOf(headers),
    'Access-Control-Max-Age': '7200', // No browser remembers it for longer.
  };
}

function headersIn(answers: Route['answers'] = {}): string[] {
  return Object.values(answers).flatMap(({ headers = {} }) => Object.keys(headers));
}

function listOf(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('Origin') && headers.has('Access-Control-Request-Method');
}
