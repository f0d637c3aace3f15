// Lets pages of other origins call an app (CORS). Credentials stay out: no browser sends the app
// keys by itself.
import type { App } from './app.ts';

/** Origins such as `https://example.com`; `*` among them: any. */
export type Origins = readonly string[];

/** Keys of app and platform, and what a request of either function may carry. */
const REQUEST_HEADERS = [
  'Accept, Authorization, Cache-Control, Content-Encoding, Content-Type, If-Match, If-None-Match',
  'Stowage-Timeout-Ms, Stowage-Ttl-Ms, traceparent, x-functions-key, X-Request-Id, X-Serverless-Authorization',
].join(', ');

const ANSWER_HEADERS = 'Age, ETag, Link, Location, Retry-After, Stowage-Expires-At, X-Request-Id';

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, PUT, PATCH, POST, DELETE',
  'Access-Control-Allow-Headers': REQUEST_HEADERS,
  // Two hours: no browser remembers it longer.
  'Access-Control-Max-Age': '7200',
} as const;

/**
 * The same app, whose answers pages of these origins may read, and which answers their browsers'
 * questions beforehand.
 */
export function openToPages(app: App, origins: Origins): App {
  if (origins.length === 0) return app;
  return {
    fetch: async (request, invocation) => {
      const allowed = allowedOrigin(request, origins);
      const response =
        allowed !== undefined && isPreflight(request)
          ? new Response(null, { status: 204, headers: PREFLIGHT })
          : await app.fetch(request, invocation);
      if (!origins.includes('*')) response.headers.append('Vary', 'Origin');
      if (allowed === undefined) return response;
      for (const [name, value] of Object.entries(headersFor(allowed))) response.headers.set(name, value);
      return response;
    },
  };
}

function allowedOrigin({ headers }: Request, origins: Origins): string | undefined {
  if (origins.includes('*')) return '*';
  const origin = headers.get('Origin') ?? '';
  return origins.includes(origin) ? origin : undefined;
}

function headersFor(allowed: string): Record<string, string> {
  return { 'Access-Control-Allow-Origin': allowed, 'Access-Control-Expose-Headers': ANSWER_HEADERS };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('Origin') && headers.has('Access-Control-Request-Method');
}
