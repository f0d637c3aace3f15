// What may differ by host: paths, methods, headers, bodies and streams. The app plays it too; all
// other rules are tested on the app alone.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  BYTES,
  bytesOf,
  type Client,
  expectProblem,
  filled,
  JSON_TYPE,
  linesOf,
  MSGPACK,
  packr,
  type Page,
  recordAt,
} from './http-client.ts';

export function describeHost(client: Client): void {
  const { name, admin, put, freshTable, freshRecord, sharedTable, batch, json } = client;
  describe(`${name} passes on`, () => {
    const strange = ['a b', '\t', ...'a/b a%b %zz a+b é😀 \uFEFFa a?b#c ..a it\'s a\\b " %2e'.split(' ')];

    test.each(strange)('the key %j as it is, in a path, a batch and a query', async (key) => {
      const [table, escaped] = [await sharedTable(), encodeURIComponent(key)];
      expect((await put(`${table}/records/${escaped}`, JSON_TYPE, '1')).status).toBe(204);
      expect(await batch(table, [{ op: 'get', key }])).toMatchObject([{ status: 'found', key, value: 1 }]);
      expect(await json(`${table}/record?key=${escaped}`)).toBe(1);
      expect((await admin(`${table}/record?key=${escaped}`, { method: 'DELETE' })).status).toBe(204);
      await expectProblem(await admin(`${table}/records/${escaped}`), 404, 'record_not_found');
    });

    test.each(['%', '%zz', '%a', 'a%2', '%ff', '%c0%af', '%ed%a0%80'])(
      'the path segment %s, which is malformed',
      async (segment) => {
        const table = await sharedTable();
        await expectProblem(await put(`${table}/records/${segment}`, JSON_TYPE, '1'), 400, 'malformed');
        await expectProblem(await admin(`${table}/records/${segment}`), 400, 'malformed');
      },
    );

    test.each(['.', '..', '7/order'])('all methods for the record %j, by its key in the query', async (key) => {
      const record = `${await sharedTable()}/record?key=${encodeURIComponent(key)}`;
      const created = await put(record, JSON_TYPE, '{"a":1}', { 'If-None-Match': '*' });
      expect([created.status, created.headers.get('Location')]).toEqual([201, record]);
      const patch = { method: 'PATCH', headers: { 'Content-Type': 'application/merge-patch+json' }, body: '{"b":2}' };
      expect((await admin(record, patch)).status).toBe(204);
      expect(await json(record)).toEqual({ a: 1, b: 2 });
      expect((await admin(record, { method: 'HEAD' })).status).toBe(200);
      expect((await admin(record, { method: 'DELETE' })).status).toBe(204);
      await expectProblem(await admin(record), 404, 'record_not_found');
    });

    test('unknown routes, which are problems that name the routes there are', async () => {
      const { detail } = await expectProblem(await admin('/v2/tables'), 404, 'route_not_found');
      expect(detail).toContain('/v1/tables/{table}/batch');
      expect(detail).not.toContain('%2F');
      await expectProblem(await admin('/v1/tables/'), 404, 'route_not_found');
      const slashed = await expectProblem(await admin('/v1/tables/t/records/7/order'), 404, 'route_not_found');
      expect(slashed.detail).toMatch(/^write a \/ within a key as %2F, or give the key as .*\/record\?key=.*no such/);
    });

    test('other methods of a path, which are problems with Allow', async () => {
      const response = await admin('/v1/tables/t/records', { method: 'PUT' });
      expect(response.headers.get('Allow')).toBe('GET, HEAD, POST, DELETE');
      await expectProblem(response, 405, 'method_not_allowed');
      const posted = await admin('/v1/health', { method: 'POST', body: '{', headers: { 'Content-Type': JSON_TYPE } });
      await expectProblem(posted, 405, 'method_not_allowed');
    });

    test.each([
      [JSON_TYPE, Buffer.from('{ "b" : 1.0,\n "a": "é😀\\u0041", "__proto__": [1e3] }')],
      [JSON_TYPE, Buffer.from('null')],
      [MSGPACK, packr.pack({ name: 'é😀', bytes: Buffer.from([0, 255]), big: 2n ** 60n, at: new Date(0) })],
      [BYTES, Buffer.from([0, 1, 2, 13, 10, 255, 254])],
      [BYTES, Buffer.alloc(0)],
      [BYTES, Buffer.alloc(500_000, 'stowage ')],
    ])('a body of %s byte for byte, both ways, with its ETag', async (contentType, body) => {
      const record = await freshRecord();
      const written = await put(record, contentType, body);
      expect(written.status).toBe(204);
      const read = await admin(record);
      expect([read.status, read.headers.get('Content-Type')]).toEqual([200, contentType]);
      expect(read.headers.get('ETag')).toBe(written.headers.get('ETag'));
      expect(await bytesOf(read)).toEqual(body);
    });

    test('HEAD as GET without a body, and 304', async () => {
      const { record, etag } = await recordAt(client);
      const head = await admin(record, { method: 'HEAD' });
      expect([head.status, head.headers.get('ETag'), head.headers.get('Content-Length')]).toEqual([200, etag, '1']);
      expect(await head.text()).toBe('');
      const known = await admin(record, { headers: { 'If-None-Match': etag } });
      expect([known.status, known.headers.get('ETag'), await known.text()]).toEqual([304, etag, '']);
    });

    test('a body in gzip, which is inflated before it is stored', async () => {
      const record = await freshRecord();
      expect((await put(record, JSON_TYPE, gzipSync('{"a":1}'), { 'Content-Encoding': 'gzip' })).status).toBe(204);
      expect(await (await admin(record)).text()).toBe('{"a":1}');
    });

    test('a stream of NDJSON, one record a line, to its end', async () => {
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

    test('lines as they come, and their outcomes before the last line was sent', async () => {
      const table = await freshTable();
      // One slice is written while the next is read.
      const [count, last] = [10_001, 10];
      const { promise: answered, resolve } = Promise.withResolvers<void>();
      async function* lines() {
        for (let n = 0; n < count; n += 1) {
          if (n === count - last) await answered;
          yield Buffer.from(`{"key":"k${n}","value":${n}}\n`);
        }
      }
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson' },
        body: ReadableStream.from(lines()),
        duplex: 'half',
      } as const;
      const response = await admin(`${table}/records`, init);
      expect(response.status).toBe(200);
      let text = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        resolve();
      }
      const outcomes = text.trimEnd().split('\n');
      expect(outcomes).toHaveLength(count + 1);
      expect(outcomes.filter((line) => line.startsWith('{"status":"written"'))).toHaveLength(count);
      expect(outcomes.at(-1)).toBe('{"end":true}');
      expect(await json(`${table}/count`)).toEqual({ count });
    });

    test('a large table whole: in pages bounded by bytes, and in one stream of many chunks', async () => {
      const table = await freshTable();
      const data = Buffer.alloc(400_000, 'stowage ').toString('base64');
      const puts = Array.from({ length: 12 }, (_, i) => ({ op: 'put', key: `k${i}`, data, contentType: BYTES }));
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
