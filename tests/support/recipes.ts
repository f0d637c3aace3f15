// The recipes of shared/RECIPES.md, run as they stand.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import * as util from 'node:util';
import * as express from 'express';
import * as hono from 'hono';
import * as unstorage from 'unstorage';
import { expect, onTestFinished } from 'vitest';
import * as adapter from '../../shared/adapters/unstorage.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import * as stowage from '../../shared/store/index.ts';

const TEXT = readFileSync(new URL('../../shared/RECIPES.md', import.meta.url), 'utf8');

/** Each by its heading. */
export const RECIPES = new Map(
  [...TEXT.matchAll(/^##+ (.*)\n(?:(?!^#)[^])*?```ts\n([^]*?)```/gm)].map(([, name, code]) => [name!, code!]),
);

interface Cooked {
  readonly store: stowage.Store;
  /** What it exports by default, else its variable `app`. */
  readonly app: unknown;
  readonly shown: unknown[];
}

/** Runs a recipe on an empty store, with the values behind `// =>` checked. `more`: modules. */
export async function cook(name: string, more: Readonly<Record<string, unknown>> = {}): Promise<Cooked> {
  const store = stowage.openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  const storage = unstorage.createStorage();
  const useStorage = (base = '') => (base === '' ? storage : unstorage.prefixStorage(storage, base));
  const shown: unknown[] = [];
  const console = { log: (...values: unknown[]) => shown.push(values) };
  const own = { express, hono, 'node:util': util, '@stowage/store': stowage, '@stowage/store/unstorage': adapter };
  const given = { store, useStorage, console, expect, modules: { ...own, ...more } };
  // oxlint-disable-next-line no-implied-eval -- the code stands in this repository
  const run = new Function(...Object.keys(given), `return (${runnable(RECIPES.get(name)!)})()`) as (
    ...values: unknown[]
  ) => Promise<unknown>;
  return { store, app: await run(...Object.values(given)), shown };
}

function runnable(code: string): string {
  const bound = stripTypeScriptTypes(code)
    .replaceAll(/^import (\w+) from ('.*');$/gm, 'const { default: $1 } = modules[$2];')
    .replaceAll(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = modules[$2];')
    .replaceAll(/^(.*); \/\/ => (.*)$/gm, 'expect($1).toEqual($2);')
    .replace(/^export default /m, 'return ');
  return `async () => {${bound}\nreturn typeof app === 'undefined' ? undefined : app;}`;
}
