// The function `vacuum`, in this process, on a store in memory: who may call it, what it does, and what it says.
import { afterAll, expect, test } from 'vitest';
import { isFromAccount } from '../../../functions/gcp/scheduler.ts';
import type { App } from '../../../functions/http/app.ts';
import { createVacuumApp } from '../../../functions/vacuum/app.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, type Store, StoreError } from '../../../shared/store/index.ts';
import { expectProblem } from '../suite/client.ts';
import { tokenOf } from './token.ts';

const ACCOUNT = 'stowage-dev-cron@some-project.iam.gserviceaccount.com';

const store = openStore({ driver: memoryDriver() });
for (const name of ['one', 'two']) await (await store.table(name)).put('k', 1);
afterAll(() => store.close());

function appOf(given: Store = store, printed: string[] = []): App {
  return createVacuumApp({
    auth: { mode: 'keys', keys: { read: ['r'], write: ['w'], admin: ['a'] } },
    timeoutMs: 10_000,
    timeoutMaxMs: 10_000,
    log: () => {},
    print: (line) => void printed.push(line),
    store: async () => given,
    isScheduler: (request) => isFromAccount(request, ACCOUNT),
  });
}

function post(app: App, headers: Record<string, string>, query = ''): Promise<Response> {
  return app.fetch(new Request(`http://localhost/v1/vacuum${query}`, { method: 'POST', headers }));
}

test('looks at every table, says so, and prints one line of it', async () => {
  const printed: string[] = [];
  const response = await post(appOf(store, printed), { Authorization: 'Bearer a' });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ tables: 2, listed: 0, removed: 0, left: 0, failed: [] });
  expect(printed).toHaveLength(1);
  expect(JSON.parse(printed[0]!)).toMatchObject({ severity: 'INFO', tables: 2, removed: 0, failed: [] });
});

test.each([
  ['no credential', {}, 401],
  ['a key that is none', { Authorization: 'Bearer nobodys' }, 401],
  ['a write key', { Authorization: 'Bearer w' }, 403],
  ['another account’s token', { Authorization: `Bearer ${tokenOf({ email: 'else@example.com' })}` }, 401],
  ['an address that nobody verified', { Authorization: `Bearer ${tokenOf({ email: ACCOUNT, verified: false })}` }, 401],
  [
    'the scheduler’s token beside the one that the gate has checked',
    { Authorization: `Bearer ${tokenOf({ email: ACCOUNT })}`, 'X-Serverless-Authorization': 'Bearer checked' },
    401,
  ],
])('refuses %s', async (_name, headers, status) => {
  await expectProblem(await post(appOf(), headers), status, status === 401 ? 'unauthenticated' : 'forbidden');
});

test('takes the scheduler’s token as Cloud Run leaves it, without its signature', async () => {
  const response = await post(appOf(), { Authorization: `Bearer ${tokenOf({ email: ACCOUNT })}` });
  expect(response.status).toBe(200);
});

test('goes on after a table that fails, and tells which one it was', async () => {
  const printed: string[] = [];
  const visited: string[] = [];
  const failing = {
    tables: (bounds) => store.tables(bounds),
    vacuum: async (name, bounds) => {
      visited.push(name);
      if (name === 'one') throw new StoreError('unavailable', 'not now', { table: name });
      return store.vacuum(name, bounds);
    },
  } as Store;
  const problem = await expectProblem(
    await post(appOf(failing, printed), { Authorization: 'Bearer a' }),
    503,
    'unavailable',
  );
  expect(problem.detail).toContain('one (unavailable)');
  expect(visited).toEqual(['one', 'two']);
  expect(JSON.parse(printed[0]!)).toMatchObject({ severity: 'ERROR', failed: [{ table: 'one', code: 'unavailable' }] });
});

test('takes no query', async () => {
  await expectProblem(await post(appOf(), { Authorization: 'Bearer a' }, '?table=one'), 400, 'invalid');
});
