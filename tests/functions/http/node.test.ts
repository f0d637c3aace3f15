// Requests as Node's server hands them over, in the forms of RFC 9112, 3.2.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createApp } from '../../../functions/http/http-app.ts';
import { serveNode } from '../../../functions/http/node.ts';
import { replyJson } from '../../../functions/http/route.ts';
import { listening } from '../../support/listening.ts';

const options = { auth: { mode: 'none' }, timeoutMs: 5_000, timeoutMaxMs: 5_000, log: () => {} } as const;
const app = createApp(
  {
    'GET /v1/:key': {
      role: undefined,
      summary: '',
      query: z.object({ x: z.string() }),
      handle: async ({ param, query }) => replyJson([param('key'), query]),
    },
  },
  options,
);
const server = createServer((incoming, outgoing) => {
  const arrival = { url: incoming.url ?? '', headers: incoming.headers };
  void serveNode(incoming, outgoing, arrival, (request) => app.fetch(request, { target: arrival.url }));
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
