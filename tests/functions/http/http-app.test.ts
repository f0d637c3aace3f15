// The frame of an app: answers in gzip, pages of other origins, and requests as Node's server hands
// them over, in the forms of RFC 9112, 3.2.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { openToPages } from '../../../functions/http/cors.ts';
import { createApp } from '../../../functions/http/http-app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
import { serveNode } from '../../../functions/http/node.ts';
import { reply, replyJson, type Route, type RouteTable } from '../../../functions/http/route.ts';
import { listening } from '../../support/listening.ts';
import { bytesOf } from '../suite/http-client.ts';

const LARGE = JSON.stringify(Array.from({ length: 1_000 }, (_, at) => ({ at })));
const lines: LogLine[] = [];
const second = Promise.withResolvers<void>();

/** Its second line comes when the first one has been read. */
function stream(): ReadableStream<Uint8Array> {
  return ReadableStream.from(
    (async function* () {
      yield Buffer.from('{"first":1}\n');
      await second.promise;
      yield Buffer.from('{"end":true}\n');
    })(),
  );
}

const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const answers: Record<string, () => Response> = {
  large: () => reply('application/json', LARGE),
  small: () => reply('application/json', LARGE.slice(0, 1_399)),
  tagged: () => reply('application/json', LARGE, { ETag: '"v"' }),
  bytes: () => reply('application/octet-stream', LARGE),
  packed: () => reply('text/html; charset=utf-8', LARGE, { 'Content-Encoding': 'br' }),
  page: () => reply('text/html; charset=utf-8', LARGE),
  stream: () => new Response(stream(), { headers: NDJSON }),
  none: () => new Response(null, { status: 204 }),
};
const routes = Object.fromEntries(
  Object.entries(answers).map(([name, answer]) => [
    `GET /${name}`,
    { role: undefined, summary: '', handle: async () => answer() },
  ]),
) as RouteTable;
const app = createApp(routes, {
  auth: { mode: 'none' },
  timeoutMs: 5_000,
  timeoutMaxMs: 5_000,
  log: (line) => void lines.push(line),
});

function get(name: string, accepted?: string, method = 'GET'): Promise<Response> {
  const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted };
  return app.fetch(new Request(`http://localhost/${name}`, { method, headers }));
}

test.each(['large', 'page'])('%s goes in gzip to whom takes it, without a length', async (name) => {
  const response = await get(name, 'gzip, deflate, br');
  expect(response.headers.get('Content-Encoding')).toBe('gzip');
  expect(response.headers.get('Content-Length')).toBeNull();
  expect(response.headers.get('Vary')).toContain('Accept-Encoding');
  const sent = await bytesOf(response);
  expect(sent.length).toBeLessThan(LARGE.length / 3);
  expect(gunzipSync(sent).toString()).toBe(LARGE);
});

test.each(['small', 'tagged', 'bytes', 'none'])('%s goes as it is', async (name) => {
  const response = await get(name, 'gzip');
  expect(response.headers.get('Content-Encoding')).toBeNull();
  expect(await response.text()).toBe(await answers[name]!().text());
});

test.each([
  [undefined, null],
  ['*', null],
  ['gzip;q=0', null],
  ['gzip; q=0.000', null],
  ['br, GZIP ; q=0.5', 'gzip'],
  ['x-gzip', 'gzip'],
])('Accept-Encoding %s is answered in %s', async (accepted, encoding) => {
  expect((await get('large', accepted)).headers.get('Content-Encoding')).toBe(encoding);
});

test('a line of a stream is sent before the next one is there', async () => {
  const response = await get('stream', 'gzip');
  expect(response.headers.get('Content-Encoding')).toBe('gzip');
  const reader = response.body!.pipeThrough(new DecompressionStream('gzip')).getReader();
  expect(Buffer.from((await reader.read()).value).toString()).toBe('{"first":1}\n');
  second.resolve();
  expect(Buffer.from((await reader.read()).value).toString()).toBe('{"end":true}\n');
});

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
    expect((await asked('OPTIONS', { ...ask, Origin: 'https://mine.example' }, [])).status).toBe(401);
  });
});

const open = { auth: { mode: 'none' }, timeoutMs: 5_000, timeoutMaxMs: 5_000, log: () => {} } as const;
const keyed = createApp(
  {
    'GET /v1/:key': {
      role: undefined,
      summary: '',
      query: z.object({ x: z.string() }),
      handle: async ({ param, query }) => replyJson([param('key'), query]),
    },
  },
  open,
);
const server = createServer((incoming, outgoing) => {
  const arrival = { url: incoming.url ?? '', headers: incoming.headers };
  void serveNode(incoming, outgoing, arrival, (request) => keyed.fetch(request, { target: arrival.url }));
});
const port = await listening(server);
afterAll(() => server.close());

async function answerTo(line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return await text(socket);
}

test.each([
  ['GET /v1/k?x=1', '["k",{"x":"1"}]'],
  ['GET http://localhost/v1/k?x=1', '["k",{"x":"1"}]'],
  ['GET HTTPS://user@[::1]:443/v1/a%2Fb', '["a/b",{}]'],
  ['GET http://a:b:c/v1/k', '["k",{}]'],
  ['GET http://../v1/k', '["k",{}]'],
])('%s is answered with %s', async (line, body) => {
  const answer = await answerTo(line);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer.split('\r\n\r\n', 2)[1]).toBe(body);
});

test.each([
  ['GET http://localhost', 404, 'route_not_found'],
  ['GET http://localhost?x=1', 404, 'route_not_found'],
  ['OPTIONS *', 404, 'route_not_found'],
  ['GET ftp://localhost/v1/k', 404, 'route_not_found'],
  ['GET http://localhost/v1/k#l', 400, 'malformed'],
])('%s is %i %s', async (line, status, code) => {
  const answer = await answerTo(line);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toContain(`"code":"${code}"`);
});
