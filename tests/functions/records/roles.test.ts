// Routes, methods, roles and headers.
import { expect, test } from 'vitest';
import { expectProblem, JSON_TYPE } from '../suite/http-client.ts';
import { served } from './served.ts';

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

test('a reader gets in a batch, and deletes nothing by one', async () => {
  const reader = as(keys.read);
  const headers = { 'Content-Type': JSON_TYPE };
  const table = await sharedTable();
  const post = (operations: unknown[]) =>
    reader(`${table}/batch`, { method: 'POST', headers, body: JSON.stringify({ operations }) });
  expect((await post([{ op: 'get', key: 'k' }])).status).toBe(200);
  await expectProblem(await post(['get', 'delete'].map((op) => ({ op, key: 'k' }))), 403, 'forbidden');
});

test('answers are for their one caller', async () => {
  const response = await admin('/v1/tables');
  expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
  expect(response.headers.get('Vary')).toMatch(/^Accept, Accept-Encoding, Authorization\b/);
});

test.each([
  ['Root=1-67891233-abcdef012345678912345678', true],
  ['a'.repeat(144), true],
  [undefined, false],
  ['with space', false],
  ['a'.repeat(145), false],
])('the id %.40s of a request is that of the answer: %s', async (id, isKept) => {
  const response = await admin('/v2', { headers: id === undefined ? {} : { 'X-Request-Id': id } });
  const answered = response.headers.get('X-Request-Id')!;
  expect([answered === id, /^[\da-f-]{36}$/.test(answered)]).toEqual([isKept, !isKept]);
});

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes', true],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', false],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
  ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', false],
  ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0', false],
  ['x', false],
])('the trace context %s is answered: %s', async (traceparent, isOne) => {
  const response = await admin('/v1/tables', { headers: { traceparent } });
  expect(response.headers.get('traceparent')).toBe(isOne ? traceparent : null);
});

test.each([
  ['GET', '/v1/health', 'Stowage-Timeout', 'Stowage-Timeout-Ms'],
  ['GET', '/v1/tables', 'stowage-ttl-ms', 'Stowage-Timeout-Ms'],
  ['PUT', '/v1/tables/t/records/k', 'Stowage-TTL', 'Stowage-Timeout-Ms, Stowage-Ttl-Ms'],
])('%s %s refuses the header %s, and names those that it takes', async (method, path, header, known) => {
  const response = await admin(path, { method, headers: { [header]: '1' } });
  const { detail } = await expectProblem(response, 400, 'invalid');
  expect(detail).toBe(`unknown header ${header.toLowerCase()}; this route takes ${known}`);
});
