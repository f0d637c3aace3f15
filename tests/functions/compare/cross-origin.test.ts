import { describe, expect, test } from 'vitest';
import { openToPages } from '../../../functions/compare/cross-origin.ts';

const seen: string[] = [];
const app = openToPages({
  fetch: async ({ method }) => {
    seen.push(method);
    return Response.json({ code: 'unauthenticated' }, { status: 401 });
  },
});

const asked = (method: string, headers: Record<string, string>): Promise<Response> =>
  app.fetch(new Request('http://localhost/v1/compare/cells', { method, headers }));

describe('a page of another origin', () => {
  test('may read what it is answered, errors too', async () => {
    const response = await asked('GET', { Origin: 'http://other' });
    expect(response.status).toBe(401);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*');
    // With it a browser would send along what it keeps for this origin.
    expect(response.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });

  test('is told beforehand that it may send keys, without the app', async () => {
    seen.length = 0;
    const response = await asked('OPTIONS', { Origin: 'http://other', 'Access-Control-Request-Method': 'POST' });
    expect(response.status).toBe(204);
    const allowed = response.headers.get('Access-Control-Allow-Headers')!.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'stowage-timeout-ms', 'x-functions-key']),
    );
    expect(seen).toEqual([]);
  });

  test('finds other OPTIONS answered as before', async () => {
    expect((await asked('OPTIONS', {})).status).toBe(401);
  });
});
