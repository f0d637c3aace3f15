// The typed client calls the function `records` over HTTP, and sends again what may be sent again.
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { serveNode } from '../../functions/http/node.ts';
import { stowageClient } from '../../shared/client/index.ts';
import { KEYS } from '../functions/test-keys.ts';
import { served } from '../functions/records/served.ts';
import { listening } from '../support/listening.ts';

const { app } = served();
const server = createServer((incoming, outgoing) => {
  const arrival = { url: incoming.url ?? '', headers: incoming.headers };
  void serveNode(incoming, outgoing, arrival, (request) => app.fetch(request, { target: arrival.url }));
});
const baseUrl = `http://127.0.0.1:${await listening(server)}`;
afterAll(() => server.close());

const client = stowageClient({ baseUrl, key: KEYS.admin });

test('calls are typed by the document, and answered by the function', async () => {
  const path = { table: 'orders' };
  const created = await client.PUT('/v1/tables/{table}', { params: { path }, body: { order: 'key', groupBy: '/' } });
  expect(created.data).toEqual({ name: 'orders', order: 'key', groupBy: '/' });
  const record = { params: { path: { ...path, key: 'a/b é' } } };
  const put = await client.PUT('/v1/tables/{table}/records/{key}', { ...record, body: { n: 1 } });
  expect([put.response.status, put.data]).toEqual([204, undefined]);
  const added = await client.POST('/v1/tables/{table}/records/{key}', {
    params: { ...record.params, query: { increment: 2, field: 'n' }, header: { 'Stowage-Ttl-Ms': 3_600_000 } },
  });
  const sum: number | undefined = added.data?.value;
  expect(sum).toBe(3);
  expect((await client.GET('/v1/tables/{table}/records/{key}', record)).data).toEqual({ n: 3 });
  const page = await client.GET('/v1/tables/{table}/records', { params: { path, query: { prefix: 'a', limit: 10 } } });
  const keys: string[] | undefined = page.data?.records.map(({ key }) => key);
  expect(keys).toEqual(['a/b é']);
  const batch = await client.POST('/v1/tables/{table}/batch', {
    params: { path },
    body: { atomic: true, operations: [{ op: 'put', key: 'a/c', value: null, ifAbsent: true }] },
  });
  expect(batch.data?.outcomes).toMatchObject([{ status: 'written', key: 'a/c' }]);
  // @ts-expect-error: no such route
  expect((await client.GET('/v1/table')).response.status).toBe(404);
  // @ts-expect-error: no such order
  const wrong = await client.PUT('/v1/tables/{table}', { params: { path }, body: { order: 'sorted' } });
  expect(wrong.error?.code).toBe('invalid');
});

test('a problem is typed by its code', async () => {
  const { data, error } = await client.GET('/v1/tables/{table}', { params: { path: { table: 'none' } } });
  expect(data).toBeUndefined();
  expect(error?.code === 'table_not_found' && error.status).toBe(404);
  const reader = stowageClient({ baseUrl, key: KEYS.read });
  const refused = await reader.PUT('/v1/tables/{table}', { params: { path: { table: 'none' } } });
  expect(refused.error?.code).toBe('forbidden');
});

test('lines go in and outcomes come out as streams', async () => {
  await client.PUT('/v1/tables/{table}', { params: { path: { table: 'lines' } } });
  const { data } = await client.POST('/v1/tables/{table}/records', {
    params: { path: { table: 'lines' } },
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ReadableStream.from([Buffer.from('{"key":"a","val'), Buffer.from('ue":1}\n')]),
    bodySerializer: (body: unknown) => body,
    duplex: 'half',
    parseAs: 'stream',
  });
  expect(await new Response(data).text()).toMatch(/^\{"status":"written","key":"a",.*\}\n\{"end":true\}\n$/);
});

/** Answers one after the other, and notes what was sent and how long was waited. */
function playing(answers: readonly Response[], options: { triesMax?: number; timeoutMs?: number } = {}) {
  const [bodies, waits]: [string[], number[]] = [[], []];
  const played = stowageClient({
    baseUrl: 'http://localhost',
    headers: { 'x-functions-key': 'gate' },
    ...options,
    fetch: async (request) => {
      expect(request.headers.get('x-functions-key')).toBe('gate');
      bodies.push(await request.text());
      return answers[bodies.length - 1]!;
    },
    sleep: async (ms) => void waits.push(ms),
  });
  const put = () =>
    played.PUT('/v1/tables/{table}/records/{key}', { params: { path: { table: 't', key: 'k' } }, body: { n: 1 } });
  return { played, put, bodies, waits };
}

function problem(retryable: boolean, retryAfter?: string): Response {
  const headers = { 'Content-Type': 'application/problem+json', ...(retryAfter && { 'Retry-After': retryAfter }) };
  return new Response(JSON.stringify({ code: 'throttled', retryable }), { status: 429, headers });
}

test('a retryable request is sent again whole, after the pause that the server asks for or up to twice that', async () => {
  const { put, bodies, waits } = playing([problem(true, '2'), problem(true), new Response(null, { status: 204 })]);
  const { response, error } = await put();
  expect([response.status, error]).toEqual([204, undefined]);
  expect(bodies).toEqual(['{"n":1}', '{"n":1}', '{"n":1}']);
  const [first = 0, second = 0] = waits;
  expect([first >= 2_000, first < 4_000, second >= 1_000, second < 2_000]).toEqual([true, true, true, true]);
});

test.each([
  ['a problem that may not be sent again', problem(false, '1')],
  ['an answer that is none of the function’s', new Response('busy', { status: 503, headers: { 'Retry-After': '1' } })],
])('the client gives %s at once', async (_, answer) => {
  const { put, bodies } = playing([answer]);
  expect((await put()).response.status).toBe(answer.status);
  expect(bodies).toHaveLength(1);
});

test('tries are bounded, and the last problem is given', async () => {
  const { put, bodies, waits } = playing([problem(true), problem(true), problem(true, '9')], { triesMax: 3 });
  const { error, response } = await put();
  expect([error?.code, response.headers.get('Retry-After')]).toEqual(['throttled', '9']);
  expect([bodies.length, waits.length]).toEqual([3, 2]);
});

test('the client begins no try for which the deadline leaves no time', async () => {
  const { put, bodies } = playing([problem(true, '60')], { timeoutMs: 50_000 });
  expect((await put()).error?.code).toBe('throttled');
  expect(bodies).toHaveLength(1);
});

test('lines are sent once', async () => {
  const { played, bodies } = playing([problem(true, '1')]);
  const { error } = await played.POST('/v1/tables/{table}/records', {
    params: { path: { table: 't' } },
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: '{"key":"a","value":1}',
    bodySerializer: (body: unknown) => body,
  });
  expect([error?.code, bodies]).toEqual(['throttled', ['{"key":"a","value":1}']]);
});

/** Answers no request. */
function silent({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

test('a body of lines is not kept as it is sent', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // Memory outside the heap is freed beside the program: the second collection waits for the first.
  const heldBytes = (): number => {
    gc();
    gc();
    return process.memoryUsage().arrayBuffers;
  };
  const [chunks, chunkBytes] = [512, 128 * 1024];
  const before = heldBytes();
  let held = 0;
  async function* lines() {
    for (let sent = 0; sent < chunks; sent += 1) yield Buffer.alloc(chunkBytes, 'x');
    held = heldBytes() - before;
  }
  const sink = createServer((incoming, outgoing) => incoming.resume().once('end', () => outgoing.end('{}')));
  onTestFinished(() => void sink.close());
  const { error } = await stowageClient({ baseUrl: `http://127.0.0.1:${await listening(sink)}` }).POST(
    '/v1/tables/{table}/records',
    {
      params: { path: { table: 't' } },
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: ReadableStream.from(lines()),
      bodySerializer: (body: unknown) => body,
      duplex: 'half',
    },
  );
  expect(error).toBeUndefined();
  expect(held).toBeLessThan(0.75 * chunks * chunkBytes);
});

test('a call ends with its deadline, or its signal', async () => {
  const soon = stowageClient({ baseUrl, fetch: silent, timeoutMs: 1 });
  await expect(soon.GET('/v1/tables')).rejects.toMatchObject({ name: 'TimeoutError' });
  const ending = new AbortController();
  const ended = stowageClient({ baseUrl, fetch: silent }).GET('/v1/tables', { signal: ending.signal });
  ending.abort();
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
});

test('a call whose signal ends before the wait for the next try does not wait', async () => {
  const ending = new AbortController();
  const busy = async () => {
    ending.abort();
    return problem(true, '3600');
  };
  const client = stowageClient({ baseUrl, fetch: busy, timeoutMs: 100_000_000 });
  await expect(client.GET('/v1/tables', { signal: ending.signal })).rejects.toMatchObject({ name: 'AbortError' });
});

test('the wait for the next try is a timer, which the signal of the call ends', async () => {
  const ending = new AbortController();
  const answers = [problem(true, '0.001'), problem(true, '3600')];
  const busy = async () => {
    const answer = answers.shift()!;
    // Once the client has begun to wait.
    if (answers.length === 0) setImmediate(() => setImmediate(() => ending.abort()));
    return answer;
  };
  const call = stowageClient({ baseUrl, fetch: busy, timeoutMs: 2 ** 31 - 1 });
  await expect(call.GET('/v1/tables', { signal: ending.signal })).rejects.toMatchObject({ name: 'AbortError' });
  expect(answers).toEqual([]);
});
