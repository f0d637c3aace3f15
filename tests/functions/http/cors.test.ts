import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { openToPages } from '../../../functions/http/cors.ts';
import type { Route } from '../../../functions/http/route.ts';

const seen: string[] = [];
const route: Route = {
  method: 'PATCH',
  path: '/',
  role: undefined,
  summary: '',
  headers: { 'Stowage-Ttl-Ms': z.string() },
  answers: { 200: { description: '', headers: { ETag: '' } } },
  handle: async () => new Response(),
};
const inner = {
  routes: [route],
  fetch: async ({ method }: Request) => {
    seen.push(method);
    return Response.json({ code: 'unauthenticated' }, { status: 401, headers: { Vary: 'Accept' } });
  },
};

const asked = (method: string, headers: Record<string, string>, origins = ['*']): Promise<Response> =>
  openToPages(inner, origins).fetch(new Request('http://localhost/v1/compare/cells', { method, headers }));

describe('a page of another origin', () => {
  test('may read what it is answered, errors too', async () => {
    const response = await asked('GET', { Origin: 'http://other' });
    expect(response.status).toBe(401);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(response.headers.get('Access-Control-Expose-Headers')).toBe('Retry-After, X-Request-Id, ETag');
    // With it a browser would send along what it keeps for this origin.
    expect(response.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });

  test('is told beforehand that it may send keys, without the app', async () => {
    seen.length = 0;
    const response = await asked('OPTIONS', { Origin: 'http://other', 'Access-Control-Request-Method': 'POST' });
    expect(response.status).toBe(204);
    const allowed = response.headers.get('Access-Control-Allow-Headers')!.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'stowage-timeout-ms',
        'stowage-ttl-ms',
        'x-functions-key',
      ]),
    );
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe('PATCH');
    expect(seen).toEqual([]);
  });

  test('finds other OPTIONS answered as before', async () => {
    expect((await asked('OPTIONS', {})).status).toBe(401);
  });

  test('is told apart by its origin, where not all may call', async () => {
    const origins = ['https://mine.example'];
    const mine = await asked('GET', { Origin: 'https://mine.example' }, origins);
    expect(mine.headers.get('Access-Control-Allow-Origin')).toBe('https://mine.example');
    expect(mine.headers.get('Vary')).toBe('Accept, Origin');
    const other = await asked('GET', { Origin: 'https://mine.example.evil' }, origins);
    expect(other.headers.has('Access-Control-Allow-Origin')).toBe(false);
    expect(other.headers.get('Vary')).toBe('Accept, Origin');
    const ask = { 'Access-Control-Request-Method': 'PUT' };
    const beforehand = await asked('OPTIONS', { ...ask, Origin: 'https://mine.example' }, origins);
    expect([beforehand.status, beforehand.headers.get('Vary')]).toEqual([204, 'Origin']);
    expect((await asked('OPTIONS', { ...ask, Origin: 'https://evil.example' }, origins)).status).toBe(401);
  });

  test('may not call where no origin is named', async () => {
    const answer = await asked('OPTIONS', { Origin: 'http://a', 'Access-Control-Request-Method': 'PUT' }, []);
    expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([401, null]);
  });
});
