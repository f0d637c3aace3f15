// Conditional requests, ttl, staleness and deadlines.
import { describe, expect, test } from 'vitest';
import { type Client, expectProblem, JSON_TYPE, MSGPACK } from './client.ts';

export async function recordAt({ put, freshRecord }: Client): Promise<{ record: string; etag: string }> {
  const record = await freshRecord();
  return { record, etag: (await put(record, JSON_TYPE, '1')).headers.get('ETag')! };
}

export function describeConditions(client: Client): void {
  const { name, admin, put, freshRecord } = client;
  describe(`${name}: conditions`, () => {
    test('the entity tag is the strong, quoted version', async () => {
      const { record, etag } = await recordAt(client);
      expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      const [table, key] = record.split('/records/') as [string, string];
      expect(await client.batch(table, [{ op: 'get', key }])).toMatchObject([{ version: etag.slice(1, -1) }]);
    });

    test('If-None-Match: * creates once', async () => {
      const record = await freshRecord();
      const created = await put(record, JSON_TYPE, '1', { 'If-None-Match': '*' });
      expect([created.status, created.headers.get('Location')]).toEqual([201, record]);
      await expectProblem(await put(record, JSON_TYPE, '2', { 'If-None-Match': '*' }), 412, 'precondition_failed');
      expect(await (await admin(record)).text()).toBe('1');
    });

    test.each([
      ['its tag', (etag: string) => etag, true],
      ['a list with its tag', (etag: string) => `"x", ${etag}`, true],
      ['*', () => '*', true],
      ['another tag', () => '"x"', false],
      ['a list without its tag', () => '"x", "y"', false],
      ['its tag, made weak', (etag: string) => `W/${etag}`, false],
    ])('If-Match with %s', async (_what, header, passes) => {
      const { record, etag } = await recordAt(client);
      const read = await admin(record, { headers: { 'If-Match': header(etag) } });
      expect(read.status).toBe(passes ? 200 : 412);
      const written = await put(record, JSON_TYPE, '2', { 'If-Match': header(etag) });
      expect(written.status).toBe(passes ? 204 : 412);
      expect(await (await admin(record)).text()).toBe(passes ? '2' : '1');
    });

    test('If-None-Match with tags guards a write', async () => {
      const { record, etag } = await recordAt(client);
      await expectProblem(await put(record, JSON_TYPE, '2', { 'If-None-Match': etag }), 412, 'precondition_failed');
      expect((await put(record, JSON_TYPE, '2', { 'If-None-Match': '"x"' })).status).toBe(204);
    });

    test('If-Match comes before If-None-Match', async () => {
      const { record, etag } = await recordAt(client);
      const both = { 'If-Match': '"x"', 'If-None-Match': etag };
      await expectProblem(await admin(record, { headers: both }), 412, 'precondition_failed');
    });

    test('a condition that is no list of tags is malformed', async () => {
      const { record } = await recordAt(client);
      await expectProblem(await admin(record, { headers: { 'If-Match': 'x' } }), 400, 'malformed');
    });

    test('an absent record answers 404 to a read, whatever its conditions, and 412 to If-Match on a write', async () => {
      const record = await freshRecord();
      await expectProblem(await admin(record, { headers: { 'If-Match': '*' } }), 404, 'record_not_found');
      await expectProblem(await put(record, JSON_TYPE, '1', { 'If-Match': '*' }), 412, 'precondition_failed');
      await expectProblem(await put(record, JSON_TYPE, '1', { 'If-Match': '"x"' }), 412, 'precondition_failed');
      await expectProblem(await admin(record), 404, 'record_not_found');
    });

    test('each form of a record has its own tag, and a write takes any of them', async () => {
      const { record, etag } = await recordAt(client);
      const read = (headers: Record<string, string>) => admin(record, { headers });
      const converted = await read({ Accept: MSGPACK });
      const tag = converted.headers.get('ETag')!;
      expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(tag).not.toBe(etag);
      expect(converted.headers.get('Vary')).toContain('Accept');
      expect((await read({ Accept: MSGPACK, 'If-None-Match': tag })).status).toBe(304);
      expect((await read({ Accept: MSGPACK, 'If-None-Match': etag })).status).toBe(200);
      expect((await read({ 'If-None-Match': tag })).status).toBe(200);
      expect((await read({ Accept: MSGPACK, 'If-Match': tag })).status).toBe(200);
      await expectProblem(await read({ 'If-Match': tag }), 412, 'precondition_failed');
      await expectProblem(await read({ Accept: MSGPACK, 'If-Match': etag }), 412, 'precondition_failed');
      await expectProblem(await put(record, JSON_TYPE, '2', { 'If-None-Match': tag }), 412, 'precondition_failed');
      expect((await put(record, JSON_TYPE, '2', { 'If-Match': tag })).status).toBe(204);
      await expectProblem(await put(record, JSON_TYPE, '3', { 'If-Match': tag }), 412, 'precondition_failed');
      const lists = await put(record, JSON_TYPE, '3', { 'If-Match': `${tag}, ${etag}` });
      await expectProblem(lists, 412, 'precondition_failed');
    });

    test('DELETE takes the same conditions, and without them is idempotent', async () => {
      const { record, etag } = await recordAt(client);
      const remove = (headers: Record<string, string> = {}) => admin(record, { method: 'DELETE', headers });
      await expectProblem(await remove({ 'If-Match': '"x"' }), 412, 'precondition_failed');
      await expectProblem(await remove({ 'If-None-Match': '*' }), 412, 'precondition_failed');
      expect((await remove({ 'If-Match': etag })).status).toBe(204);
      expect((await remove()).status).toBe(204);
      expect((await remove({ 'If-None-Match': '*' })).status).toBe(204);
      await expectProblem(await admin(record), 404, 'record_not_found');
    });

    test('a ttl is given back as the time of expiry', async () => {
      const record = await freshRecord();
      await put(record, JSON_TYPE, '1', { 'Stowage-Ttl-Ms': '3600000' });
      const left = Date.parse((await admin(record)).headers.get('Stowage-Expires-At')!) - Date.now();
      expect(left).toBeGreaterThan(3_500_000);
      expect(left).toBeLessThanOrEqual(3_600_000);
    });

    test.each(['0', '-1', '1.5', 'x', ''])('the ttl %j is invalid', async (ttl) => {
      const record = await freshRecord();
      await expectProblem(await put(record, JSON_TYPE, '1', { 'Stowage-Ttl-Ms': ttl }), 400, 'invalid');
    });

    test('a read may be as old as max-age says, and a wrong deadline is invalid', async () => {
      const { record } = await recordAt(client);
      const read = await admin(record, { headers: { 'Cache-Control': 'max-age=60' } });
      expect([read.status, read.headers.get('Age')]).toEqual([200, expect.stringMatching(/^\d+$/)]);
      expect((await admin(record)).headers.get('Age')).toBe(null);
      await expectProblem(await admin(record, { headers: { 'Stowage-Timeout-Ms': '0' } }), 400, 'invalid');
      expect((await admin(record, { headers: { 'Stowage-Timeout-Ms': '10000' } })).status).toBe(200);
    });
  });
}
