// The recipes of shared/RECIPES.md give the values behind `// =>`, and do what they are for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as express from 'express';
import type * as hono from 'hono';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cook, RECIPES } from '../support/recipes.ts';

/** Serves an application of Express until the test ends. Gives the URL. */
async function served(app: unknown): Promise<string> {
  const server = createServer(app as express.Express).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['Sessions', 'Counters', 'An inbox', 'An index', 'Streams', 'Nitro'])(
  'the recipe %s gives the values it names',
  async (name) => {
    expect(RECIPES.get(name)).toContain('// => ');
    await cook(name);
  },
);

test('the catalogue shows its first page', async () => {
  expect((await cook('A catalogue')).shown).toEqual([['book/1', 9.5]]);
});

/** Adds routes that the recipe's middleware stands before, and gives what asks them. */
async function idempotent(name: 'For hono' | 'For Express') {
  const { app, store } = await cook(name);
  const url = name === 'For Express' ? await served(app) : '';
  const ask = async (id: string, amount: number | string): Promise<readonly [number, string]> => {
    const headers = { 'Idempotency-Key': id, 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ amount }) };
    const answer =
      url === '' ? await (app as hono.Hono).request('/payments', init) : await fetch(`${url}/payments`, init);
    return [answer.status, await answer.text()];
  };
  return { ask, answers: await store.table<object>('answers') };
}

test.each(['For hono', 'For Express'] as const)(
  'a request repeated with its key gets the first answer (%s)',
  async (name) => {
    const { ask, answers } = await idempotent(name);
    expect(await ask('a', 5)).toEqual([201, '{"paid":"5.00"}']);
    expect(await ask('a', 7)).toEqual([201, '{"paid":"5.00"}']);
    expect(await ask('b', 7)).toEqual([201, '{"paid":"7.00"}']);
    // The stored answer lives longer than the claim.
    const { expiresAtMs } = (await answers.get('POST /payments a'))!;
    expect(expiresAtMs! - Date.now()).toBeGreaterThan(3_600_000);
  },
);

test.each(['For hono', 'For Express'] as const)(
  'a request is refused while the first with its key is under way (%s)',
  async (name) => {
    const { ask, answers } = await idempotent(name);
    await answers.put('POST /payments a', {});
    expect((await ask('a', 5))[0]).toBe(409);
  },
);

test.each(['For hono', 'For Express'] as const)('a request that failed may be made again (%s)', async (name) => {
  // hono prints what its handlers throw.
  vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => void vi.restoreAllMocks());
  const { ask } = await idempotent(name);
  expect((await ask('a', 'no number'))[0]).toBe(500);
  expect(await ask('a', 5)).toEqual([201, '{"paid":"5.00"}']);
});
