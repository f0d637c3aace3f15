// PATCH by a JSON merge patch.
import { expect, test } from 'vitest';
import { BYTES, expectProblem, JSON_TYPE, MSGPACK, packr } from '../suite/client.ts';
import { served } from './served.ts';

const { admin, put, freshTable, freshRecord } = served();

const MERGE_PATCH = 'application/merge-patch+json';

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

test('concurrent patches of one record lose nothing', async () => {
  const record = await freshRecord();
  await put(record, JSON_TYPE, '{}');
  const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
  const answers = await Promise.all(names.map((member) => patch(record, `{"${member}":1}`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  const value = (await (await admin(record)).json()) as Record<string, number>;
  expect(Object.keys(value).sort()).toEqual(names.sort());
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
  await expectProblem(await patch(`${table}/records/k`, '{"a":2,"a":3}'), 400, 'invalid');
  expect(await (await admin(`${table}/records/k`)).text()).toBe('{"a":1}');
});

test('PATCH takes merge patches alone, and says so', async () => {
  const record = await freshRecord();
  const refused = await patch(record, '[]', { 'Content-Type': 'application/json-patch+json' });
  expect(refused.headers.get('Accept-Patch')).toBe(MERGE_PATCH);
  await expectProblem(refused, 415, 'unsupported_media_type');
});
