// Answers in gzip: which ones, and that a stream stays one.
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createApp } from '../../../functions/http/http-app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
import { reply, type RouteTable } from '../../../functions/http/route.ts';
import { bytesOf } from '../suite/http-client.ts';

const LARGE = JSON.stringify(Array.from({ length: 1_000 }, (_, at) => ({ at })));
const lines: LogLine[] = [];
const cancelled = Promise.withResolvers<void>();
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

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: oneMore, cancel: () => cancelled.resolve() });
}

async function oneMore(controller: ReadableStreamDefaultController): Promise<void> {
  await setImmediate();
  controller.enqueue(Buffer.from('1\n'));
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
  endless: () => new Response(endless(), { headers: NDJSON }),
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

test('what is encoded already is not encoded again', async () => {
  expect((await get('packed', 'gzip')).headers.get('Content-Encoding')).toBe('br');
});

test.each([
  [undefined, null],
  ['', null],
  ['identity', null],
  ['*', null],
  ['br, zstd', null],
  ['gzip;q=0', null],
  ['gzip; q=0.000', null],
  ['br, GZIP ; q=0.5', 'gzip'],
  ['gzip;q=1.0', 'gzip'],
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

test('a caller that leaves ends the stream', async () => {
  await (await get('endless', 'gzip')).body!.cancel();
  await expect(cancelled.promise).resolves.toBeUndefined();
});

test('HEAD says what GET would, and its line is written', async () => {
  const before = lines.length;
  const response = await get('large', 'gzip', 'HEAD');
  expect(response.headers.get('Content-Encoding')).toBe('gzip');
  expect(await response.text()).toBe('');
  expect(lines.length).toBe(before + 1);
});
