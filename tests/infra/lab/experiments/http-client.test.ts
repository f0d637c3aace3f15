// A client whose connections are set: what a server sees of it.
import http from 'node:http';
import type net from 'node:net';
import { createPipelineRequest } from '@azure/core-rest-pipeline';
import { afterEach, expect, test } from 'vitest';
import { settableClient } from '../../../../infra/lab/experiments/plain-sdk/http-client.ts';

const DEFAULTS = { connectionsMax: 2, nagle: true, expectContinue: false };

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function serve(listen: (server: http.Server) => void): Promise<{ url: string; sockets: () => number }> {
  const server = http.createServer();
  let sockets = 0;
  server.on('connection', () => (sockets += 1));
  listen(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`, sockets: () => sockets };
}

function clientOf(settings: Parameters<typeof settableClient>[0]) {
  const client = settableClient(settings);
  opened.push(client);
  return client;
}

function post(url: string, body: string) {
  return createPipelineRequest({ url, method: 'POST', body, allowInsecureConnection: true });
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function echo(request: http.IncomingMessage, response: http.ServerResponse): void {
  void textOf(request).then((body) => response.setHeader('x-seen', 'yes').end(`got ${body}`));
}

test('with Expect, headers come first and the body when the server has said 100', async () => {
  const asked: (string | undefined)[] = [];
  const { url } = await serve((server) => {
    server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
      asked.push(request.headers.expect);
      response.writeContinue();
      echo(request, response);
    });
  });
  const reply = await clientOf({ ...DEFAULTS, expectContinue: true }).sendRequest(post(url, 'größer'));
  expect(asked).toEqual(['100-continue']);
  expect(reply).toMatchObject({ status: 200, bodyAsText: 'got größer' });
  expect(reply.headers.get('x-seen')).toBe('yes');
});

test('without Expect, or without a body, no server is asked', async () => {
  const asked: (string | undefined)[] = [];
  const { url } = await serve((server) => {
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      asked.push(request.headers.expect);
      echo(request, response);
    });
  });
  const plain = await clientOf(DEFAULTS).sendRequest(post(url, 'text'));
  const get = createPipelineRequest({ url, method: 'GET', allowInsecureConnection: true });
  const empty = await clientOf({ ...DEFAULTS, expectContinue: true }).sendRequest(get);
  expect([plain.bodyAsText, empty.bodyAsText]).toEqual(['got text', 'got ']);
  expect(asked).toEqual([undefined, undefined]);
});

test('a server that never says 100 gets the body all the same', async () => {
  const { url } = await serve((server) => server.on('checkContinue', echo));
  const reply = await clientOf({ ...DEFAULTS, expectContinue: true }).sendRequest(post(url, 'late'));
  expect(reply.bodyAsText).toBe('got late');
});

test('a server may refuse by the headers alone', async () => {
  const { url } = await serve((server) => {
    server.on('checkContinue', (_: http.IncomingMessage, response: http.ServerResponse) =>
      response.writeHead(413, { connection: 'close' }).end('too large'),
    );
  });
  const reply = await clientOf({ ...DEFAULTS, expectContinue: true }).sendRequest(post(url, 'text'));
  expect(reply).toMatchObject({ status: 413, bodyAsText: 'too large' });
});

test('requests beyond the number of connections wait for one', async () => {
  const counts: number[] = [];
  for (const connectionsMax of [2, 6]) {
    const { url, sockets } = await serve((server) => server.on('request', echo));
    const client = clientOf({ ...DEFAULTS, connectionsMax });
    await Promise.all(Array.from({ length: 6 }, (_, index) => client.sendRequest(post(url, String(index)))));
    counts.push(sockets());
  }
  expect(counts).toEqual([2, 6]);
});

test('a server that is not there rejects the request', async () => {
  await expect(clientOf(DEFAULTS).sendRequest(post('http://127.0.0.1:1/', 'x'))).rejects.toThrow('ECONNREFUSED');
});
