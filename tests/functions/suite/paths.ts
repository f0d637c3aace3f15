// Keys in paths.
import { describe, expect, test } from 'vitest';
import { type Client, expectProblem, JSON_TYPE } from './client.ts';

export function describePaths({ name, admin, put, freshTable, batch }: Client): void {
  describe(`${name}: keys`, () => {
    const strange = [
      'a b',
      'a/b',
      'a%b',
      '%zz',
      'a+b',
      'é😀',
      '\uFEFFa',
      'a?b#c',
      '..a',
      "it's",
      'a\\b',
      '"',
      '\t',
      '%2e',
    ];

    test.each(strange)('the key %j is itself', async (key) => {
      const table = await freshTable();
      expect((await put(`${table}/records/${encodeURIComponent(key)}`, JSON_TYPE, '1')).status).toBe(204);
      expect(await batch(table, [{ op: 'get', key }])).toMatchObject([{ status: 'found', key, value: 1 }]);
      const page = (await (await admin(`${table}/records`)).json()) as { records: { key: string }[] };
      expect(page.records.map((record) => record.key)).toEqual([key]);
    });

    test.each(['%', '%zz', '%a', 'a%2', '%ff', '%c0%af', '%ed%a0%80'])(
      'the path segment %s is malformed',
      async (segment) => {
        const table = await freshTable();
        await expectProblem(await put(`${table}/records/${segment}`, JSON_TYPE, '1'), 400, 'malformed');
        await expectProblem(await admin(`${table}/records/${segment}`), 400, 'malformed');
      },
    );

    test.each(['.', '..'])('the key %j is reached through batch, and its path is no route', async (key) => {
      const table = await freshTable();
      expect(await batch(table, [{ op: 'put', key, value: 'dots' }])).toMatchObject([{ status: 'written', key }]);
      expect(await batch(table, [{ op: 'get', key }])).toMatchObject([{ status: 'found', value: 'dots' }]);
      expect(await batch(table, [{ op: 'delete', key }])).toMatchObject([{ status: 'deleted', key }]);
      await expectProblem(await admin(`${table}/records/${key.replaceAll('.', '%2e')}`), 404, 'route_not_found');
      await expectProblem(
        await admin(`${table}/records/${key.replaceAll('.', '%2e')}`, { method: 'DELETE' }),
        404,
        'route_not_found',
      );
    });

    test('an over-long key is invalid', async () => {
      const table = await freshTable();
      await expectProblem(await put(`${table}/records/${'k'.repeat(1025)}`, JSON_TYPE, '1'), 400, 'invalid');
    });
  });
}
