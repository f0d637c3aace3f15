// The store's errors over HTTP and in the log, with a store that fails as told; routes and headers.
import { beforeEach, describe, expect, test } from 'vitest';
import type { LogLine } from '../../../functions/http/log.ts';
import { createRecordsApp } from '../../../functions/records/records-app.ts';
import { type Store, StoreError, type StoreErrorCode } from '../../../shared/store/index.ts';
import { expectProblem, JSON_TYPE } from '../suite/http-client.ts';
import { served } from './served.ts';

let failure: unknown;
let lines: LogLine[] = [];
let seen: unknown[] = [];
const fail = (...args: unknown[]): Promise<never> => {
  seen = args;
  return Promise.reject(failure);
};
const store = { table: async () => ({ get: fail, put: fail, delete: fail, scan: failingScan }) } as unknown as Store;
const log = (line: LogLine): void => void lines.push(line);
const options = { timeoutMs: 5_000, timeoutMaxMs: 10_000, store: async () => store, log };
const app = createRecordsApp({ ...options, auth: { mode: 'none' } });

function failingScan() {
  return {
    cursor: 'resume-here',
    async *[Symbol.asyncIterator]() {
      yield { key: 'a', version: 'v', expiresAtMs: undefined, value: { codec: 'json', bytes: Buffer.from('1') } };
      throw failure;
    },
  };
}

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return app.fetch(new Request(`http://localhost${path}`, init));
}

beforeEach(() => void (lines = []));

const RECORD = '/v1/tables/t/records/k';

describe('an error of the store', () => {
  test.each<[StoreErrorCode, number, string, string | null]>([
    ['conflict', 409, 'conflict', null],
    ['not_found', 404, 'table_not_found', null],
    ['too_large', 413, 'too_large', null],
    ['invalid', 400, 'invalid', null],
    ['throttled', 429, 'throttled', '1'],
    ['unavailable', 503, 'unavailable', '1'],
    ['unknown', 504, 'unknown', null],
    ['corrupt', 500, 'corrupt', null],
    ['aborted', 503, 'aborted', '1'],
  ])('of code %s becomes %i %s, with Retry-After %s', async (code, status, problem, retryAfter) => {
    failure = new StoreError(code, 'what to do', { table: 't' });
    const advice = code === 'not_found' ? 'there is no table "t"; PUT /v1/tables/{table} creates it' : 'what to do';
    const response = await ask(RECORD);
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    const detail = expect.stringContaining(advice);
    expect(await response.json()).toMatchObject({ status, code: problem, detail });
    expect([response.status, response.headers.get('Retry-After')]).toEqual([status, retryAfter]);
  });

  test('that asks for a longer pause has it in Retry-After; one that cannot be retried has none', async () => {
    failure = new StoreError('throttled', 'slow down', { retryAfterMs: 6_500 });
    expect((await ask(RECORD)).headers.get('Retry-After')).toBe('7');
    failure = new StoreError('unavailable', 'access denied', { retryable: false });
    const response = await ask(RECORD);
    expect(response.headers.get('Retry-After')).toBeNull();
    expect(await response.json()).toMatchObject({ status: 503, retryable: false });
  });

  test('in the middle of a stream is its last line, with a cursor to go on from', async () => {
    failure = new StoreError('throttled', 'slow down');
    const response = await ask('/v1/tables/t/records', { headers: { Accept: 'application/x-ndjson' } });
    const text = (await response.text()).trimEnd().split('\n');
    expect(JSON.parse(text[1]!)).toMatchObject({ error: { code: 'throttled', status: 429 }, cursor: 'resume-here' });
    expect(lines).toMatchObject([{ status: 200, code: 'throttled', severity: 'WARNING' }]);
  });
});

describe('an unexpected error', () => {
  test('says nothing of itself to the caller, and its name and place to the log', async () => {
    failure = new TypeError('secret message', { cause: new StoreError('corrupt', 'secret too') });
    const response = await ask(RECORD);
    expect(await response.text()).not.toContain('secret');
    expect(response.status).toBe(500);
    expect(lines[0]).toMatchObject({ severity: 'ERROR', code: 'internal' });
    const causes = [/^TypeError at /, /^StoreError corrupt/].map((cause) => expect.stringMatching(cause) as string);
    expect(lines[0]!.causes).toEqual(causes);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});

describe('bounds', () => {
  test('a deadline and a staleness reach the store', async () => {
    failure = new StoreError('aborted', 'too late');
    await ask(RECORD, { headers: { 'Stowage-Timeout-Ms': '1234', 'Cache-Control': 'max-age=7' } });
    expect(seen[1]).toMatchObject({ timeoutMs: 1_234, maxAgeMs: 7_000, signal: expect.any(AbortSignal) });
  });

  test.each([undefined, 'no-cache', 'max-age=0', 'max-age=7, no-cache', 'max-age=x'])(
    'by Cache-Control %s a read is strong',
    async (header) => {
      await ask(RECORD, { headers: header === undefined ? {} : { 'Cache-Control': header } });
      expect(seen[1]).toMatchObject({ timeoutMs: 5_000, maxAgeMs: 0 });
    },
  );

  test('a body that does not arrive in time is given up', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('"begun')) });
    const headers = { 'Content-Type': 'application/json', 'Stowage-Timeout-Ms': '20' };
    const response = await ask(RECORD, { method: 'PUT', headers, body, duplex: 'half' });
    expect(await response.json()).toMatchObject({ status: 408, code: 'body_timeout' });
  });
});

test('the line of a request says whose key it had, refused or not, and never the key', async () => {
  const keys = { read: ['billing=0123456789abcdef'], write: [], admin: [], compare: [] };
  const guarded = createRecordsApp({ ...options, auth: { mode: 'keys', keys } });
  failure = new StoreError('not_found', 'no', { table: 't' });
  const authorized = { headers: { Authorization: 'Bearer 0123456789abcdef' } };
  for (const init of [authorized, { ...authorized, method: 'DELETE' }, {}])
    await guarded.fetch(new Request(`http://localhost${RECORD}`, init));
  expect(lines.map(({ role, key, status }) => [role, key, status])).toEqual([
    ['read', 'billing', 404],
    ['read', 'billing', 403],
    [undefined, undefined, 401],
  ]);
  expect(JSON.stringify(lines)).not.toContain('0123456789abcdef');
});

test('the log names no table that cannot be one, whose text may be as long as an address', async () => {
  failure = new StoreError('invalid', 'bad table name', {});
  for (const table of ['x'.repeat(15_000), '%0A%1B[2J', 'orders']) await ask(`/v1/tables/${table}/records/k`);
  expect(lines.map(({ table }) => table)).toEqual([undefined, undefined, 'orders']);
});

const { keys, send, as, admin, sharedTable } = served();

type Documented = Record<string, Record<string, { readonly security: readonly object[] }>>;

test('the document names every route with its methods, and is open', async () => {
  const { paths } = (await (await send('/v1/openapi.json')).json()) as { paths: Documented };
  const { detail } = await expectProblem(await admin('/v2'), 404, 'route_not_found');
  expect(Object.keys(paths).sort()).toEqual(detail.match(/\/v1[^,\s]*/g)!.sort());
  for (const [path, operations] of Object.entries(paths)) {
    const refused = await admin(path.replaceAll(/[{}]/g, ''), { method: 'OPTIONS' });
    const allowed = refused.headers.get('Allow')!.toLowerCase().split(', ');
    expect(Object.keys(operations).sort()).toEqual(allowed.filter((method) => method !== 'head').sort());
    for (const [method, { security }] of Object.entries(operations)) {
      const { status } = await send(path.replaceAll(/[{}]/g, ''), { method: method.toUpperCase() });
      expect(`${method} ${path} ${status}`).toBe(`${method} ${path} ${security.length === 0 ? 200 : 401}`);
    }
  }
  const isOpen = (path: string): boolean => Object.values(paths[path]!).some(({ security }) => security.length === 0);
  expect(Object.keys(paths).filter(isOpen)).toEqual(['/v1/health', '/v1/ready', '/v1/openapi.json']);
});

test.each([undefined, 'Bearer', 'Basic YTpi', `Bearer ${'x'.repeat(5000)}`])(
  'a request with the authorization %s is refused',
  async (authorization) => {
    const response = await send('/v1/tables', {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
    expect(response.headers.get('WWW-Authenticate')).toContain('Bearer');
    await expectProblem(response, 401, 'unauthenticated');
  },
);

test('answers are for their one caller', async () => {
  const response = await admin('/v1/tables');
  expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
  expect(response.headers.get('Vary')).toMatch(/^Accept, Accept-Encoding, Authorization\b/);
});

test.each([
  ['Root=1-67891233-abcdef012345678912345678', true],
  ['a'.repeat(144), true],
  ['with space', false],
  ['a'.repeat(145), false],
])('the id %.40s of a request is that of the answer: %s', async (id, isKept) => {
  const response = await admin('/v2', { headers: id === undefined ? {} : { 'X-Request-Id': id } });
  const answered = response.headers.get('X-Request-Id')!;
  expect([answered === id, /^[\da-f-]{36}$/.test(answered)]).toEqual([isKept, !isKept]);
});

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', false],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
  ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0', false],
])('the trace context %s is answered: %s', async (traceparent, isOne) => {
  const response = await admin('/v1/tables', { headers: { traceparent } });
  expect(response.headers.get('traceparent')).toBe(isOne ? traceparent : null);
});

test.each([
  ['GET', '/v1/health', 'Stowage-Timeout', 'Stowage-Timeout-Ms'],
  ['PUT', '/v1/tables/t/records/k', 'Stowage-TTL', 'Stowage-Timeout-Ms, Stowage-Ttl-Ms'],
])('%s %s refuses the header %s, and names those that it takes', async (method, path, header, known) => {
  const response = await admin(path, { method, headers: { [header]: '1' } });
  const { detail } = await expectProblem(response, 400, 'invalid');
  expect(detail).toBe(`unknown header ${header.toLowerCase()}; this route takes ${known}`);
});

test('a reader gets in a batch, and deletes nothing by one', async () => {
  const reader = as(keys.read);
  const headers = { 'Content-Type': JSON_TYPE };
  const table = await sharedTable();
  const post = (operations: unknown[]) =>
    reader(`${table}/batch`, { method: 'POST', headers, body: JSON.stringify({ operations }) });
  expect((await post([{ op: 'get', key: 'k' }])).status).toBe(200);
  await expectProblem(await post(['get', 'delete'].map((op) => ({ op, key: 'k' }))), 403, 'forbidden');
});
