// Pages and streams.
import { expect, test } from 'vitest';
import { expectProblem, filled, JSON_TYPE, linesOf, MSGPACK, type Page } from '../suite/http-client.ts';
import { served } from './served.ts';

const client = served();
const { admin, put, freshTable, json } = client;

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

test('a stream with a limit ends with a cursor', async () => {
  const table = await filled(client, 'hash', 5);
  const lines = await linesOf(client, `${table}/records?limit=2`);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toEqual({ end: true, cursor: expect.any(String) });
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
