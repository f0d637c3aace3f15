// Values in and out, in all media types.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { BYTES, JSON_TYPE, MSGPACK, bytesOf, expectProblem, packr } from './client.ts';

export function describeValues({ name, admin, put, freshTable }: Client): void {
  describe(`${name}: values`, () => {
    it.each([
      [JSON_TYPE, Buffer.from('{ "b" : 1.0,\n "a": "é😀\\u0041", "__proto__": [1e3] }')],
      [JSON_TYPE, Buffer.from('"a lone string"')],
      [JSON_TYPE, Buffer.from('null')],
      [
        MSGPACK,
        Buffer.from(packr.pack({ name: 'é😀', bytes: Buffer.from([0, 255]), big: 2n ** 60n, at: new Date(0) })),
      ],
      [BYTES, Buffer.from([0, 1, 2, 13, 10, 255, 254])],
      [BYTES, Buffer.alloc(0)],
    ])('%s comes back byte for byte', async (contentType, body) => {
      const record = `${await freshTable()}/records/k`;
      const written = await put(record, contentType, body);
      expect(written.status).toBe(204);
      const read = await admin(record);
      expect(read.status).toBe(200);
      expect(read.headers.get('Content-Type')).toBe(contentType);
      expect(read.headers.get('ETag')).toBe(written.headers.get('ETag'));
      expect(await bytesOf(read)).toEqual(body);
    });

    it('a large value comes back byte for byte', async () => {
      const record = `${await freshTable()}/records/k`;
      const body = Buffer.alloc(500_000, 'stowage ');
      expect((await put(record, BYTES, body)).status).toBe(204);
      expect((await bytesOf(await admin(record))).equals(body)).toBe(true);
    });

    it('HEAD answers like GET, without a body', async () => {
      const record = `${await freshTable()}/records/k`;
      const written = await put(record, JSON_TYPE, '[1,2]');
      const head = await admin(record, { method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(head.headers.get('ETag')).toBe(written.headers.get('ETag'));
      expect(head.headers.get('Content-Length')).toBe('5');
      expect(await head.text()).toBe('');
    });

    it('JSON is turned into MessagePack where only that is accepted', async () => {
      const record = `${await freshTable()}/records/k`;
      await put(record, JSON_TYPE, '{"a":[1,"x"]}');
      const read = await admin(record, { headers: { Accept: MSGPACK } });
      expect(read.headers.get('Content-Type')).toBe(MSGPACK);
      expect(packr.unpack(await bytesOf(read))).toEqual({ a: [1, 'x'] });
    });

    it('MessagePack is turned into JSON, binary as base64, integers with all their digits', async () => {
      const record = `${await freshTable()}/records/k`;
      await put(record, MSGPACK, packr.pack({ bin: Buffer.from([1, 2, 3]), big: 2n ** 60n }));
      const read = await admin(record, { headers: { Accept: `${MSGPACK};q=0.5, application/*` } });
      expect(await read.text()).toBe('{"bin":"AQID","big":1152921504606846976}');
    });

    it('bytes are given as bytes alone', async () => {
      const record = `${await freshTable()}/records/k`;
      await put(record, BYTES, Buffer.from([1]));
      await expectProblem(await admin(record, { headers: { Accept: JSON_TYPE } }), 406, 'not_acceptable');
    });

    it('a value that JSON cannot carry is refused as JSON and given as MessagePack', async () => {
      const record = `${await freshTable()}/records/k`;
      await put(record, MSGPACK, packr.pack([Number.NaN]));
      await expectProblem(await admin(record, { headers: { Accept: JSON_TYPE } }), 406, 'not_acceptable');
      expect((await admin(record)).status).toBe(200);
    });

    it.each([
      ['JSON', JSON_TYPE, Buffer.from('{"a":')],
      ['JSON in another encoding', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
      ['JSON behind a byte order mark', JSON_TYPE, Buffer.from('\uFEFF1')],
      ['an empty JSON body', JSON_TYPE, Buffer.alloc(0)],
      ['MessagePack with bytes behind it', MSGPACK, Buffer.from([1, 2])],
      ['MessagePack that ends early', MSGPACK, Buffer.from([0x92, 1])],
      ['the byte c1', MSGPACK, Buffer.from([0xc1])],
      ['a MessagePack string that is not UTF-8', MSGPACK, Buffer.from([0xa1, 0xff])],
      ['a foreign MessagePack extension', MSGPACK, Buffer.from([0xd4, 0x72, 0x40])],
      ['MessagePack nested without end', MSGPACK, Buffer.alloc(100_000, 0x91)],
    ])('malformed: %s', async (_what, contentType, body) => {
      const record = `${await freshTable()}/records/k`;
      await expectProblem(await put(record, contentType, body), 400, 'malformed');
      await expectProblem(await admin(record), 404, 'record_not_found');
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
      'the content type %s is refused',
      async (contentType) => {
        const record = `${await freshTable()}/records/k`;
        await expectProblem(await put(record, contentType, 'a=b'), 415, 'unsupported_media_type');
      },
    );

    it('a record over 512 KiB is refused', async () => {
      const record = `${await freshTable()}/records/k`;
      await expectProblem(await put(record, BYTES, Buffer.alloc(512 * 1024 + 1)), 413, 'too_large');
      await expectProblem(await put(record, BYTES, Buffer.alloc(512 * 1024)), 413, 'too_large');
    });

    it('a gzip body is inflated before it is stored', async () => {
      const record = `${await freshTable()}/records/k`;
      expect((await put(record, JSON_TYPE, gzipSync('{"a":1}'), { 'Content-Encoding': 'gzip' })).status).toBe(204);
      expect(await (await admin(record)).text()).toBe('{"a":1}');
    });

    it('a gzip bomb is refused', async () => {
      const record = `${await freshTable()}/records/k`;
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
      await expectProblem(await put(record, BYTES, bomb, { 'Content-Encoding': 'gzip' }), 413, 'too_large');
    });

    it('what is not gzip, and other encodings, are refused', async () => {
      const record = `${await freshTable()}/records/k`;
      await expectProblem(await put(record, BYTES, 'x', { 'Content-Encoding': 'gzip' }), 400, 'malformed');
      await expectProblem(await put(record, BYTES, 'x', { 'Content-Encoding': 'br' }), 415, 'unsupported_media_type');
    });
  });
}
