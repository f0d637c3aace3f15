// Batches.
import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { BYTES, JSON_TYPE, MSGPACK, bytesOf, expectProblem, packr } from './client.ts';

export function describeBatches({ name, admin, freshTable, batch }: Client): void {
  describe(`${name}: batch`, () => {
    it('gives each operation its outcome, in order', async () => {
      const table = await freshTable();
      const outcomes = await batch(table, [
        { op: 'put', key: 'a', value: { n: 1 } },
        { op: 'put', key: 'b', data: 'AQI=', contentType: BYTES },
        { op: 'put', key: 'c', data: 'bm8=', contentType: JSON_TYPE },
        { op: 'put', key: 'd', value: 1, ifVersion: 'x' },
        { op: 'get', key: 'none' },
        { op: 'delete', key: 'none' },
      ]);
      expect(outcomes.map((outcome) => outcome['status'])).toEqual([
        'written',
        'written',
        'failed',
        'failed',
        'absent',
        'absent',
      ]);
      expect(outcomes[2]).toMatchObject({ key: 'c', problem: { code: 'malformed', status: 400 } });
      expect(outcomes[3]).toMatchObject({ key: 'd', problem: { code: 'precondition_failed', status: 412 } });
    });

    it('keeps the order of operations on one key', async () => {
      const table = await freshTable();
      const outcomes = await batch(table, [
        { op: 'put', key: 'a', value: 1 },
        { op: 'get', key: 'a' },
        { op: 'put', key: 'a', value: 2 },
        { op: 'delete', key: 'a' },
        { op: 'get', key: 'a' },
      ]);
      expect(outcomes.map((outcome) => outcome['status'])).toEqual([
        'written',
        'found',
        'written',
        'deleted',
        'absent',
      ]);
      expect(outcomes[1]).toMatchObject({ value: 1, contentType: JSON_TYPE });
    });

    it('speaks MessagePack, and gives stored bytes as they are', async () => {
      const table = await freshTable();
      const operations = [
        { op: 'put', key: 'a', value: new Map<unknown, unknown>([[1, Buffer.from([7])]]) },
        { op: 'put', key: 'b', data: Buffer.from('{ }'), contentType: JSON_TYPE },
        { op: 'get', key: 'b' },
      ];
      const response = await admin(`${table}/batch`, {
        method: 'POST',
        headers: { 'Content-Type': MSGPACK },
        body: packr.pack({ operations }) as Uint8Array<ArrayBuffer>,
      });
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

    it.each([
      ['no operations', {}],
      ['an unknown member', { operations: [{ op: 'get', key: 'a', x: 1 }] }],
      ['an unknown operation', { operations: [{ op: 'copy', key: 'a' }] }],
      ['a scalar', 1],
    ])('%s is invalid', async (_what, body) => {
      const table = await freshTable();
      const response = await admin(`${table}/batch`, {
        method: 'POST',
        headers: { 'Content-Type': JSON_TYPE },
        body: JSON.stringify(body),
      });
      await expectProblem(response, 400, 'invalid');
    });

    it('malformed JSON is a problem like any other', async () => {
      const table = await freshTable();
      const response = await admin(`${table}/batch`, {
        method: 'POST',
        headers: { 'Content-Type': JSON_TYPE },
        body: '{"operations": secret',
      });
      expect(JSON.stringify(await expectProblem(response, 400, 'malformed'))).not.toContain('secret');
    });
  });
}
