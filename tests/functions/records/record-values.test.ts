// Values in and out, in all media types.
import path from 'node:path/posix';
import { expect, test } from 'vitest';
import { BYTES, bytesOf, expectProblem, JSON_TYPE, MSGPACK, nested } from '../suite/http-client.ts';
import { served } from './served.ts';

const { admin, put, freshRecord, batch } = served();

/** The heads of arrays in MessagePack, by their lengths. */
const LENGTHS = [
  [15, '9f'],
  [16, 'dc0010'],
  [65_535, 'dcffff'],
  [65_536, 'dd00010000'],
] as const;

test.each([
  ['0', '00'],
  ['4294967296', 'd30000000100000000'],
  ['12345678901234567890', 'cfab54a98ceb1f0ad2'],
  ['-9223372036854775808', 'd38000000000000000'],
  ['100000000000000000000', 'cb4415af1d78b58c40'],
  ['1.0', 'cb3ff0000000000000'],
  ['-0.0', 'cb8000000000000000'],
  ['1e3', 'cb408f400000000000'],
  ['{"constructor":{"toJSON":[true,null]}}', '81ab636f6e7374727563746f7281a6746f4a534f4e92c3c0'],
  ...LENGTHS.map(([count, head]): [string, string] => [`[${Array(count).fill(0).join()}]`, head + '00'.repeat(count)]),
])('the JSON %.50s becomes exactly that in MessagePack', async (text, hex) => {
  const record = await freshRecord();
  await put(record, JSON_TYPE, text);
  const read = await admin(record, { headers: { Accept: MSGPACK } });
  expect(read.headers.get('Content-Type')).toBe(MSGPACK);
  expect((await bytesOf(read)).toString('hex')).toBe(hex);
});

test.each([
  ['cb3ff0000000000000', '1.0'],
  ['cb8000000000000000', '-0.0'],
  ['cb7fefffffffffffff', '1.7976931348623157e+308'],
  ['cfffffffffffffffff', '18446744073709551615'],
  ['82a162a132a13180', '{"b":"2","1":{}}'],
  ['a3e282ac', '"€"'],
])('the MessagePack %s becomes exactly that in JSON', async (hex, text) => {
  const record = await freshRecord();
  await put(record, MSGPACK, Buffer.from(hex, 'hex'));
  const read = await admin(record, { headers: { Accept: `${MSGPACK};q=0.5, application/*` } });
  expect(read.headers.get('Content-Type')).toBe(JSON_TYPE);
  expect(await read.text()).toBe(text);
});

test.each([
  [JSON_TYPE, 'an integer beyond 64 bits', '[1,{"a b":[18446744073709551617]}]', 'value[1]["a b"][0]'],
  [JSON_TYPE, 'a fraction with more digits than a double', '0.12345678901234567890', ''],
  [JSON_TYPE, 'a number between zero and the doubles', '1e-400', ''],
  [JSON_TYPE, 'half a surrogate pair', '{"a":"\\ud800"}', 'value.a'],
  [JSON_TYPE, 'a name that stands twice', '[{"a":{"b":1},"\\u0061":2}]', 'value[0].a'],
  [MSGPACK, 'NaN', 'cb7ff8000000000000', ''],
  [MSGPACK, 'binary', 'c40101', ''],
  [MSGPACK, 'a timestamp', '9281a1610181a162930102d6ff00000000', 'value[1].b[2]'],
  [MSGPACK, 'a key that is no string', '82a161010102', ''],
  [MSGPACK, 'a key that stands twice', '82a16101a16102', 'value.a'],
])('%s with %s has no other form, and is given as it is', async (type, _what, body, place) => {
  const record = await freshRecord();
  const sent = type === MSGPACK ? Buffer.from(body, 'hex') : Buffer.from(body);
  expect((await put(record, type, sent)).status).toBe(204);
  const other = type === MSGPACK ? JSON_TYPE : MSGPACK;
  const problem = await expectProblem(await admin(record, { headers: { Accept: other } }), 406, 'not_acceptable');
  expect(problem.detail).toContain('the value holds');
  expect(problem.detail.split(', at ')[1] ?? '').toBe(place);
  const read = await admin(record, { headers: { Accept: `${other}, */*` } });
  expect(read.headers.get('Content-Type')).toBe(type);
  expect(await bytesOf(read)).toEqual(sent);
});

test.each([
  ['application/json, text/plain, */*', JSON_TYPE],
  ['*/*, application/json', JSON_TYPE],
  ['application/vnd.msgpack, application/json', MSGPACK],
  ['application/x-msgpack', MSGPACK],
  ['application/json;q=0.9, */*', MSGPACK],
  ['application/json;q=0, */*', MSGPACK],
  ['*/*', MSGPACK],
])('to Accept: %s a value stored as MessagePack is given as %s', async (accept, type) => {
  const record = await freshRecord();
  await put(record, MSGPACK, Buffer.from([0x93, 1, 2, 3]));
  const read = await admin(record, { headers: { Accept: accept } });
  expect(read.headers.get('Content-Type')).toBe(type);
});

test.each(['2', '-1', '1.5', '0.1234', 'x', ''])('a weight in Accept of q=%s is malformed', async (weight) => {
  const accept = { headers: { Accept: `${MSGPACK}, ${JSON_TYPE};q=${weight}` } };
  const record = await freshRecord();
  await put(record, JSON_TYPE, '1');
  for (const target of [record, path.dirname(record)]) {
    const problem = await expectProblem(await admin(target, accept), 400, 'malformed');
    expect(problem.detail).toContain('a q in Accept');
  }
});

test.each([JSON_TYPE, MSGPACK] as const)('%s may be nested 100 levels deep, in either form', async (type) => {
  const record = await freshRecord();
  expect((await put(record, type, nested(type, 100))).status).toBe(204);
  for (const form of [JSON_TYPE, MSGPACK] as const) {
    const read = await admin(record, { headers: { Accept: form } });
    expect(await bytesOf(read)).toEqual(nested(form, 100));
  }
  const problem = await expectProblem(await put(record, type, nested(type, 101)), 400, 'malformed');
  expect(problem.detail).toContain('100 levels');
});

test.each(['application/msgpack', 'application/x-msgpack', 'Application/VND.MsgPack'])(
  'MessagePack is taken as %s too',
  async (type) => {
    const record = await freshRecord();
    expect((await put(record, type, Buffer.from([7]))).status).toBe(204);
    expect((await admin(record)).headers.get('Content-Type')).toBe(MSGPACK);
    const [table, key] = record.split('/records/') as [string, string];
    const data = { op: 'put', key, data: 'Bw==', contentType: type.toLowerCase() };
    const outcomes = await batch(table, [data, { op: 'get', key }]);
    expect(outcomes).toMatchObject([{ status: 'written' }, { contentType: MSGPACK, value: 7 }]);
  },
);

const GZIP = { 'Content-Encoding': 'gzip' };

test.each<[string, number, string, string, string | Buffer, Record<string, string>?]>([
  ['cut JSON', 400, 'malformed', JSON_TYPE, '{"a":'],
  ['JSON in another encoding', 400, 'malformed', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
  ['an empty JSON body', 400, 'malformed', JSON_TYPE, ''],
  ['MessagePack with bytes behind it', 400, 'malformed', MSGPACK, Buffer.from([1, 2])],
  ['MessagePack that ends early', 400, 'malformed', MSGPACK, Buffer.from([0x92, 1])],
  ['a MessagePack string that is not UTF-8', 400, 'malformed', MSGPACK, Buffer.from([0xa1, 0xff])],
  ['a foreign MessagePack extension', 400, 'malformed', MSGPACK, Buffer.from([0xd4, 0x72, 0x40])],
  ['MessagePack nested without end', 400, 'malformed', MSGPACK, Buffer.alloc(100_000, 0x91)],
  ['plain text', 415, 'unsupported_media_type', 'text/plain', 'a=b'],
  ['JSON in Latin-1', 415, 'unsupported_media_type', 'application/json; charset=latin1', '1'],
  ['what is not gzip', 400, 'malformed', BYTES, 'x', GZIP],
  ['another encoding', 415, 'unsupported_media_type', BYTES, 'x', { 'Content-Encoding': 'br' }],
  ['a body over 512 KiB', 413, 'too_large', BYTES, Buffer.alloc(512 * 1024 + 1)],
  ['a record over 512 KiB', 413, 'too_large', BYTES, Buffer.alloc(512 * 1024)],
])('%s is refused: %i %s', async (...refused) => {
  const [, status, code, contentType, body, headers = {}] = refused;
  const record = await freshRecord();
  await expectProblem(await put(record, contentType, body, headers), status, code);
  await expectProblem(await admin(record), 404, 'record_not_found');
});
