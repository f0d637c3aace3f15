// The recipes of shared/README.md run as they stand, and give the values behind `// =>`.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import * as express from 'express';
import * as hono from 'hono';
import * as unstorage from 'unstorage';
import { expect, onTestFinished, test } from 'vitest';
import * as zod from 'zod';
import * as adapter from '../../shared/adapters/unstorage.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import * as stowage from '../../shared/store/index.ts';

const README = readFileSync(new URL('../../shared/README.md', import.meta.url), 'utf8');
const [section] = /\n## Recipes\n[^]*?\n## /.exec(README)!;
const recipes = new Map(
  [...section.matchAll(/^(\w+)(?: [^\n]*|,[^\n]*)?:\n\n```ts\n([^]*?)```/gm)].map(([, word, code]) => [word!, code!]),
);
const MODULES = { express, hono, '@stowage/store': stowage, '@stowage/store/unstorage': adapter, zod };

interface Cooked {
  readonly store: stowage.Store;
  readonly app: unknown;
  readonly shown: unknown[];
}

/** Runs a recipe on an empty store. `app`: its variable of this name. */
async function cook(name: string): Promise<Cooked> {
  const store = stowage.openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  const storage = unstorage.createStorage();
  const useStorage = (base = '') => (base === '' ? storage : unstorage.prefixStorage(storage, base));
  const shown: unknown[] = [];
  const console = { log: (...values: unknown[]) => shown.push(values) };
  const given = { store, useStorage, console, expect, modules: MODULES };
  // oxlint-disable-next-line no-implied-eval -- the code stands in this repository
  const run = new Function(...Object.keys(given), `return (${runnable(recipes.get(name)!)})()`) as (
    ...values: unknown[]
  ) => Promise<unknown>;
  return { store, app: await run(...Object.values(given)), shown };
}

function runnable(code: string): string {
  const bound = code
    .replaceAll(/^import (\w+) from ('.*');$/gm, 'const { default: $1 } = modules[$2];')
    .replaceAll(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = modules[$2];');
  const whole = `async () => {${bound}\nreturn typeof app === 'undefined' ? undefined : app;}`;
  return stripTypeScriptTypes(whole).replaceAll(/^(.*); \/\/ => (.*)$/gm, 'expect($1).toEqual($2);');
}

test.each(['Sessions', 'Counters', 'An', 'Streams', 'Nitro'])(
  'the recipe %s gives the values it names',
  async (name) => {
    expect(recipes.get(name)).toContain('// => ');
    await cook(name);
  },
);

test('the catalogue shows its first page', async () => {
  expect((await cook('A')).shown).toEqual([['book/1', 9.5]]);
});

test('the handler of hono answers, and turns away what the schema refuses', async () => {
  const { app, store } = await cook('hono');
  const put = (value: unknown) =>
    (app as hono.Hono).request('/users/1', { method: 'PUT', body: JSON.stringify(value) });
  const answer = await put({ name: 'Ada' });
  expect(answer.status).toBe(204);
  const stored = await (await store.table('users')).get('1');
  expect(stored?.value).toEqual({ name: 'Ada' });
  expect(answer.headers.get('ETag')).toBe(`"${stored?.version}"`);
  const refused = await put({ name: 5 });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('value.name');
});

test('the handler of Express answers', async () => {
  const { app, store } = await cook('Express');
  const server = createServer(app as express.Express).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/notes/1`;
  expect((await fetch(url)).status).toBe(404);
  const { version } = await (await store.table('notes')).put('1', 'Buy milk');
  const found = await fetch(url);
  expect(found.headers.get('ETag')).toBe(`"${version}"`);
  expect(await found.text()).toBe('Buy milk');
});
