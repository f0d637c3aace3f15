// The document at /v1/openapi.json, where it is written wrongly.
import { expect, test } from 'vitest';
import { openApi } from '../../../functions/http/openapi.ts';

test('an operation whose path is no route is an error, not one that is open to everybody', () => {
  const operations = { 'GET /v1/tabels': { id: 'listTables', summary: '', answers: {} } };
  const route = { method: 'GET', path: '/v1/tables', role: 'read', handle: async () => new Response() } as const;
  expect(() => openApi(operations, [route], {})).toThrow('the document has GET /v1/tabels, which is no route');
});
