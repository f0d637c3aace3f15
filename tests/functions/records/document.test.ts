// The document at /v1/openapi.json: it tells of routes that are served, and who may call them.
import { expect, test } from 'vitest';
import { openApi } from '../../../functions/http/openapi.ts';
import { served } from './served.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security: readonly object[] }>>>>;
}

test('each documented operation is served, and asks for a key unless it is open', async () => {
  const { send } = served();
  const response = await send('/v1/openapi.json');
  expect(response.status).toBe(200);
  const { paths } = (await response.json()) as Document;
  const open: string[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { security }] of Object.entries(operations)) {
      const target = path.replaceAll(/[{}]/g, '');
      const { status } = await send(target, { method: method.toUpperCase() });
      if (security.length === 0) open.push(path);
      expect(`${method} ${path} ${status}`).toBe(`${method} ${path} ${security.length === 0 ? 200 : 401}`);
    }
  }
  expect(open).toEqual(['/v1/health', '/v1/ready', '/v1/openapi.json']);
});

test('an operation whose path is no route is an error, not one that is open to everybody', () => {
  const operations = { 'GET /v1/tabels': { id: 'listTables', summary: '', answers: {} } };
  const route = { method: 'GET', path: '/v1/tables', role: 'read', handle: async () => new Response() } as const;
  expect(() => openApi(operations, [route], {})).toThrow('the document has GET /v1/tabels, which is no route');
});
