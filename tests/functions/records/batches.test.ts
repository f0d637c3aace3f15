// Batches; their answers; and why a body that does not fit its schema is refused.
import { expect, test } from 'vitest';
import { Memory } from '../../../functions/http/body-memory.ts';
import type { Operation } from '../../../functions/records/batch-body.ts';
import { type AnswerWay, batchAnswer, type Outcome } from '../../../functions/records/batch.ts';
import { BYTES, bytesOf, expectProblem, JSON_TYPE, MSGPACK, packr } from '../suite/http-client.ts';
import { served } from './served.ts';

const { admin, put, post, freshTable, sharedTable, batch } = served();

test('a batch gives each operation its outcome, in order', async () => {
  const table = await freshTable();
  const outcomes = await batch(table, [
    { op: 'put', key: 'a', value: { n: 1 } },
    { op: 'put', key: 'b', data: 'AQI=', contentType: BYTES },
    { op: 'put', key: 'c', data: 'bm8=', contentType: JSON_TYPE },
    { op: 'put', key: 'd', value: 1, ifVersion: 'x' },
    { op: 'get', key: 'none' },
    { op: 'delete', key: 'none' },
  ]);
  expect(outcomes.map((outcome) => outcome['status']).join(' ')).toBe('written written failed failed absent absent');
  expect(outcomes[2]).toMatchObject({ key: 'c', problem: { code: 'malformed', status: 400 } });
  expect(outcomes[3]).toMatchObject({ key: 'd', problem: { code: 'precondition_failed', status: 412 } });
});

test('a batch in MessagePack is answered in it, with stored bytes as they are', async () => {
  const table = await freshTable();
  const operations = [
    { op: 'put', key: 'a', value: new Map<unknown, unknown>([[1, Buffer.from([7])]]) },
    { op: 'put', key: 'b', data: Buffer.from('{ }'), contentType: JSON_TYPE },
    { op: 'get', key: 'b' },
  ];
  const response = await post(`${table}/batch`, MSGPACK, packr.pack({ operations }));
  expect(response.headers.get('Content-Type')).toBe(MSGPACK);
  const { outcomes } = packr.unpack(await bytesOf(response)) as { outcomes: Record<string, unknown>[] };
  expect(outcomes).toMatchObject([
    { status: 'written' },
    { status: 'written' },
    { status: 'found', contentType: JSON_TYPE },
  ]);
  expect(Buffer.from(outcomes[2]!['data'] as Uint8Array).toString()).toBe('{ }');
  expect(Buffer.from(await bytesOf(await admin(`${table}/records/a`)))).toEqual(Buffer.from([0x81, 1, 0xc4, 1, 7]));
});

test('a batch keeps the order of its operations on one key', async () => {
  const table = await freshTable();
  const outcomes = await batch(table, [
    { op: 'put', key: 'a', value: 1 },
    { op: 'get', key: 'a' },
    { op: 'put', key: 'a', value: 2 },
    { op: 'delete', key: 'a' },
    { op: 'get', key: 'a' },
  ]);
  expect(outcomes.map((outcome) => outcome['status']).join(' ')).toBe('written found written deleted absent');
  expect(outcomes[1]).toMatchObject({ value: 1, contentType: JSON_TYPE });
});

test.each([
  ['an integer beyond the doubles', '12345678901234567890'],
  ['half a surrogate pair', '"\\ud800"'],
  ['white space, order and doubled names', '{ "b" :1.0,\n"1": [ ],"b":"}]\\"," }'],
])('a JSON value is stored and given as it was sent: %s', async (_what, value) => {
  const table = await freshTable();
  const body = `{ "operations" : [ {"op":"put","value": ${value} ,"key":"a"}, {"op":"get","key":"a"} ] }`;
  const response = await post(`${table}/batch`, JSON_TYPE, body);
  expect(await response.text()).toContain(`"contentType":"application/json","value":${value}}`);
  expect(await (await admin(`${table}/records/a`)).text()).toBe(value);
});

test.each([
  ['a float without a fraction', 'cb3ff0000000000000'],
  ['a map with a doubled key', '82a16101a16102'],
])('a MessagePack value is stored and given as it was sent: %s', async (_what, hex) => {
  const table = await freshTable();
  const value = Buffer.from(hex, 'hex');
  const head = Buffer.from('\x81\xaaoperations\x92\x83\xa2op\xa3put\xa5value', 'latin1');
  const batch = Buffer.concat([head, value, Buffer.from('\xa3key\xa1a\x82\xa2op\xa3get\xa3key\xa1a', 'latin1')]);
  const response = await post(`${table}/batch`, MSGPACK, batch);
  const { outcomes } = packr.unpack(await bytesOf(response)) as { outcomes: Record<string, unknown>[] };
  expect(Buffer.from(outcomes[1]!['data'] as Uint8Array).toString('hex')).toBe(hex);
  expect((await bytesOf(await admin(`${table}/records/a`))).toString('hex')).toBe(hex);
});

test.each([
  ['text that is no JSON', JSON_TYPE, '{"operations": secret', 'malformed'],
  ['a JSON member that stands twice', JSON_TYPE, '{"operations":[{"op":"get","key":"a","key":"b"}]}', 'malformed'],
  ['a member that stands twice', MSGPACK, '\x81\xaaoperations\x91\x82\xa2op\xa3get\xa2op\xa3get', 'malformed'],
  [
    'a member of an operation named in bytes',
    MSGPACK,
    '\x81\xaaoperations\x91\x82\xc4\x02op\xa3get\xa3key\xa1a',
    'malformed',
  ],
  ['bytes behind the batch', MSGPACK, '\x81\xaaoperations\x91\x82\xa2op\xa3get\xa3key\xa1a\x00', 'malformed'],
  ['a key in bytes', MSGPACK, '\x81\xaaoperations\x91\x82\xa2op\xa3get\xa3key\xc4\x01a', 'invalid'],
  ['a ttlMs beyond the safe integers', MSGPACK, putWithTtl('cfffffffffffffffff'), 'invalid'],
])('a batch with %s (%s) is refused', async (_what, contentType, body, code) => {
  const response = await post(`${await sharedTable()}/batch`, contentType, Buffer.from(body, 'latin1'));
  expect(JSON.stringify(await expectProblem(response, 400, code))).not.toContain('secret');
});

test('a put takes its ttlMs as a 64-bit integer of MessagePack', async () => {
  const table = await freshTable();
  const response = await post(`${table}/batch`, MSGPACK, Buffer.from(putWithTtl('cf000000000036ee80'), 'latin1'));
  const { outcomes } = packr.unpack(await bytesOf(response)) as { outcomes: Record<string, unknown>[] };
  expect(outcomes).toMatchObject([{ status: 'written' }]);
  expect((await admin(`${table}/records/k`)).headers.has('Stowage-Expires-At')).toBe(true);
});

test('a key with half a surrogate pair fails alone, in an answer that can be read', async () => {
  const table = await freshTable();
  const body = '{"operations":[{"op":"put","key":"\\ud800","value":1},{"op":"put","key":"a","value":1}]}';
  const answer = await bytesOf(await post(`${table}/batch`, JSON_TYPE, body, { Accept: MSGPACK }));
  const { outcomes } = packr.unpack(answer) as { outcomes: Record<string, unknown>[] };
  expect(outcomes).toMatchObject([
    { status: 'failed', key: '\ufffd', problem: { code: 'invalid' } },
    { status: 'written', key: 'a' },
  ]);
});

test('data beyond what a record takes fails alone', async () => {
  const table = await freshTable();
  const large = { op: 'put', key: 'a', data: 'AAAA'.repeat(200_000), contentType: BYTES };
  expect(await batch(table, [large, { op: 'put', key: 'b', value: 1 }])).toMatchObject([
    { status: 'failed', problem: { code: 'too_large', status: 413 } },
    { status: 'written' },
  ]);
});

/** A batch of one put of 1 under `k`, whose `ttlMs` is this MessagePack value; as Latin-1. */
function putWithTtl(hex: string): string {
  const value = Buffer.from(hex, 'hex').toString('latin1');
  return `\x81\xaaoperations\x91\x84\xa2op\xa3put\xa3key\xa1k\xa5value\x01\xa5ttlMs${value}`;
}

/** A table whose keys are grouped by what stands before their first slash. */
async function grouped(): Promise<string> {
  const table = `${await freshTable()}g`;
  expect((await put(table, JSON_TYPE, '{"order":"key","groupBy":"/"}')).status).toBe(201);
  return table;
}

const atomically = (table: string, operations: unknown[]) =>
  post(`${table}/batch`, JSON_TYPE, JSON.stringify({ operations, atomic: true }));

test('an atomic batch changes one group at once, and tells each operation its outcome', async () => {
  const table = await grouped();
  const made = await atomically(table, [
    { op: 'put', key: '7/order', value: { total: 2 }, ifAbsent: true },
    { op: 'put', key: '7/line', data: 'AQI=', contentType: BYTES, ttlMs: 3_600_000 },
    { op: 'delete', key: '7/draft' },
  ]);
  expect(made.status).toBe(200);
  const { outcomes } = (await made.json()) as { outcomes: { status: string; key: string; version?: string }[] };
  expect(outcomes.map(({ status, key }) => [status, key])).toEqual([
    ['written', '7/order'],
    ['written', '7/line'],
    ['absent', '7/draft'],
  ]);
  const ended = await atomically(table, [{ op: 'delete', key: '7/order', ifVersion: outcomes[0]!.version }]);
  expect(await ended.json()).toMatchObject({ outcomes: [{ status: 'deleted', key: '7/order' }] });
});

test('an atomic batch with a condition that fails does nothing', async () => {
  const table = await grouped();
  const refused = await atomically(table, [
    { op: 'put', key: '7/a', value: 1 },
    { op: 'put', key: '7/b', value: 1, ifVersion: 'x' },
  ]);
  expect((await expectProblem(refused, 412, 'precondition_failed')).detail).toContain('7/b');
  await expectProblem(await admin(`${table}/record?key=7%2Fa`), 404, 'record_not_found');
});

const putOf = (key: string) => ({ op: 'put', key, value: 1 });

test.each([
  [[putOf('7/a'), { op: 'get', key: '7/a' }], 'operations.1: an atomic batch only puts and deletes'],
  [[{ op: 'put', key: '7/a' }], 'operations.0: a put needs a value'],
  [[putOf('7/a'), putOf('8/a')], 'are of two'],
  [[putOf('7/a'), { op: 'delete', key: '7/a' }], 'each key once'],
])('an atomic batch %# is invalid as a whole', async (operations, told) => {
  const { detail } = await expectProblem(await atomically(await grouped(), operations), 400, 'invalid');
  expect(detail).toContain(told);
});

test('a table without groups takes no atomic batch', async () => {
  const refused = await atomically(await freshTable('key'), [{ op: 'put', key: 'a', value: 1 }]);
  expect((await expectProblem(refused, 400, 'invalid')).detail).toContain('groupBy');
});

const VALUE = { codec: 'msgpack', bytes: packr.pack('x'.repeat(100_000)) } as const;

function found(key: string): Outcome {
  return { status: 'found', key, version: 'v', expiresAtMs: undefined, value: VALUE };
}

function answerOf(outcomes: readonly Outcome[], way: Omit<AnswerWay, 'memory'> & Partial<AnswerWay>) {
  const operations = outcomes.map(({ key }): Operation => ({ op: 'get', key }));
  return batchAnswer(operations, outcomes, { memory: new Memory().share(), ...way });
}

/** Aborts when other requests get their first turn. */
function atFirstTurn(): AbortSignal {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  return controller.signal;
}

async function statusesOf(outcomes: readonly Outcome[], mediaType: string) {
  const { answer } = await answerOf(outcomes, { mediaType, signal: atFirstTurn() });
  const read = mediaType === JSON_TYPE ? JSON.parse(Buffer.from(answer).toString()) : packr.unpack(answer);
  return (read as { outcomes: { status: string; problem?: { code: string } }[] }).outcomes.map(
    ({ status, problem }) => problem?.code ?? status,
  );
}

test.each([JSON_TYPE, MSGPACK])(
  'an answer in %s lets other requests run between large records, and stops at its deadline',
  async (mediaType) => {
    const written = { status: 'written', key: 'w', version: 'v' } as const;
    const outcomes = [found('a'), found('b'), written, found('c')];
    expect(await statusesOf(outcomes, mediaType)).toEqual(['found', 'aborted', 'written', 'aborted']);
  },
);

test('a record that is asked for often is converted once', async () => {
  const one = found('a');
  const outcomes = Array.from({ length: 100 }, () => one);
  expect(new Set(await statusesOf(outcomes, JSON_TYPE))).toEqual(new Set(['found']));
});

async function refusalOf(body: unknown, send = post, path = '/v1/tables/t/batch'): Promise<string> {
  return (await expectProblem(await send(path, JSON_TYPE, JSON.stringify(body)), 400, 'invalid')).detail;
}

const GET = { op: 'get', key: 'a' };
const PUT = { op: 'put', key: 'a', value: 1 };
const KNOWN = 'op, key, value, data, contentType, ifVersion, ifAbsent, ttlMs';

test.each<[operation: unknown, detail: string]>([
  [{ op: 'copy' }, "operations.0.op: Invalid discriminator value. Expected 'put' | 'get' | 'delete'"],
  [{ op: 'get', key: 'x'.repeat(1_025) }, 'operations.0.key: Too big: expected string to have <=1024 characters'],
  [{ ...GET, ['x'.repeat(5_000)]: 1 }, `operations.0: unknown member "${'x'.repeat(40)}"; known: op, key`],
  [{ ...PUT, vlaue: 1 }, `operations.0: unknown member "vlaue"; known: ${KNOWN}`],
  [{ op: 'put', key: 'a', data: 1 }, 'operations.0.data: data is bin in MessagePack, base64 text in JSON'],
])('the operation %j is refused with its reason', async (operation, detail) => {
  expect(await refusalOf({ operations: [operation] })).toBe(detail);
});

test.each<[body: unknown, detail: string]>([
  [{ operations: [GET], dry: true }, 'body: unknown member "dry"; known: operations, atomic'],
])('the batch %# is refused with its reason', async (body, detail) => {
  expect(await refusalOf(body)).toBe(detail);
});

test.each<[body: unknown, detail: string]>([
  [{ containers: 257 }, 'containers: Too big: expected number to be <=256'],
  [{ order: 'key', containers: 2 }, 'containers: a table of order "key" begins with one: leave it out'],
])('the options %j of a table are refused with their reason', async (body, detail) => {
  expect(await refusalOf(body, put, '/v1/tables/t')).toBe(detail);
});
