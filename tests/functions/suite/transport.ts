// A little of each kind of request, by which hosts differ: methods, bodies, heads, streams.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BYTES, bytesOf, type Client, expectProblem, JSON_TYPE, MSGPACK, packr } from './client.ts';
import { recordAt } from './conditions.ts';
import { filled, linesOf, type Page } from './scans.ts';

export function describeTransport(client: Client): void {
  const { name, admin, send, put, post, freshTable, freshRecord, batch, json } = client;
  describe(`${name}: transport`, () => {
    test('an unknown route is a problem that names the routes there are', async () => {
      const { detail } = await expectProblem(await admin('/v2/tables'), 404, 'route_not_found');
      expect(detail).toContain('/v1/tables/{table}/batch');
      expect(detail).not.toContain('%2F');
      await expectProblem(await admin('/v1/tables/'), 404, 'route_not_found');
    });

    test('another method on a known path is a problem with Allow', async () => {
      const response = await admin('/v1/tables/t/records/k', { method: 'POST' });
      expect(response.headers.get('Allow')).toBe('GET, HEAD, PUT, PATCH, DELETE');
      await expectProblem(response, 405, 'method_not_allowed');
      const posted = await admin('/v1/health', { method: 'POST', body: '{', headers: { 'Content-Type': JSON_TYPE } });
      await expectProblem(posted, 405, 'method_not_allowed');
    });

    test('health needs no key and says nothing about the data', async () => {
      const response = await send('/v1/health');
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'ok' });
    });

    test.each([
      [JSON_TYPE, Buffer.from('{ "b" : 1.0,\n "a": "é😀\\u0041", "__proto__": [1e3] }')],
      [JSON_TYPE, Buffer.from('"a lone string"')],
      [JSON_TYPE, Buffer.from('null')],
      [MSGPACK, packr.pack({ name: 'é😀', bytes: Buffer.from([0, 255]), big: 2n ** 60n, at: new Date(0) })],
      [BYTES, Buffer.from([0, 1, 2, 13, 10, 255, 254])],
      [BYTES, Buffer.alloc(0)],
      [BYTES, Buffer.alloc(500_000, 'stowage ')],
    ])('%s comes back byte for byte', async (contentType, body) => {
      const record = await freshRecord();
      const written = await put(record, contentType, body);
      expect(written.status).toBe(204);
      const read = await admin(record);
      expect(read.status).toBe(200);
      expect(read.headers.get('Content-Type')).toBe(contentType);
      expect(read.headers.get('ETag')).toBe(written.headers.get('ETag'));
      expect(await bytesOf(read)).toEqual(body);
    });

    test('HEAD answers like GET, without a body', async () => {
      const record = await freshRecord();
      const written = await put(record, JSON_TYPE, '[1,2]');
      const head = await admin(record, { method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(head.headers.get('ETag')).toBe(written.headers.get('ETag'));
      expect(head.headers.get('Content-Length')).toBe('5');
      expect(await head.text()).toBe('');
    });

    test('a gzip body is inflated before it is stored', async () => {
      const record = await freshRecord();
      expect((await put(record, JSON_TYPE, gzipSync('{"a":1}'), { 'Content-Encoding': 'gzip' })).status).toBe(204);
      expect(await (await admin(record)).text()).toBe('{"a":1}');
    });

    test.each([
      ['its tag', (etag: string) => etag, 304],
      ['its tag, made weak', (etag: string) => `W/${etag}`, 304],
      ['a list with its tag', (etag: string) => `"x" ,${etag}`, 304],
      ['*', () => '*', 304],
      ['another tag', () => '"x"', 200],
    ])('If-None-Match on a read with %s', async (_what, header, status) => {
      const { record, etag } = await recordAt(client);
      const read = await admin(record, { headers: { 'If-None-Match': header(etag) } });
      expect(read.status).toBe(status);
      expect(read.headers.get('ETag')).toBe(etag);
      expect(await read.text()).toBe(status === 304 ? '' : '1');
    });

    test('gives each operation its outcome, in order', async () => {
      const table = await freshTable();
      const outcomes = await batch(table, [
        { op: 'put', key: 'a', value: { n: 1 } },
        { op: 'put', key: 'b', data: 'AQI=', contentType: BYTES },
        { op: 'put', key: 'c', data: 'bm8=', contentType: JSON_TYPE },
        { op: 'put', key: 'd', value: 1, ifVersion: 'x' },
        { op: 'get', key: 'none' },
        { op: 'delete', key: 'none' },
      ]);
      expect(outcomes.map((outcome) => outcome['status']).join(' ')).toBe(
        'written written failed failed absent absent',
      );
      expect(outcomes[2]).toMatchObject({ key: 'c', problem: { code: 'malformed', status: 400 } });
      expect(outcomes[3]).toMatchObject({ key: 'd', problem: { code: 'precondition_failed', status: 412 } });
    });

    test('speaks MessagePack, and gives stored bytes as they are', async () => {
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

    test('streams NDJSON, one record a line, and says how it ended', async () => {
      const table = await filled(client, 'key', 25);
      await put(`${table}/records/pretty`, JSON_TYPE, '{\n  "a": 1\r\n}');
      await put(`${table}/records/raw`, BYTES, Buffer.from([1, 2, 3]));
      const lines = await linesOf(client, `${table}/records`);
      expect(lines).toHaveLength(28);
      expect(lines[0]).toMatchObject({ key: 'k0000', value: 0, contentType: JSON_TYPE });
      expect(lines[25]).toMatchObject({ key: 'pretty', value: { a: 1 } });
      expect(lines[26]).toMatchObject({ key: 'raw', data: 'AQID', contentType: BYTES });
      expect(lines[27]).toEqual({ end: true });
    });

    test('a large table comes whole: in pages bounded by bytes, and in one stream of many chunks', async () => {
      const table = await freshTable();
      const value = Buffer.alloc(400_000, 'stowage ').toString('base64');
      const puts = Array.from({ length: 12 }, (_, i) => ({ op: 'put', key: `k${i}`, data: value, contentType: BYTES }));
      const outcomes = await batch(table, puts);
      expect(new Set(outcomes.map((outcome) => outcome['status']))).toEqual(new Set(['written']));
      const page = await json<Page>(`${table}/records`);
      expect(page.records.length).toBeGreaterThan(0);
      expect(page.records.length).toBeLessThan(12);
      const next = await json<Page>(`${table}/records?cursor=${encodeURIComponent(page.cursor!)}`);
      expect(page.records.length + next.records.length).toBe(12);
      expect(await linesOf(client, `${table}/records`)).toHaveLength(13);
    });
  });
}
