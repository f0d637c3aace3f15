// shared/client/openapi.ts is made of the functions' OpenAPI document, with one answer for all
// problems of an operation. Run this file with `-u` to write it.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, inject, test } from 'vitest';
import { appsOn } from '../../functions/apps.ts';

const FILE = fileURLToPath(new URL('../../../shared/client/openapi.ts', import.meta.url));
const PROBLEM = 'application/problem+json';

interface Operation {
  responses: Record<string, { readonly content?: Readonly<Record<string, object>> }>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Generator {
  readonly default: (document: Document) => Promise<unknown>;
  readonly astToString: (ast: unknown) => string;
}

const tools = inject('tools');

test.skipIf(tools === undefined)('the client has the types of the document', async () => {
  const place = path.join(tools!, 'openapi-typescript/dist/index.mjs');
  const { default: typesOf, astToString } = (await import(pathToFileURL(place).href)) as Generator;
  const types = astToString(await typesOf(await document()));
  const head = '// Made of the OpenAPI document: tests/infra/package/client-types.test.ts writes it.\n';
  const options = { ...(await resolveConfig(FILE)), filepath: FILE };
  await expect(await format(head + types, options)).toMatchFileSnapshot(FILE);
});

async function document(): Promise<Document> {
  const answer = await appsOn({}).records.fetch(new Request('http://localhost/v1/openapi.json'));
  const document = (await answer.json()) as Document;
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const answers = Object.entries(operation.responses);
    const [problem] = answers.filter(([, { content }]) => content !== undefined && PROBLEM in content);
    const others = answers.filter(([, { content }]) => content === undefined || !(PROBLEM in content));
    operation.responses = {
      ...Object.fromEntries(others),
      default: { ...problem![1], description: 'A problem.' } as object,
    };
  }
  return document;
}
