// Pages and streams; and records put by lines: what a line may hold, and what ends a stream.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { lineOf } from '../../../infra/cli/data/record-line.ts';
import { encode, type EncodedValue } from '../../../shared/store/index.ts';
import { newStore } from '../../support/opened.ts';
import { type Client, expectProblem, filled, JSON_TYPE, MSGPACK, type Page } from '../suite/http-client.ts';
import { served } from './served.ts';

const client = served();
const { admin, as, keys, put, post, freshTable, json } = client;

const valuesOf = ({ records }: Page) => records.map(({ value }) => value);

test('a scan of a table of order key is bounded by prefix and range, goes backwards, and is counted', async () => {
  const table = await filled(client, 'key', 25);
  const values = async (query: string) => valuesOf(await json(`${table}/records?${query}`));
  expect(await values('prefix=k002')).toEqual([20, 21, 22, 23, 24]);
  expect(await values('from=k0003&to=k0006')).toEqual([3, 4, 5]);
  const query = 'after=k0003&through=k0006';
  expect(await values(`reverse=true&${query}`)).toEqual([6, 5, 4]);
  expect(await json(`${table}/count?${query}`)).toEqual({ count: 3 });
  expect(await json(`${table}/count`)).toEqual({ count: 25 });
});

test('a page links to the next one with all that was asked for', async () => {
  const table = await filled(client, 'key', 25);
  const seen: number[] = [];
  let path: string | undefined = `${table}/records?prefix=k00&limit=10`;
  while (path !== undefined) {
    const response: Response = await admin(path);
    seen.push(...valuesOf((await response.json()) as Page));
    const link: string | null = response.headers.get('Link');
    path = link === null ? undefined : /^<(\/v1\/[^>]+)>; rel="next"$/.exec(link)![1]!;
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => i));
});

test('a cursor takes the bounds of its scan, and no others', async () => {
  const table = await filled(client, 'key', 25);
  const page = await json<Page>(`${table}/records?prefix=k&limit=10`);
  const cursor = `cursor=${encodeURIComponent(page.cursor!)}`;
  expect((await admin(`${table}/records?prefix=k&${cursor}`)).status).toBe(200);
  for (const others of ['prefix=k0', 'prefix=l', 'from=k', 'to=l0', 'from=k0020&to=l']) {
    await expectProblem(await admin(`${table}/records?${others}&${cursor}`), 400, 'invalid');
  }
});

test('a page gives values as they were sent, and as their bytes where JSON cannot carry them', async () => {
  const table = await freshTable('key');
  const long = '{ "n": [12345678901234567890, 1e400, 1.0], "s": "\\ud800" }';
  await put(`${table}/records/a`, JSON_TYPE, long);
  await put(`${table}/records/b`, MSGPACK, Buffer.from('cb3ff0000000000000', 'hex'));
  await put(`${table}/records/c`, MSGPACK, Buffer.from('81c4016b01', 'hex'));
  const text = await (await admin(`${table}/records`)).text();
  expect(text).toContain(`"contentType":"application/json","value":${long}}`);
  expect(text).toContain('"contentType":"application/vnd.msgpack","value":1.0}');
  const { records } = JSON.parse(text) as { records: Record<string, unknown>[] };
  expect(records[2]).toMatchObject({ key: 'c', contentType: MSGPACK, data: 'gcQBawE=' });
});

const wrong = 'limit=0 limit=1001 limit=x lmit=1 limit=1&limit=2 prefix=a reverse=1 cursor=nonsense';
test.each(wrong.split(' '))('the query %s on a table of order hash is invalid', async (query) => {
  await expectProblem(await admin(`${await client.sharedTable()}/records?${query}`), 400, 'invalid');
});

test('a prefix, or any bounds, delete the records within them', async () => {
  const table = await filled(client, 'key', 25);
  const cleared = await admin(`${table}/records?prefix=k002`, { method: 'DELETE' });
  expect([cleared.status, await cleared.json()]).toEqual([200, { deleted: 5 }]);
  expect(await (await admin(`${table}/records?from=k0003&to=k0006`, { method: 'DELETE' })).json()).toEqual({
    deleted: 3,
  });
  expect(await json(`${table}/count`)).toEqual({ count: 17 });
  expect(await (await admin(`${table}/records?prefix=none`, { method: 'DELETE' })).json()).toEqual({ deleted: 0 });
});

test('all records of a table are deleted only by its name', async () => {
  const table = await filled(client, 'hash', 25);
  const { detail } = await expectProblem(await admin(`${table}/records`, { method: 'DELETE' }), 400, 'invalid');
  expect(detail).toContain('add ?confirm=');
  await expectProblem(await admin(`${table}/records?confirm=other`, { method: 'DELETE' }), 400, 'invalid');
  await expectProblem(await admin(`${table}/records?prefix=k`, { method: 'DELETE' }), 400, 'invalid');
  expect(await json(`${table}/count`)).toEqual({ count: 25 });
  const confirmed = await admin(`${table}/records?confirm=${table.split('/').at(-1)}`, { method: 'DELETE' });
  expect(await confirmed.json()).toEqual({ deleted: 25 });
  expect(await json(`${table}/count`)).toEqual({ count: 0 });
});

const NDJSON = 'application/x-ndjson';
/** Records that are written together. */
const SLICE = 5_000;

type Line = Record<string, unknown>;

async function outcomesOf(response: Response): Promise<Line[]> {
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, NDJSON]);
  return (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function posted(table: string, lines: readonly unknown[]): Promise<Line[]> {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  return outcomesOf(await post(`${table}/records`, NDJSON, texts.join('\n')));
}

const EXPIRES_AT_MS = Date.now() + 86_400_000;

/** Records whose bytes a line has to carry. */
const RECORDS: readonly { readonly value: EncodedValue; readonly expiresAtMs?: number }[] = [
  ...[null, true, 0, -0, 1.5, -1, 255, 2 ** 31, 2 ** 53, 1e300, 'é😀', '', [], {}, { 2: 'a', 1: [{ b: null }] }].map(
    (value) => ({ value: encode('msgpack', value) }),
  ),
  { value: encode('msgpack', 2n ** 60n) },
  { value: encode('msgpack', new Date(0)) },
  { value: encode('msgpack', new Map([['a', 1]])) },
  { value: encode('json', { a: [1, 2.5, 'x'], b: {} }) },
  { value: { codec: 'json', bytes: Buffer.from('{ "b": 1.0 }') } },
  { value: { codec: 'bytes', bytes: Buffer.from([0, 10, 13, 255]) } },
  { value: { codec: 'bytes', bytes: new Uint8Array() } },
  { value: encode('msgpack', 'expires'), expiresAtMs: EXPIRES_AT_MS },
];

test('lines as an export writes them give the same records, byte for byte', async () => {
  const [exported, imported] = [newStore(), newStore()];
  const from = await exported.table('t', { codec: 'encoded', order: 'key' });
  const to = await imported.table('t', { codec: 'encoded', order: 'key' });
  const written = await from.putMany(RECORDS.map((record, index) => ({ ...record, key: `k${100 + index}` })));
  expect(written.every(({ status }) => status === 'written')).toBe(true);
  const lines = await Array.fromAsync(from.scan(), lineOf);
  const outcomes = await outcomesOf(await served(imported).post('/v1/tables/t/records', NDJSON, lines.join('\n')));
  expect(outcomes.map(({ status }) => status)).toEqual([...lines.map(() => 'written'), undefined]);
  expect(outcomes.at(-1)).toEqual({ end: true });
  const recordsOf = (table: typeof from) =>
    Array.fromAsync(table.scan(), ({ key, value: { codec, bytes }, expiresAtMs }) => {
      return { key, codec, bytes: Buffer.from(bytes).toString('hex'), expiresAtMs };
    });
  expect(await recordsOf(to)).toEqual(await recordsOf(from));
});

test('each line has its outcome, with the version that reads give', async () => {
  const table = await freshTable();
  const [first, second, end] = await posted(table, [
    { key: 'a', codec: 'json', value: { b: 1 } },
    { key: '', value: 1 },
  ]);
  expect(first).toEqual({ status: 'written', key: 'a', version: expect.any(String) as string });
  expect(second).toMatchObject({ status: 'failed', key: '', problem: { code: 'invalid', retryable: false } });
  expect(end).toEqual({ end: true });
  const read = await admin(`${table}/records/a`);
  expect([read.headers.get('ETag'), await read.json()]).toEqual([`"${String(first!['version'])}"`, { b: 1 }]);
});

test('empty lines, a last line without an end, and no line at all are taken', async () => {
  const table = await freshTable();
  const lines = '\n{"key":"a","value":1}\r\n\n{"key":"b","value":1}';
  const outcomes = await outcomesOf(await post(`${table}/records`, `${NDJSON}; charset=utf-8`, lines));
  expect(outcomes.map(({ key }) => key)).toEqual(['a', 'b', undefined]);
  expect(await posted(table, [])).toEqual([{ end: true }]);
});

test.each<[string, string, string]>([
  ['malformed', 'not JSON at byte', '{"key":"b"'],
  ['invalid', 'it takes one of value and data', '{"key":"b"}'],
  ['invalid', 'unknown member "ttl"; known: key, codec, value, data, expiresAtMs', '{"key":"b","value":1,"ttl":5}'],
  ['invalid', 'bytes are given as data', '{"key":"b","codec":"bytes","value":1}'],
  [
    'not_acceptable',
    'the value holds the number 0.1234567890123456789, which would become',
    '{"key":"b","value":0.1234567890123456789}',
  ],
  ['not_acceptable', 'a name that stands twice', '{"key":"b","value":{"a":1,"a":2}}'],
  ['invalid', 'a lone surrogate', String.raw`{"key":"b","value":"\ud800"}`],
  ['malformed', 'data is not base64', '{"key":"b","data":"@"}'],
])('behind the outcomes of others a line that is %s (%s) ends the stream', async (code, told, line) => {
  const table = await freshTable();
  const outcomes = await posted(table, [{ key: 'a', value: 1 }, line, { key: 'c', value: 1 }]);
  expect(outcomes).toHaveLength(2);
  expect(outcomes[0]).toMatchObject({ status: 'written', key: 'a' });
  const { detail, code: found } = outcomes[1]!['error'] as { detail: string; code: string };
  expect([found, detail.slice(0, 8), detail]).toEqual([code, 'line 2: ', expect.stringContaining(told)]);
  expect(await json(`${table}/count`)).toEqual({ count: 1 });
});

test('no more of a line is read than a record can take', async () => {
  const long = `{"key":"b","value":"${'x'.repeat(4 * 1024 * 1024)}"}`;
  const outcomes = await posted(await freshTable(), [{ key: 'a', value: 1 }, long]);
  expect(outcomes).toMatchObject([{ status: 'written', key: 'a' }, { error: { code: 'too_large' } }]);
});

test('of a stream that begins with no record nothing is done, and the status says so', async () => {
  const table = await freshTable();
  await expectProblem(await post(`${table}/records`, NDJSON, 'x'), 400, 'malformed');
  await expectProblem(await post(`${table}/records`, JSON_TYPE, '{}'), 415, 'unsupported_media_type');
  await expectProblem(await post('/v1/tables/none/records', NDJSON, '{"key":"a","value":1}'), 404, 'table_not_found');
  const reading = { method: 'POST', headers: { 'Content-Type': NDJSON }, body: '' };
  await expectProblem(await as(keys.read)(`${table}/records`, reading), 403, 'forbidden');
});

test('a body in gzip is inflated as it comes', async () => {
  const table = await freshTable();
  const lines = Array.from({ length: 2_000 }, (_, n) => `{"key":"k${n}","value":${n}}\n`).join('');
  const response = await post(`${table}/records`, NDJSON, gzipSync(lines), { 'Content-Encoding': 'gzip' });
  expect(await outcomesOf(response)).toHaveLength(2_001);
  expect(await json(`${table}/count`)).toEqual({ count: 2_000 });
  const broken = await post(`${table}/records`, NDJSON, 'no gzip', { 'Content-Encoding': 'gzip' });
  await expectProblem(broken, 400, 'malformed');
});

/** A request whose lines are made as they are asked for. */
function streamedTo({ app, keys }: Client & ReturnType<typeof served>, table: string, count: number) {
  const told = { lines: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (told.lines === count) return controller.close();
        controller.enqueue(Buffer.from(`{"key":"k${told.lines}","value":1}\n`));
        told.lines += 1;
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { Authorization: `Bearer ${keys.admin}`, 'Content-Type': NDJSON };
  const request = new Request(`http://localhost${table}/records`, { method: 'POST', headers, body, duplex: 'half' });
  return { told, response: app.fetch(request) };
}

test('of many lines no more than two slices are held, and outcomes come while lines do', async () => {
  const count = 6 * SLICE;
  const { told, response } = streamedTo(client, await freshTable(), count);
  let received = 0;
  let heldMost = 0;
  for await (const chunk of (await response).body!.pipeThrough(new TextDecoderStream())) {
    received += chunk.split('\n').length - 1;
    heldMost = Math.max(heldMost, told.lines - received);
  }
  expect(received).toBe(count + 1);
  expect(heldMost).toBeLessThanOrEqual(2 * SLICE);
});

test('whoever hangs up has no more lines read, and the log tells of it', async () => {
  const logged: string[] = [];
  const own = served(undefined, {}, ({ message }) => void logged.push(message));
  const table = await own.freshTable();
  const { told, response } = streamedTo(own, table, 20 * SLICE);
  const reader = (await response).body!.getReader();
  await reader.read();
  await reader.cancel();
  expect(told.lines).toBeLessThan(4 * SLICE);
  expect(logged.at(-1)).toBe('POST /v1/tables/:table/records 200');
});
