// Lets the live page of one cloud's function call that of the other (CORS). Any origin may: no
// browser sends the app keys by itself.
import type { App } from '../http/app.ts';

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const;

const PREFLIGHT_ANSWER = {
  ...ANY_ORIGIN,
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  // The keys of app and platform, and the deadline.
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Stowage-Timeout-Ms, x-functions-key, X-Serverless-Authorization',
  // Two hours: no browser remembers it longer.
  'Access-Control-Max-Age': '7200',
} as const;

/**
 * The same app, whose answers pages of any origin may read, and which answers their browsers'
 * questions beforehand.
 */
export function openToPages(app: App): App {
  return {
    fetch: async (request, invocation) => {
      if (isPreflight(request)) return new Response(null, { status: 204, headers: PREFLIGHT_ANSWER });
      const response = await app.fetch(request, invocation);
      for (const [name, value] of Object.entries(ANY_ORIGIN)) response.headers.set(name, value);
      return response;
    },
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('Origin') && headers.has('Access-Control-Request-Method');
}
