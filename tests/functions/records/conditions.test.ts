// Conditional requests, ttl, staleness, deadlines; and changes in place: PATCH by a JSON merge
// patch, POST of an increment or an expiry.
import { expect, test } from 'vitest';
import { BYTES, expectProblem, JSON_TYPE, MSGPACK, packr, recordAt } from '../suite/http-client.ts';
import { served } from './served.ts';

const client = served();
const { admin, put, freshTable, freshRecord, json } = client;
const MERGE_PATCH = 'application/merge-patch+json';
const CODES: Readonly<Record<number, string>> = {
  400: 'malformed',
  404: 'record_not_found',
  412: 'precondition_failed',
};

/** `E` stands for the record's tag, `M` for that of its other form. */
test.each<[method: string, state: 'there' | 'absent', conditions: string, status: number]>([
  ['GET', 'there', 'If-Match: E', 200],
  ['GET', 'there', 'If-Match: *', 200],
  ['GET', 'there', 'If-Match: "x"', 412],
  ['GET', 'there', 'If-Match: W/E', 412],
  ['GET', 'there', 'If-Match: M', 412],
  ['GET', 'there', 'If-Match: x', 400],
  // If-Match comes first.
  ['GET', 'there', 'If-Match: "x"; If-None-Match: E', 412],
  ['GET', 'there', 'If-None-Match: E', 304],
  ['GET', 'there', 'If-None-Match: W/E', 304],
  ['GET', 'there', 'If-None-Match: *', 304],
  ['GET', 'there', 'If-None-Match: M', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-None-Match: M', 304],
  [`GET as ${MSGPACK}`, 'there', 'If-None-Match: E', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-Match: M', 200],
  [`GET as ${MSGPACK}`, 'there', 'If-Match: E', 412],
  ['GET', 'absent', 'If-Match: *', 404],
  ['PUT', 'there', 'If-Match: E', 204],
  ['PUT', 'there', 'If-Match: "x", E', 204],
  ['PUT', 'there', 'If-Match: M', 204],
  ['PUT', 'there', 'If-Match: "x"', 412],
  ['PUT', 'there', 'If-Match: W/E', 412],
  ['PUT', 'there', 'If-None-Match: M', 412],
  ['PUT', 'there', 'If-None-Match: *', 412],
  ['PUT', 'absent', 'If-None-Match: *', 201],
  ['PUT', 'absent', 'If-Match: *', 412],
  ['PATCH', 'there', 'If-Match: E', 204],
  ['PATCH', 'there', 'If-Match: "x"', 412],
  ['PATCH', 'absent', 'If-Match: *', 412],
  ['DELETE', 'there', 'If-Match: E', 204],
  ['DELETE', 'there', 'If-Match: "x"', 412],
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
  headers.set('Content-Type', method === 'PATCH' ? MERGE_PATCH : JSON_TYPE);
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

const patch = (record: string, body: string, headers: Record<string, string> = {}) =>
  admin(record, { method: 'PATCH', headers: { 'Content-Type': MERGE_PATCH, ...headers }, body });

test('a patch changes what it names, and leaves the rest byte for byte', async () => {
  const record = await freshRecord();
  const before = await put(record, JSON_TYPE, '{"n":12345678901234567890,"a":{"b":1,"c":2}}');
  const patched = await patch(record, '{"a":{"b":null,"d":[1.0]}}');
  expect(patched.status).toBe(204);
  const read = await admin(record);
  expect(read.headers.get('ETag')).toBe(patched.headers.get('ETag'));
  expect(read.headers.get('ETag')).not.toBe(before.headers.get('ETag'));
  expect(await read.text()).toBe('{"n":12345678901234567890,"a":{"c":2,"d":[1.0]}}');
});

test('a record keeps the form and the expiry that it had, unless the patch has an expiry', async () => {
  const record = await freshRecord();
  await put(record, MSGPACK, packr.pack({ a: 1, b: 2 }), { 'Stowage-Ttl-Ms': '3600000' });
  const expiresAt = (await admin(record)).headers.get('Stowage-Expires-At');
  expect((await patch(record, '{"a":null}')).headers.get('Stowage-Expires-At')).toBe(expiresAt);
  const read = await admin(record);
  expect(read.headers.get('Content-Type')).toBe(MSGPACK);
  expect(packr.unpack(Buffer.from(await read.arrayBuffer()))).toEqual({ b: 2 });
  const later = await patch(record, '{"c":3}', { 'Stowage-Ttl-Ms': '7200000' });
  expect(Date.parse(later.headers.get('Stowage-Expires-At')!)).toBeGreaterThan(Date.parse(expiresAt!));
});

test('a patch is refused where there is nothing to merge, and changes nothing', async () => {
  const table = await freshTable();
  await expectProblem(await patch(`${table}/records/none`, '{"a":1}'), 404, 'record_not_found');
  await expectProblem(await patch(`${table}/records/none`, '{}', { 'If-Match': '*' }), 412, 'precondition_failed');
  await put(`${table}/records/raw`, BYTES, Buffer.of(1, 2));
  await expectProblem(await patch(`${table}/records/raw`, '{"a":1}'), 409, 'conflict');
  await put(`${table}/records/bin`, MSGPACK, packr.pack({ b: Buffer.of(1) }));
  await expectProblem(await patch(`${table}/records/bin`, '{"a":1}'), 409, 'conflict');
  await put(`${table}/records/k`, JSON_TYPE, '{"a":1}');
  await expectProblem(await patch(`${table}/records/k`, '{"a":'), 400, 'malformed');
  const refused = await patch(`${table}/records/k`, '[]', { 'Content-Type': 'application/json-patch+json' });
  expect(refused.headers.get('Accept-Patch')).toBe(MERGE_PATCH);
  await expectProblem(refused, 415, 'unsupported_media_type');
  await expectProblem(await patch(`${table}/records/k`, '{"a":2,"a":3}'), 400, 'invalid');
  expect(await (await admin(`${table}/records/k`)).text()).toBe('{"a":1}');
});

const change = (record: string, query: string, headers: Record<string, string> = {}) =>
  admin(`${record}${query}`, { method: 'POST', headers });

const tagAndExpiry = ({ headers }: Response) => ['ETag', 'Stowage-Expires-At'].map((name) => headers.get(name));

const sumOf = async (response: Response) => ((await response.json()) as { value: number }).value;

test('an increment adds to the value or to its field, and makes what is not there', async () => {
  const [counter, page] = [await freshRecord(), await freshRecord()];
  expect(await sumOf(await change(counter, '?increment=1'))).toBe(1);
  const changed = await change(counter, '?increment=-5');
  expect([changed.status, await sumOf(changed)]).toEqual([200, -4]);
  const read = await admin(counter);
  expect([read.headers.get('ETag'), await read.text()]).toEqual([changed.headers.get('ETag'), '-4']);
  expect(await sumOf(await change(page, '?increment=2&field=visits'))).toBe(2);
  await put(page, JSON_TYPE, '{"n":12345678901234567890,"visits":2}');
  expect(await sumOf(await change(page, '?increment=3&field=visits'))).toBe(5);
  expect(await sumOf(await change(page, '?increment=1&field=a%20b'))).toBe(1);
  expect(await (await admin(page)).text()).toBe('{"n":12345678901234567890,"visits":5,"a b":1}');
});

test('concurrent increments of one record all count', async () => {
  const record = await freshRecord();
  const sums = await Promise.all(Array.from({ length: 20 }, async () => sumOf(await change(record, '?increment=1'))));
  expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test.each([
  ['"text"', '', 'the value is no whole number'],
  ['1.5', '', 'the value is no whole number'],
  ['9007199254740993', '', 'the value is no whole number'],
  ['9007199254740991', '', 'the sum is beyond 2^53'],
  ['1', '&field=a', 'the value has no fields'],
  ['[1]', '&field=0', 'the value has no fields'],
  ['{"a":null}', '&field=a', 'the field is no whole number'],
  ['{"a":1,"a":2}', '&field=a', 'a name that stands twice'],
])('of the value %s an increment%s is a conflict, and changes nothing', async (value, field, told) => {
  const record = await freshRecord();
  await put(record, JSON_TYPE, value);
  const { detail } = await expectProblem(await change(record, `?increment=1${field}`), 409, 'conflict');
  expect(detail).toContain(told);
  expect(await (await admin(record)).text()).toBe(value);
});

test('an expiry alone leaves value and form, and takes a record that is there', async () => {
  const record = await freshRecord();
  const ttl = { 'Stowage-Ttl-Ms': '3600000' };
  await expectProblem(await change(record, '', ttl), 404, 'record_not_found');
  const { headers } = await put(record, BYTES, Buffer.of(1, 2));
  const touched = await change(record, '', ttl);
  expect([touched.status, await touched.text()]).toEqual([204, '']);
  expect(touched.headers.get('ETag')).not.toBe(headers.get('ETag'));
  const read = await admin(record);
  expect(tagAndExpiry(read)).toEqual(tagAndExpiry(touched));
  expect(Buffer.from(await read.arrayBuffer())).toEqual(Buffer.of(1, 2));
  const counter = await freshRecord();
  expect((await change(counter, '?increment=1', ttl)).headers.get('Stowage-Expires-At')).not.toBeNull();
});

test('a change holds to its conditions, by either address of the record', async () => {
  const table = await freshTable();
  const [byPath, byQuery] = [`${table}/records/a`, `${table}/record?key=a`];
  expect((await admin(`${byQuery}&increment=1`, { method: 'POST', headers: { 'If-None-Match': '*' } })).status).toBe(
    200,
  );
  await expectProblem(await change(byPath, '?increment=1', { 'If-None-Match': '*' }), 412, 'precondition_failed');
  await expectProblem(await change(byPath, '?increment=1', { 'If-Match': '"x"' }), 412, 'precondition_failed');
  const etag = (await admin(byPath)).headers.get('ETag')!;
  expect(await sumOf(await change(byPath, '?increment=1', { 'If-Match': etag }))).toBe(2);
  expect(await json(byPath)).toBe(2);
});

test.each(['', '?field=a', '?increment=', '?increment=1.5', '?increment=1e3', '?increment=99999999999999999', '?by=1'])(
  'a POST of a record with the query "%s" is invalid',
  async (query) => {
    await expectProblem(await change(await freshRecord(), query), 400, 'invalid');
  },
);
