// The types of shared/client/openapi.ts are those that openapi-typescript makes of the functions'
// OpenAPI document, with one answer for all problems of an operation.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, test } from 'vitest';
import { ROOT } from '../../../infra/package/bundle.ts';
import { runTsc } from '../../../infra/package/npm-package.ts';
import { appsOn } from '../../functions/apps.ts';
import { fileFolder } from '../../support/folder.ts';

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

/** Tells by its error which operations differ. Intersections are written out as one object. */
const COMPARISON = `
import type * as made from './made.ts';
import type * as own from '${path.join(ROOT, 'shared/client/openapi.ts')}';

type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Of<Paths, P, M> = P extends keyof Paths ? (M extends keyof Paths[P] ? Plain<Paths[P][M]> : 'absent') : 'absent';
type Differing<A, B> = {
  [P in keyof A]: {
    [M in keyof A[P]]-?: Same<Of<A, P, M>, Of<B, P, M>> extends true ? never : [M, P];
  }[keyof A[P]];
}[keyof A];

declare const differing: Differing<made.paths, own.paths> | Differing<own.paths, made.paths>;
differing satisfies never;
declare const problem: Same<Plain<made.components['schemas']>, Plain<own.components['schemas']>>;
problem satisfies true;
`;

const tools = inject('tools');

test.skipIf(tools === undefined)('the client has the types of the document', async () => {
  const place = path.join(tools!, 'openapi-typescript/dist/index.mjs');
  const { default: typesOf, astToString } = (await import(pathToFileURL(place).href)) as Generator;
  const folder = await fileFolder();
  const file = path.join(folder, 'comparison.ts');
  await writeFile(path.join(folder, 'made.ts'), astToString(await typesOf(await document())));
  await writeFile(file, COMPARISON);
  const options =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --allowImportingTsExtensions --module nodenext';
  const checked = runTsc(...options.split(' '), '--target', 'es2024', '--types', '', file);
  expect(await checked.catch(({ stdout }: { stdout: string }) => stdout)).toBeUndefined();
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
