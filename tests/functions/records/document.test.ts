// The document at /v1/openapi.json: who may call the routes that it tells of.
import { expect, test } from 'vitest';
import { openApi } from '../../../functions/http/openapi.ts';
import { served } from './served.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security: readonly object[] }>>>>;
}

test('each operation asks for a key but those that are open', async () => {
  const { send } = served();
  const { paths } = (await (await send('/v1/openapi.json')).json()) as Document;
  const open = Object.entries(paths).filter(([, operations]) =>
    Object.values(operations).some(({ security }) => security.length === 0),
  );
  expect(open.map(([path]) => path)).toEqual(['/v1/health', '/v1/ready', '/v1/openapi.json']);
});

test('an operation whose path is no route is an error, not one that is open to everybody', () => {
  const operations = { 'GET /v1/tabels': { id: 'listTables', summary: '', answers: {} } };
  const route = { method: 'GET', path: '/v1/tables', role: 'read', handle: async () => new Response() } as const;
  expect(() => openApi(operations, [route], {})).toThrow('the document has GET /v1/tabels, which is no route');
});
