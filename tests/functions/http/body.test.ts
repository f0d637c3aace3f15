// Bodies: how much of one is read, and what bodies and answers take of an instance's memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Memory } from '../../../functions/http/body-memory.ts';
import { readBody } from '../../../functions/http/body.ts';
import { createApp } from '../../../functions/http/http-app.ts';
import type { RouteTable } from '../../../functions/http/route.ts';
import { expectProblem } from '../suite/http-client.ts';

const MIB = 1024 * 1024;
const { signal } = new AbortController();
const BOUNDS = { bytesMax: MIB, signal, take: () => {} };

function requestOf(body: Uint8Array, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/', { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> });
}

function streamed(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headers: Record<string, string> = {},
): Request {
  const body = ReadableStream.from(pieces);
  return new Request('http://localhost/', { method: 'POST', headers, body, duplex: 'half' });
}

const GZIP = { 'Content-Encoding': 'gzip' };

test('a reader inflates no more of a gzip bomb than it may keep', async () => {
  let taken = 0;
  const bounds = { bytesMax: MIB, signal, take: (bytes: number) => void (taken += bytes) };
  const bomb = requestOf(gzipSync(Buffer.alloc(16 * MIB)), GZIP);
  await expect(readBody(bomb, bounds)).rejects.toMatchObject({ code: 'too_large' });
  expect(taken).toBeLessThanOrEqual(MIB);
});

test('a body in several pieces, and gzip in several members, are read whole', async () => {
  const members = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  expect(Buffer.from(await readBody(requestOf(members, GZIP), BOUNDS)).toString()).toBe('one two');
  const pieces = streamed([members.subarray(0, 5), members.subarray(5)], { 'Content-Encoding': 'X-GZip' });
  expect(Buffer.from(await readBody(pieces, BOUNDS)).toString()).toBe('one two');
});

test('a body in many pieces takes no more memory than in few', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = heldBytes();
  let held = 0;
  function* pieces(): Generator<Uint8Array> {
    for (let left = 65_535; left > 0; left -= 1) yield Buffer.alloc(1);
    held = heldBytes() - before;
    yield Buffer.alloc(1);
  }
  let taken = 0;
  const bounds = { bytesMax: MIB, signal, take: (bytes: number) => void (taken += bytes) };
  expect(await readBody(streamed(pieces()), bounds)).toHaveLength(65_536);
  expect(held).toBeLessThan(4 * MIB);
  expect(taken).toBe(65_536);
});

test('a body in more pieces than any network makes of it is refused', async () => {
  let sent = 0;
  function* pieces(): Generator<Uint8Array> {
    while (sent++ < 70_000) yield Buffer.alloc(1);
  }
  const refused = { code: 'too_large', message: expect.stringContaining('65536 pieces: send larger ones') };
  await expect(readBody(streamed(pieces()), BOUNDS)).rejects.toMatchObject(refused);
  expect(sent).toBeLessThan(66_000);
});

test('a reader reads no more of gzip that inflates to nothing than a body may have', async () => {
  const piece = Buffer.alloc(3_200 * 20, gzipSync(''));
  let sent = 0;
  function* pieces(): Generator<Uint8Array> {
    while (sent++ < 160) yield piece;
  }
  await expect(readBody(streamed(pieces(), GZIP), BOUNDS)).rejects.toMatchObject({ code: 'too_large' });
  expect(sent).toBeLessThan(40);
});

test('gzip that is cut off is malformed', async () => {
  const cut = requestOf(gzipSync('x'.repeat(1_000)).subarray(0, -4), GZIP);
  await expect(readBody(cut, BOUNDS)).rejects.toMatchObject({ code: 'malformed' });
});

const FULL = expect.objectContaining({ code: 'unavailable' }) as Error;

test('an instance holds 256 MiB, of which 16 are for small requests', () => {
  const memory = new Memory();
  const large = memory.share();
  large.take(240 * MIB);
  expect(() => memory.share().take(MIB)).toThrow(FULL);
  for (let count = 0; count < 32; count += 1) memory.share().take(MIB / 2);
  expect(() => memory.share().take(1)).toThrow(FULL);
  large.giveBack(large.held);
  memory.share().take(200 * MIB);
});

test('each of 32 requests gets a part of what is left, and none less than a record', () => {
  const memory = new Memory();
  expect(memory.share().takeUpTo(MIB)).toBe(MIB);
  const parts = Array.from({ length: 32 }, () => memory.share().takeUpTo(24 * MIB));
  expect(parts[0]).toBe(24 * MIB);
  expect(Math.min(...parts)).toBeGreaterThanOrEqual(MIB / 2);
  expect(() => {
    for (;;) parts.push(memory.share().takeUpTo(24 * MIB));
  }).toThrow(FULL);
  expect(parts.at(-1)).toBe(MIB / 2);
});

const LARGE = 239 * MIB;

const routes: RouteTable = {
  'GET /large': {
    role: undefined,
    summary: '',
    handle: async () => new Response('x', { headers: { 'Content-Length': String(LARGE) } }),
  },
  'POST /body': {
    role: undefined,
    summary: '',
    body: { bytesMax: 4 * MIB, content: {} },
    handle: async (call) => {
      await call.body();
      return new Response(null, { status: 204 });
    },
  },
};

test('an answer leaves no memory for other answers and bodies until it is sent, or its caller has gone', async () => {
  const bounds = { timeoutMs: 60_000, timeoutMaxMs: 60_000 };
  const app = createApp(routes, { auth: { mode: 'none' }, ...bounds, log: () => {} });
  const get = (method = 'GET', signal?: AbortSignal): Promise<Response> =>
    app.fetch(new Request('http://localhost/large', { method, ...(signal === undefined ? {} : { signal }) }));
  const post = (): Promise<Response> =>
    app.fetch(new Request('http://localhost/body', { method: 'POST', body: Buffer.alloc(2 * MIB) }));
  const first = await get();
  const refused = await get();
  expect(refused.headers.get('Retry-After')).toBe('1');
  expect(await expectProblem(refused, 503, 'unavailable')).toMatchObject({ retryable: true });
  await expectProblem(await post(), 503, 'unavailable');
  expect(await first.text()).toBe('x');
  expect((await post()).status).toBe(204);
  const second = await get();
  await second.body?.cancel();
  expect((await get('HEAD')).status).toBe(200);
  const gone = new AbortController();
  expect((await get('GET', gone.signal)).status).toBe(200);
  gone.abort();
  expect((await get()).status).toBe(200);
});
