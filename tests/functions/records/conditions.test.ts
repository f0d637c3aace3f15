// Conditional requests, ttl, staleness and deadlines.
import { expect, test } from 'vitest';
import { expectProblem, JSON_TYPE, MSGPACK, recordAt } from '../suite/http-client.ts';
import { served } from './served.ts';

const client = served();
const { admin, put, freshRecord } = client;
const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };
const CODES: Readonly<Record<number, string>> = {
  400: 'malformed',
  404: 'record_not_found',
  412: 'precondition_failed',
};

/** `E` stands for the record's tag, `M` for that of its other form. */
test.each<[method: string, state: 'there' | 'absent', conditions: string, status: number]>([
  ['GET', 'there', 'If-Match: E', 200],
  ['GET', 'there', 'If-Match: "x", E', 200],
  ['GET', 'there', 'If-Match: *', 200],
  ['GET', 'there', 'If-Match: "x"', 412],
  ['GET', 'there', 'If-Match: W/E', 412],
  ['GET', 'there', 'If-Match: M', 412],
  ['GET', 'there', 'If-Match: x', 400],
  // If-Match comes first.
  ['GET', 'there', 'If-Match: "x"; If-None-Match: E', 412],
  ['GET', 'there', 'If-None-Match: E', 304],
  ['GET', 'there', 'If-None-Match: W/E', 304],
  ['GET', 'there', 'If-None-Match: "x" ,E', 304],
  ['GET', 'there', 'If-None-Match: *', 304],
  ['GET', 'there', 'If-None-Match: "x"', 200],
  ['GET', 'there', 'If-None-Match: M', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-None-Match: M', 304],
  [`GET as ${MSGPACK}`, 'there', 'If-None-Match: E', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-Match: M', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-Match: E', 412],
  ['GET', 'absent', 'If-Match: *', 404],
  ['PUT', 'there', 'If-Match: E', 204],
  ['PUT', 'there', 'If-Match: "x", E', 204],
  ['PUT', 'there', 'If-Match: *', 204],
  ['PUT', 'there', 'If-Match: M', 204],
  ['PUT', 'there', 'If-Match: "x"', 412],
  ['PUT', 'there', 'If-Match: "x", "y"', 412],
  ['PUT', 'there', 'If-Match: W/E', 412],
  ['PUT', 'there', 'If-None-Match: E', 412],
  ['PUT', 'there', 'If-None-Match: M', 412],
  ['PUT', 'there', 'If-None-Match: *', 412],
  ['PUT', 'there', 'If-None-Match: "x"', 204],
  ['PUT', 'absent', 'If-None-Match: *', 201],
  ['PUT', 'absent', 'If-Match: *', 412],
  ['PUT', 'absent', 'If-Match: "x"', 412],
  ['PATCH', 'there', 'If-Match: E', 204],
  ['PATCH', 'there', 'If-Match: "x"', 412],
  ['PATCH', 'there', 'If-None-Match: *', 412],
  ['PATCH', 'absent', 'If-Match: *', 412],
  ['DELETE', 'there', 'If-Match: E', 204],
  ['DELETE', 'there', 'If-Match: "x"', 412],
  ['DELETE', 'there', 'If-None-Match: *', 412],
  ['DELETE', 'absent', 'If-None-Match: *', 204],
])('%s of a record that is %s, with %s, is answered %i', async (asked, state, conditions, status) => {
  const [method = '', accept = '*/*'] = asked.split(' as ');
  const { record, etag } = state === 'there' ? await recordAt(client) : { record: await freshRecord(), etag: '' };
  const converted = (await admin(record, { headers: { Accept: MSGPACK } })).headers.get('ETag') ?? '';
  expect(state === 'absent' || converted !== etag).toBe(true);
  const tags = conditions.replace(/\bE$/, etag).replace(/\bM$/, converted);
  const headers = new Headers([
    ['Accept', accept],
    ...tags.split('; ').map((tag) => tag.split(': ') as [string, string]),
  ]);
  for (const [name, value] of Object.entries(method === 'PATCH' ? MERGE_PATCH : { 'Content-Type': JSON_TYPE }))
    headers.set(name, value);
  const body = method === 'GET' || method === 'DELETE' ? null : '2';
  const response = await admin(record, { method, headers, body });
  if (status >= 400) await expectProblem(response, status, CODES[status]!);
  const isShown = method === 'GET' && status < 400;
  expect([response.status, isShown && response.headers.get('ETag')]).toEqual([
    status,
    isShown && (accept === MSGPACK ? converted : etag),
  ]);
  const left = await admin(record);
  const before = state === 'there' ? '1' : undefined;
  const after = status >= 300 || method === 'GET' ? before : method === 'DELETE' ? undefined : '2';
  expect(left.status === 404 ? undefined : await left.text()).toBe(after);
});

test('the entity tag is the strong, quoted version, and a write with a former one is refused', async () => {
  const { record, etag } = await recordAt(client);
  expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
  const [table, key] = record.split('/records/') as [string, string];
  expect(await client.batch(table, [{ op: 'get', key }])).toMatchObject([{ version: etag.slice(1, -1) }]);
  expect((await put(record, JSON_TYPE, '2', { 'If-Match': etag })).status).toBe(204);
  await expectProblem(await put(record, JSON_TYPE, '3', { 'If-Match': etag }), 412, 'precondition_failed');
});

test('a ttl is given back as the time of expiry', async () => {
  const record = await freshRecord();
  await put(record, JSON_TYPE, '1', { 'Stowage-Ttl-Ms': '3600000' });
  const left = Date.parse((await admin(record)).headers.get('Stowage-Expires-At')!) - Date.now();
  expect(left).toBeGreaterThan(3_500_000);
  expect(left).toBeLessThanOrEqual(3_600_000);
});

test.each(['0', '-1', '1.5', 'x', ''])('the ttl %j is invalid', async (ttl) => {
  const record = await freshRecord();
  await expectProblem(await put(record, JSON_TYPE, '1', { 'Stowage-Ttl-Ms': ttl }), 400, 'invalid');
});

test('a read may be as old as max-age says, and a deadline of 0 is invalid', async () => {
  const { record } = await recordAt(client);
  const read = await admin(record, { headers: { 'Cache-Control': 'max-age=60' } });
  expect([read.status, read.headers.get('Age')]).toEqual([200, expect.stringMatching(/^\d+$/)]);
  expect((await admin(record)).headers.get('Age')).toBe(null);
  await expectProblem(await admin(record, { headers: { 'Stowage-Timeout-Ms': '0' } }), 400, 'invalid');
  expect((await admin(record, { headers: { 'Stowage-Timeout-Ms': '10000' } })).status).toBe(200);
});
