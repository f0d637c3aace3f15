// The memory of an instance: what bodies and answers take of it, and how long.
import { expect, test } from 'vitest';
import { createApp } from '../../../functions/http/http-app.ts';
import { Memory } from '../../../functions/http/body-memory.ts';
import type { RouteTable } from '../../../functions/http/route.ts';
import { expectProblem } from '../suite/http-client.ts';

const MIB = 1024 * 1024;
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
