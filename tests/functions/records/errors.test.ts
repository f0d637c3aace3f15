// The store's errors over HTTP and in the log, with a store that fails as told.
import { beforeEach, describe, expect, test } from 'vitest';
import type { LogLine } from '../../../functions/http/log.ts';
import { createRecordsApp } from '../../../functions/records/records-app.ts';
import { type Store, StoreError, type StoreErrorCode } from '../../../shared/store/index.ts';

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

function send(path: string, init: RequestInit = {}): Promise<Response> {
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
    const response = await send(RECORD);
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    const detail = expect.stringContaining(advice);
    expect(await response.json()).toMatchObject({ status, code: problem, detail });
    expect([response.status, response.headers.get('Retry-After')]).toEqual([status, retryAfter]);
  });

  test('that asks for a longer pause has it in Retry-After; one that cannot be retried has none', async () => {
    failure = new StoreError('throttled', 'slow down', { retryAfterMs: 6_500 });
    expect((await send(RECORD)).headers.get('Retry-After')).toBe('7');
    failure = new StoreError('unavailable', 'access denied', { retryable: false });
    const response = await send(RECORD);
    expect(response.headers.get('Retry-After')).toBeNull();
    expect(await response.json()).toMatchObject({ status: 503, retryable: false });
  });

  test('in the middle of a stream is its last line, with a cursor to go on from', async () => {
    failure = new StoreError('throttled', 'slow down');
    const response = await send('/v1/tables/t/records', { headers: { Accept: 'application/x-ndjson' } });
    const text = (await response.text()).trimEnd().split('\n');
    expect(JSON.parse(text[1]!)).toMatchObject({ error: { code: 'throttled', status: 429 }, cursor: 'resume-here' });
    expect(lines).toMatchObject([{ status: 200, code: 'throttled', severity: 'WARNING' }]);
  });
});

describe('an unexpected error', () => {
  test('says nothing of itself to the caller, and its name and place to the log', async () => {
    failure = new TypeError('secret message', { cause: new StoreError('corrupt', 'secret too') });
    const response = await send(RECORD);
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
    await send(RECORD, { headers: { 'Stowage-Timeout-Ms': '1234', 'Cache-Control': 'max-age=7' } });
    expect(seen[1]).toMatchObject({ timeoutMs: 1_234, maxAgeMs: 7_000, signal: expect.any(AbortSignal) });
  });

  test.each([undefined, 'no-cache', 'max-age=0', 'max-age=7, no-cache', 'max-age=x'])(
    'by Cache-Control %s a read is strong',
    async (header) => {
      await send(RECORD, { headers: header === undefined ? {} : { 'Cache-Control': header } });
      expect(seen[1]).toMatchObject({ timeoutMs: 5_000, maxAgeMs: 0 });
    },
  );

  test('a body that does not arrive in time is given up', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('"begun')) });
    const headers = { 'Content-Type': 'application/json', 'Stowage-Timeout-Ms': '20' };
    const response = await send(RECORD, { method: 'PUT', headers, body, duplex: 'half' });
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
  for (const table of ['x'.repeat(15_000), '%0A%1B[2J', 'orders']) await send(`/v1/tables/${table}/records/k`);
  expect(lines.map(({ table }) => table)).toEqual([undefined, undefined, 'orders']);
});
