// Tables.
import { expect, test } from 'vitest';
import { expectProblem, JSON_TYPE } from '../suite/http-client.ts';
import { served } from './served.ts';

const { admin, drop, put, freshTable, json } = served();

test('a table shows its order, time of creation and counters, and is listed', async () => {
  const table = await freshTable('key');
  const name = table.split('/').at(-1);
  const info = await json(table);
  expect(info).toMatchObject({ name, order: 'key', createdAt: expect.any(String), stats: expect.any(Object) });
  const { tables } = await json<{ tables: { name: string }[] }>('/v1/tables');
  expect(tables.find((candidate) => candidate.name === name)).toMatchObject({ order: 'key' });
});

test('a missing table is a 404 that says how to create it, also for a write', async () => {
  const response = await put('/v1/tables/nowhere/records/k', JSON_TYPE, '1');
  expect((await expectProblem(response, 404, 'table_not_found')).detail).toBe(
    'there is no table "nowhere"; PUT /v1/tables/{table} creates it',
  );
  await expectProblem(await admin('/v1/tables/nowhere'), 404, 'table_not_found');
  await expectProblem(await drop('/v1/tables/nowhere'), 404, 'table_not_found');
});

test('a table that is created again is adopted; with another order that is a conflict', async () => {
  const table = await freshTable('key');
  const again = await admin(table, { method: 'PUT' });
  expect(again.status).toBe(200);
  expect(await again.json()).not.toHaveProperty('warnings');
  await expectProblem(await put(table, JSON_TYPE, '{"order":"hash"}'), 409, 'conflict');
});

test('containers take effect when the table is created, and a repeated PUT is warned that they may not have', async () => {
  const table = `${await freshTable()}c`;
  const created = await put(table, JSON_TYPE, '{"containers":2}');
  expect(created.status).toBe(201);
  expect(await created.json()).toEqual({ name: table.split('/').at(-1), order: 'hash' });
  const again = await put(table, JSON_TYPE, '{"containers":2}');
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({
    warnings: [expect.stringMatching(/^containers applies when .* sent before/)],
  });
});

test.each(['', '?confirm=', '?confirm=else', '?confirm=*'])('an unconfirmed drop drops nothing: %s', async (query) => {
  const table = await freshTable();
  const { detail } = await expectProblem(await admin(table + query, { method: 'DELETE' }), 400, 'invalid');
  expect(detail).toContain('?confirm=');
  expect((await admin(table)).status).toBe(200);
});

test('a body beyond the bound of its route is too large, though it would be read as options', async () => {
  const body = `{"order":"hash"}${' '.repeat(4_096)}`;
  await expectProblem(await put(`${await freshTable()}b`, JSON_TYPE, body), 413, 'too_large');
});

test('a table of groups shows what they are by, and a PUT with others is a conflict', async () => {
  const table = `${await freshTable()}g`;
  const created = await put(table, JSON_TYPE, '{"order":"key","groupBy":"/"}');
  expect(await created.json()).toMatchObject({ order: 'key', groupBy: '/' });
  expect(await json(table)).toMatchObject({ groupBy: '/' });
  await expectProblem(await put(table, JSON_TYPE, '{"order":"key","groupBy":":"}'), 409, 'conflict');
  for (const options of ['{"groupBy":"/"}', '{"order":"key","groupBy":"ab"}'])
    await expectProblem(await put(table, JSON_TYPE, options), 400, 'invalid');
});
