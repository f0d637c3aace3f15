// Every method of the public interface has an example, and the examples do what they say.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { DELETE, openStore } from '../../shared/store/index.ts';

const SOURCE = readFileSync(new URL('../../shared/store/contract/api.ts', import.meta.url), 'utf8');
const DOCUMENTED = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*(?:export interface )?(\w+)/g;

/** Examples by method, also those of a method's second form. */
const examples = Map.groupBy(
  [...SOURCE.matchAll(DOCUMENTED)].flatMap(([, comment, name]) => {
    const [, code] = comment!.split('@example');
    return code === undefined ? [] : [{ name: name!, code: code.replaceAll(/^ *\* ?/gm, '') }];
  }),
  ({ name }) => name,
);
const methods = new Set([...SOURCE.matchAll(/^ {2}(\w+)(?:<.*>)?\(/gm)].map(([, name]) => name!));

test.each([...methods])('the example of %s gives the values it names', async (name) => {
  expect(examples.has(name)).toBe(true);
  const blocks = examples.get(name)!.map(({ code }) => `{${code}}`);
  const code = stripTypeScriptTypes(`async () => {${examples.get('Store')![0]!.code}${blocks.join('')}}`);
  const checked = code.replaceAll(/^(.*); \/\/ => (.*)$/gm, 'expect($1).toEqual($2);');
  const shown: unknown[] = [];
  const log = { log: (...values: unknown[]) => shown.push(values) };
  // oxlint-disable-next-line no-implied-eval -- the code stands in this repository
  const run = new Function('openStore', 'DELETE', 'memoryDriver', 'expect', 'console', `return (${checked})()`) as (
    ...given: unknown[]
  ) => unknown;
  await run(openStore, DELETE, memoryDriver, expect, log);
  expect(shown).toEqual(name === 'scan' ? [['user:1', { name: 'Ada' }]] : []);
});
