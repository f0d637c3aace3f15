// What a host may change, on the app itself; keys and raw targets; two instances beside each other,
// also of two releases, of which the former one's containers and tags are kept here.
import { expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import type { MemoryState } from '../../../shared/drivers/memory/effects.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { goldenState } from '../../store/golden/state.ts';
import { partName } from '../../support/ids.ts';
import { describeHost } from '../suite/host.ts';
import { BYTES, bytesOf, expectProblem, JSON_TYPE, MSGPACK, nested, packr } from '../suite/http-client.ts';
import { KEYS } from '../test-keys.ts';
import { served } from './served.ts';

const state = memoryState();

function instance() {
  return served(openStore({ driver: memoryDriver({ state }) }));
}

describeHost(instance());

const { put, sharedTable } = instance();

test('an over-long key is invalid, as are none and an empty one in the query', async () => {
  const table = await sharedTable();
  for (const path of [`records/${'k'.repeat(1025)}`, `record?key=${'k'.repeat(1025)}`, 'record', 'record?key='])
    await expectProblem(await put(`${table}/${path}`, JSON_TYPE, '1'), 400, 'invalid');
});

test.each([
  ['a backslash in the path', '/v1/tables/t/records/zz\\..\\k', '%5C'],
  ['a backslash instead of a slash', '/v1\\tables', '%5C'],
  ['a dot segment', '/v1/tables/t/records/zz/../k', '?key='],
  ['a dot segment at the end', '/v1/tables/t/records/..?x=1', '?key='],
  ['an escaped dot segment', '/v1/tables/t/records/%2E%2e/k', '?key='],
  ['a fragment', '/v1/tables/t/records/k#l', '%23'],
])('a raw target with %s is malformed, whatever the parsed one is', async (_what, target, advice) => {
  const { app } = instance();
  const request = new Request('http://localhost/v1/tables', { headers: { Authorization: `Bearer ${KEYS.admin}` } });
  const problem = await expectProblem(await app.fetch(request, { target }), 400, 'malformed');
  expect(problem.detail).toContain(advice);
  const within = '/v1/tables/t/records/..a/.b/...?from=a/../b\\c';
  expect((await app.fetch(request, { target: within })).status).toBe(200);
});

test('the container size of the environment is that of every table', async () => {
  const elsewhere = memoryState();
  await openStore({ driver: memoryDriver({ state: elsewhere }) }).table('met');
  const store = openStore({ driver: memoryDriver({ state: elsewhere }) });
  const { json, put } = served(store, { STOWAGE_CONTAINER_BYTES_MAX: '32768' });
  expect((await put('/v1/tables/created', JSON_TYPE, '{}')).status).toBe(201);
  for (const table of ['created', 'met'])
    expect(await json(`/v1/tables/${table}`)).toMatchObject({ stats: { containerBytesMax: 32_768 } });
});

test('a table that another instance dropped is gone, and one that it created again is empty', async () => {
  const [here, there] = [instance(), instance()];
  const table = await here.freshTable();
  const record = `${table}/records/k`;
  expect((await here.put(record, JSON_TYPE, '1')).status).toBe(204);
  expect((await there.drop(table)).status).toBe(204);
  await expectProblem(await here.admin(record), 404, 'table_not_found');
  expect((await there.put(table, JSON_TYPE, '{"order":"key"}')).status).toBe(201);
  await expectProblem(await here.admin(record), 404, 'record_not_found');
  expect((await here.admin(`${table}/records?prefix=k`)).status).toBe(200);
});

test('a page carries what nobody checked when it was stored as bytes, and goes on', async () => {
  const { admin, freshTable, json } = instance();
  const path = await freshTable('key');
  const store = openStore({ driver: memoryDriver({ state }) });
  const table = await store.table(path.split('/').at(-1)!, { codec: 'encoded' });
  const values = [nested(JSON_TYPE, 5_000), Buffer.from('{"a":'), Buffer.from('1')];
  for (const [at, bytes] of values.entries()) await table.put(`k${at}`, { codec: 'json', bytes });
  const { records } = await json<{ records: unknown[] }>(`${path}/records`);
  expect(records).toMatchObject([
    { key: 'k0', contentType: JSON_TYPE, data: values[0]!.toString('base64') },
    { key: 'k1', contentType: JSON_TYPE, data: values[1]!.toString('base64') },
    { key: 'k2', contentType: JSON_TYPE, value: 1 },
  ]);
  await expectProblem(await admin(`${path}/records/k0`, { headers: { Accept: MSGPACK } }), 406, 'not_acceptable');
});

test.each([
  ['JSON', JSON_TYPE, 3_000_000],
  ['MessagePack', MSGPACK, 500_000],
])('a batch’s answer in %s stays below 32 MB: records beyond fail', async (_form, type, bytesEach) => {
  const { put, post, freshTable } = instance();
  const table = await freshTable();
  // As JSON text each control character takes six bytes.
  await put(`${table}/records/large`, MSGPACK, packr.pack('\u0001'.repeat(500_000)));
  const operations = [...Array.from({ length: 70 }, () => 'large'), 'none'].map((key) => ({ op: 'get', key }));
  const response = await post(`${table}/batch`, JSON_TYPE, JSON.stringify({ operations }), { Accept: type });
  const answer = await bytesOf(response);
  const { outcomes } = (type === JSON_TYPE ? JSON.parse(answer.toString()) : packr.unpack(answer)) as {
    outcomes: { status: string; key: string; problem?: { code: string } }[];
  };
  expect(answer.length).toBeLessThan(32_000_000);
  expect(outcomes.map(({ key }) => key)).toEqual(operations.map(({ key }) => key));
  const found = outcomes.filter(({ status, key }) => status === 'found' && key === 'large').length;
  expect(found).toBe(Math.floor((24 * 1_024 * 1_024) / bytesEach));
  expect(outcomes.slice(found, 70).map(({ problem }) => problem?.code)).toEqual(Array(70 - found).fill('too_large'));
  expect(outcomes[70]).toEqual({ status: 'absent', key: 'none' });
});

test('streams that nobody reads leave a batch what memory they can, and small requests theirs', async () => {
  const { admin, put, post, freshTable } = instance();
  const [table, small] = [await freshTable(), await freshTable()];
  for (const key of ['a', 'b']) await put(`${table}/records/${key}`, BYTES, Buffer.alloc(500_000));
  const streaming = { headers: { Accept: 'application/x-ndjson' } };
  const streams = await Promise.all(Array.from({ length: 59 }, () => admin(`${small}/records`, streaming)));
  const operations = ['a', 'b'].map((key) => ({ op: 'get', key }));
  const body = JSON.stringify({ operations: [...operations, { op: 'put', key: 'c', value: 1 }] });
  const short = await post(`${table}/batch`, JSON_TYPE, body);
  expect([short.status, short.headers.get('Retry-After')]).toEqual([200, '1']);
  const { outcomes } = (await short.json()) as { outcomes: { status: string; problem?: object }[] };
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['failed', 'found', 'written']);
  const { problem } = outcomes.find(({ status }) => status === 'failed')!;
  expect(problem).toMatchObject({ code: 'unavailable', retryable: true });
  expect((await admin(`${small}/records`, streaming)).status).toBe(200);
  for (const path of [`${table}/batch`, `${small}/records`]) {
    const init = path.endsWith('batch') ? { method: 'POST', body, headers: { 'Content-Type': JSON_TYPE } } : streaming;
    const refused = await admin(path, init);
    expect(refused.headers.get('Retry-After')).toBe('1');
    await expectProblem(refused, 503, 'unavailable');
  }
  expect(await bytesOf(await admin(`${table}/records/a`))).toHaveLength(500_000);
  for (const { body: stream } of streams) await stream!.cancel();
  expect(await (await post(`${table}/batch`, JSON_TYPE, body)).json()).toMatchObject({
    outcomes: [{ status: 'found' }, { status: 'found' }, { status: 'written' }],
  });
});

test.each([
  ['PUT', '', '{"__proto__":{"order":"key"}}'],
  ['POST', '/batch', '{"operations":[{"__proto__":{"op":"get","key":"k"}}]}'],
  ['POST', '/batch', '{"operations":[{"op":"get","key":"k","__proto__":1}]}'],
])('members of prototypes are members like others, and unknown: %s %s %s', async (method, path, body) => {
  const { admin, freshTable } = instance();
  for (const type of [JSON_TYPE, ...(method === 'POST' ? [MSGPACK] : [])]) {
    const sent = type === JSON_TYPE ? body : packr.pack(new Map(Object.entries(JSON.parse(body) as object)));
    const headers = { 'Content-Type': type };
    const response = await admin((await freshTable()) + path, { method, headers, body: sent as string });
    await expectProblem(response, 400, 'invalid');
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('a record that a batch gets a thousand times is asked of the store once', async () => {
  const asked: string[][] = [];
  const getMany = async (keys: string[]) => {
    asked.push(keys);
    return keys.map((key) => ({ status: 'absent', key }));
  };
  const { batch } = served({ table: async () => ({ getMany }) } as unknown as Store);
  const operations = ['a', ...Array.from({ length: 998 }, () => 'b'), 'a'].map((key) => ({ op: 'get', key }));
  const outcomes = await batch('/v1/tables/t', operations);
  expect(asked).toEqual([['a', 'b']]);
  expect(outcomes).toEqual(operations.map(({ key }) => ({ status: 'absent', key })));
});

const RECORDS = '/v1/tables/golden/records';
/** The first version's answer to GET of `key-99`. */
const ETAG = '"c67edfd69d865681-7"';
/** The first version's answer to GET of the records with `limit=100`. */
const CURSOR = 'AQDGft_WnYZWgQ7HtEoidXX6w2tleS02AADBd6mM';

const instanceOn = (state: MemoryState) => served(openStore({ driver: memoryDriver({ state }) }));

const formatsOf = ({ entities }: MemoryState): Set<number> =>
  new Set(
    [...entities.values()].flatMap(({ parts }) => (parts.has(partName('h')) ? [parts.get(partName('h'))![2]!] : [])),
  );

test('an ETag that the former release gave still names its record', async () => {
  const { admin, put } = instanceOn(await goldenState('zstd'));
  expect((await admin(`${RECORDS}/key-99`)).headers.get('ETag')).toBe(ETAG);
  expect((await put(`${RECORDS}/key-99`, JSON_TYPE, '1', { 'If-Match': ETAG })).status).toBe(204);
  expect((await put(`${RECORDS}/key-99`, JSON_TYPE, '2', { 'If-Match': ETAG })).status).toBe(412);
});

test('a cursor that the former release gave goes on where it stopped', async () => {
  const { json } = instanceOn(await goldenState('zstd'));
  const page = (query: string) => json<{ records: { key: string }[] }>(`${RECORDS}?limit=1000${query}`);
  const [whole, rest] = [await page(''), await page(`&cursor=${CURSOR}`)];
  expect(rest.records.map(({ key }) => key)).toEqual(whole.records.slice(100).map(({ key }) => key));
  expect(rest.records.length).toBeGreaterThan(0);
});

test('what this release writes into the former one’s containers is in the format that one reads', async () => {
  const state = await goldenState('deflate');
  const before = formatsOf(state);
  const { batch, admin } = instanceOn(state);
  const puts = Array.from({ length: 200 }, (_, at) => ({ op: 'put', key: `new-${at}`, value: 'x'.repeat(500) }));
  await batch('/v1/tables/golden', [...puts, { op: 'delete', key: 'key-99' }]);
  expect(formatsOf(state)).toEqual(before);
  expect((await admin(`${RECORDS}/new-199`)).status).toBe(200);
});
