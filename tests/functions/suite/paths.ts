// Keys in paths.
import { describe, expect, test } from 'vitest';
import { type Client, expectProblem, JSON_TYPE } from './client.ts';

export function describePaths({ name, admin, put, sharedTable, batch, json }: Client): void {
  describe(`${name}: keys`, () => {
    const strange = ['a b', '\t', ...'a/b a%b %zz a+b é😀 \uFEFFa a?b#c ..a it\'s a\\b " %2e'.split(' ')];

    test.each(strange)('the key %j is itself, in a path, a batch and a query', async (key) => {
      const [table, escaped] = [await sharedTable(), encodeURIComponent(key)];
      expect((await put(`${table}/records/${escaped}`, JSON_TYPE, '1')).status).toBe(204);
      expect(await batch(table, [{ op: 'get', key }])).toMatchObject([{ status: 'found', key, value: 1 }]);
      expect(await json(`${table}/record?key=${escaped}`)).toBe(1);
      expect((await admin(`${table}/record?key=${escaped}`, { method: 'DELETE' })).status).toBe(204);
      await expectProblem(await admin(`${table}/records/${escaped}`), 404, 'record_not_found');
    });

    test.each(['%', '%zz', '%a', 'a%2', '%ff', '%c0%af', '%ed%a0%80'])(
      'the path segment %s is malformed',
      async (segment) => {
        const table = await sharedTable();
        await expectProblem(await put(`${table}/records/${segment}`, JSON_TYPE, '1'), 400, 'malformed');
        await expectProblem(await admin(`${table}/records/${segment}`), 400, 'malformed');
      },
    );

    test.each(['.', '..'])('the key %j is reached through batch, and its path is no route', async (key) => {
      const table = await sharedTable();
      const operations = [
        { op: 'put', key, value: 'dots' },
        { op: 'get', key },
        { op: 'delete', key },
      ];
      const outcomes = [{ status: 'written' }, { status: 'found', key, value: 'dots' }, { status: 'deleted' }];
      expect(await batch(table, operations)).toMatchObject(outcomes);
      const path = `${table}/records/${key.replaceAll('.', '%2e')}`;
      for (const method of ['GET', 'DELETE'])
        await expectProblem(await admin(path, { method }), 404, 'route_not_found');
    });

    test.each(['.', '..', '7/order'])('the record %j takes all methods by its key in the query', async (key) => {
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

    test('an over-long key is invalid, as are none and an empty one in the query', async () => {
      const table = await sharedTable();
      for (const path of [`records/${'k'.repeat(1025)}`, `record?key=${'k'.repeat(1025)}`, 'record', 'record?key='])
        await expectProblem(await put(`${table}/${path}`, JSON_TYPE, '1'), 400, 'invalid');
    });

    test('a slash within a key is no route, and told how it is written', async () => {
      const { detail } = await expectProblem(
        await admin(`${await sharedTable()}/records/7/order`),
        404,
        'route_not_found',
      );
      expect(detail).toMatch(/^write a \/ within a key as %2F, or give the key as .*\/record\?key=.*no such route/);
    });
  });
}
