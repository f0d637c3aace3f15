// The function `vacuum`, in this process: who may call it, what it does and says; and a run over
// all tables: how many go side by side, how long each waits to be quiet, which are left.
import { afterAll, expect, test } from 'vitest';
import { isFromAccount } from '../../../functions/gcp/platform.ts';
import type { App } from '../../../functions/http/http-app.ts';
import { runLine, vacuumAll } from '../../../functions/vacuum/vacuum-all.ts';
import { createVacuumApp, type VacuumAppOptions } from '../../../functions/vacuum/vacuum-app.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import {
  openStore,
  type Store,
  StoreError,
  type VacuumOptions,
  type VacuumReport,
} from '../../../shared/store/index.ts';
import { expectProblem } from '../suite/http-client.ts';
import { tokenOf } from '../test-keys.ts';

const ACCOUNT = 'stowage-dev-cron@some-project.iam.gserviceaccount.com';

const store = openStore({ driver: memoryDriver() });
for (const name of ['one', 'two']) await (await store.table(name)).put('k', 1);
afterAll(() => store.close());

const ADMIN = { Authorization: 'Bearer a' };

/** The report of a run with nothing to do on two tables of a leaf each. */
const NAMES = 'listed removed left foreign merged movedBytes stripped purged busy damaged entriesDropped';
const NOTHING = { ...Object.fromEntries(NAMES.split(' ').map((name) => [name, 0])), passed: 2, unfinished: [] };

function appOf(given: Store = store, printed: string[] = [], options: Partial<VacuumAppOptions> = {}): App {
  return createVacuumApp({
    auth: { mode: 'keys', keys: { read: ['r'], write: ['w'], admin: ['a'], compare: ['c'] } },
    timeoutMs: 10_000,
    timeoutMaxMs: 10_000,
    log: () => {},
    print: (line) => void printed.push(line),
    store: async () => given,
    isScheduler: (request) => isFromAccount(request, ACCOUNT),
    ...options,
  });
}

function post(app: App, headers: Record<string, string>, query = ''): Promise<Response> {
  return app.fetch(new Request(`http://localhost/v1/vacuum${query}`, { method: 'POST', headers }));
}

test('a run looks at every table, says so, and prints one line of it', async () => {
  const printed: string[] = [];
  const response = await post(appOf(store, printed), ADMIN, '?quietMs=0');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ tables: 2, unreached: 0, ...NOTHING, failed: [] });
  expect(printed).toHaveLength(1);
  expect(JSON.parse(printed[0]!)).toEqual({
    severity: 'INFO',
    message: 'vacuum: 2 tables, 0 containers removed, 0 merged, 0 tables failed, 0 not finished, 0 not reached',
    tables: 2,
    unreached: 0,
    ...NOTHING,
    failed: [],
  });
});

test.each([
  ['another account’s token', { Authorization: `Bearer ${tokenOf({ email: 'else@example.com' })}` }],
  ['an address that nobody verified', { Authorization: `Bearer ${tokenOf({ email: ACCOUNT, verified: false })}` }],
  [
    'the scheduler’s token beside the one that the gate has checked',
    { Authorization: `Bearer ${tokenOf({ email: ACCOUNT })}`, 'X-Serverless-Authorization': 'Bearer checked' },
  ],
])('the route refuses %s', async (_name, headers) => {
  await expectProblem(await post(appOf(), headers), 401, 'unauthenticated');
});

test('the route takes the scheduler’s token as Cloud Run leaves it, without its signature', async () => {
  const response = await post(appOf(), { Authorization: `Bearer ${tokenOf({ email: ACCOUNT })}` }, '?quietMs=0');
  expect(response.status).toBe(200);
});

test('a run goes on after a table that fails, and tells which one it was', async () => {
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
  const problem = await expectProblem(await post(appOf(failing, printed), ADMIN, '?quietMs=0'), 503, 'unavailable');
  expect(problem.detail).toContain('one (unavailable)');
  expect(visited.toSorted()).toEqual(['one', 'two']);
  expect(JSON.parse(printed[0]!)).toMatchObject({ severity: 'ERROR', failed: [{ table: 'one', code: 'unavailable' }] });
});

test.each([
  ['?table=one', 'unknown query parameter "table"; known: quietMs'],
  ['?quietMs=5001', 'from 0 to 5000'],
])('the query %s is refused, and nothing is vacuumed', async (query, detail) => {
  const printed: string[] = [];
  const response = await post(appOf(store, printed), ADMIN, query);
  expect((await expectProblem(response, 400, 'invalid')).detail).toContain(detail);
  expect(printed).toEqual([]);
});

test('emptied containers become one, of the size that tables have', async () => {
  const merging = openStore({ driver: memoryDriver() });
  const sizes = { order: 'key', containerBytesMax: 16_384 } as const;
  const table = await merging.table<string>('t', sizes);
  const keys = Array.from({ length: 400 }, (_, index) => `k${1_000 + index}`);
  await table.putMany(keys.map((key) => ({ key, value: key.repeat(100) })));
  await table.deleteMany(keys.filter((_, index) => index % 4 > 0));
  const app = appOf(merging, [], { containerBytesMax: sizes.containerBytesMax });
  const response = await post(app, ADMIN, '?quietMs=0');
  expect(await response.json()).toMatchObject({ tables: 1, merged: expect.toSatisfy((merged) => merged > 0) });
  const larger = appOf(merging, [], { containerBytesMax: 32_768 });
  const refused = await expectProblem(await post(larger, ADMIN, '?quietMs=0'), 503, 'unavailable');
  expect(refused.detail).toContain('t (invalid)');
  await merging.close();
});

const COUNTS = 'removed listed left foreign passed merged movedBytes stripped purged busy damaged entriesDropped';
/** Each count differs from the others, so that a sum shows which one it is of. */
const REPORT = Object.fromEntries(COUNTS.split(' ').map((name, at) => [name, at + 1])) as unknown as VacuumReport;

/** A store of so many tables, whose vacuum is this. */
function storeOf(count: number, vacuum: (name: string, options: VacuumOptions) => Promise<VacuumReport>): Store {
  const names = Array.from({ length: count }, (_, index) => `t${index}`);
  return { tables: async () => names.map((name) => ({ name, order: 'hash', createdAtMs: 0 })), vacuum } as Store;
}

function optionsOf(timeoutMs: number) {
  return { timeoutMs, signal: new AbortController().signal };
}

test('a run vacuums each table once, eight at a time, and adds up their reports', async () => {
  const seen: string[] = [];
  let atOnce = 0;
  let most = 0;
  const store = storeOf(20, async (name) => {
    seen.push(name);
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    return REPORT;
  });
  const run = await vacuumAll(store, optionsOf(60_000));
  expect(seen.toSorted()).toEqual(Array.from({ length: 20 }, (_, index) => `t${index}`).toSorted());
  expect(most).toBe(8);
  const totals = Object.fromEntries(Object.entries(REPORT).map(([name, count]) => [name, 20 * count]));
  expect(run).toEqual({ tables: 20, unreached: 0, unfinished: [], failed: [], ...totals });
});

test.each([
  ['a run waits as long as the call says', { ...optionsOf(60_000), quietMs: 7 }, 7],
  ['a long run waits two minutes', optionsOf(1_790_000), 120_000],
  ['a short run waits a quarter of its time', optionsOf(8_000), 2_000],
])('%s', async (_, options, quietMs) => {
  let given: number | undefined;
  await vacuumAll(
    storeOf(1, async (_name, how) => {
      given = how.quietMs;
      return REPORT;
    }),
    options,
  );
  expect(given).toBe(quietMs);
});

test('a run begins no table without twice the quiet time left, and says so', async () => {
  const run = await vacuumAll(storeOf(3, expect.unreachable), { ...optionsOf(1_000), quietMs: 600 });
  expect(run).toMatchObject({ tables: 3, unreached: 3, removed: 0, failed: [] });
  expect(JSON.parse(runLine(run))).toMatchObject({
    severity: 'WARNING',
    message: expect.stringContaining('3 not reached'),
  });
});

test('runs do not always begin at the same table', async () => {
  const first = new Set<string>();
  for (let run = 0; run < 200; run += 1) {
    const seen: string[] = [];
    const store = storeOf(3, async (name) => {
      seen.push(name);
      return REPORT;
    });
    await vacuumAll(store, optionsOf(60_000));
    first.add(seen[0]!);
  }
  expect(first.size).toBe(3);
});

test('a run begins no table after its end', async () => {
  const ended = new AbortController();
  const store = storeOf(20, async () => {
    ended.abort();
    return REPORT;
  });
  const run = await vacuumAll(store, { ...optionsOf(60_000), signal: ended.signal });
  expect(run).toMatchObject({ tables: 20, removed: 1, unreached: 19 });
});
