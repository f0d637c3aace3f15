// Keys in paths.
import { describe, expect, test } from 'vitest';
import { type Client, expectProblem, JSON_TYPE } from './client.ts';

export function describePaths({ name, admin, put, freshTable, sharedTable, freshRecord, batch, json }: Client): void {
  describe(`${name}: keys`, () => {
    const strange = ['a b', '\t', ...'a/b a%b %zz a+b é😀 \uFEFFa a?b#c ..a it\'s a\\b " %2e'.split(' ')];

    test.each(strange)('the key %j is itself', async (key) => {
      const table = await freshTable();
      expect((await put(`${table}/records/${encodeURIComponent(key)}`, JSON_TYPE, '1')).status).toBe(204);
      expect(await batch(table, [{ op: 'get', key }])).toMatchObject([{ status: 'found', key, value: 1 }]);
      expect(await json(`${table}/records`)).toMatchObject({ records: [{ key }] });
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

    test('an over-long key is invalid', async () => {
      await expectProblem(await put((await freshRecord()) + 'k'.repeat(1025), JSON_TYPE, '1'), 400, 'invalid');
    });
  });
}
