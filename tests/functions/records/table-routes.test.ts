// Tables; looks into what is stored of them; and whether the store can be read.
import { afterEach, expect, test, vi } from 'vitest';
import { memoryDriver, type MemoryFault, memoryState } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { damage, storedEntities } from '../../store/damage.ts';
import { partName } from '../../support/ids.ts';
import { expectProblem, JSON_TYPE } from '../suite/http-client.ts';
import { served } from './served.ts';

const { admin, drop, put, freshTable, json } = served();

test('a table shows its order, time of creation and counters, and is listed', async () => {
  const table = await freshTable('key');
  const name = table.split('/').at(-1);
  const info = await json(table);
  expect(info).toMatchObject({ name, order: 'key', createdAt: expect.any(String), stats: expect.any(Object) });
  const { tables } = await json<{ tables: { name: string }[] }>('/v1/tables');
  expect(tables.find((candidate) => candidate.name === name)).toMatchObject({ order: 'key' });
});

test('a missing table is a 404 that says how to create it, also for a write', async () => {
  const response = await put('/v1/tables/nowhere/records/k', JSON_TYPE, '1');
  expect((await expectProblem(response, 404, 'table_not_found')).detail).toBe(
    'there is no table "nowhere"; PUT /v1/tables/{table} creates it',
  );
  await expectProblem(await admin('/v1/tables/nowhere'), 404, 'table_not_found');
  await expectProblem(await drop('/v1/tables/nowhere'), 404, 'table_not_found');
});

test('containers take effect when the table is created, and a repeated PUT is warned that they may not have', async () => {
  const table = `${await freshTable()}c`;
  const created = await put(table, JSON_TYPE, '{"containers":2}');
  expect(created.status).toBe(201);
  expect(await created.json()).toEqual({ name: table.split('/').at(-1), order: 'hash' });
  const again = await put(table, JSON_TYPE, '{"containers":2}');
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({
    warnings: [expect.stringMatching(/^containers applies when .* sent before/)],
  });
});

test.each(['', '?confirm=', '?confirm=else', '?confirm=*'])('an unconfirmed drop drops nothing: %s', async (query) => {
  const table = await freshTable();
  const { detail } = await expectProblem(await admin(table + query, { method: 'DELETE' }), 400, 'invalid');
  expect(detail).toContain('?confirm=');
  expect((await admin(table)).status).toBe(200);
});

test('a body beyond the bound of its route is too large, though it would be read as options', async () => {
  const body = `{"order":"hash"}${' '.repeat(4_096)}`;
  await expectProblem(await put(`${await freshTable()}b`, JSON_TYPE, body), 413, 'too_large');
});

test('a table of groups shows what they are by, and a PUT with others is a conflict', async () => {
  const table = `${await freshTable()}g`;
  const created = await put(table, JSON_TYPE, '{"order":"key","groupBy":"/"}');
  expect(await created.json()).toMatchObject({ order: 'key', groupBy: '/' });
  expect(await json(table)).toMatchObject({ groupBy: '/' });
  await expectProblem(await put(table, JSON_TYPE, '{"order":"key","groupBy":":"}'), 409, 'conflict');
  for (const options of ['{"groupBy":"/"}', '{"order":"key","groupBy":"ab"}'])
    await expectProblem(await put(table, JSON_TYPE, options), 400, 'invalid');
});

const POST = { method: 'POST' };

async function opened() {
  const state = memoryState();
  const driver = memoryDriver({ state });
  const store = openStore({ driver });
  const table = await store.table<number>('t', { order: 'key' });
  await table.putMany([1, 2, 3].map((value) => ({ key: `k${value}`, value })));
  return { driver, ...served(store) };
}

test('verify, stats and inspect tell an admin of a table', async () => {
  const { admin, json } = await opened();
  const verified = await (await admin('/v1/tables/t/verify', POST)).json();
  expect(verified).toMatchObject({ records: 3, findings: [], findingCount: 0 });
  const counted = await json('/v1/tables/t/stats');
  expect(counted).toMatchObject({ records: 3, levels: [{ level: 0, containers: 1 }] });
  expect(counted).not.toHaveProperty('findings');
  const shown = await json('/v1/tables/t/inspect?key=k2');
  expect(shown).toMatchObject({ container: 't!t!', header: { order: 'key', state: 'live' }, pages: [{ records: 3 }] });
});

test('what is damaged is told; what is not there, or asked for wrongly, is a problem', async () => {
  const { admin, driver } = await opened();
  await expectProblem(await admin('/v1/tables/none/stats'), 404, 'table_not_found');
  await expectProblem(await admin('/v1/tables/t/inspect?container=t!other!'), 400, 'invalid');
  await expectProblem(await admin('/v1/tables/t/verify?x=1', POST), 400, 'invalid');
  const before = await storedEntities(driver, 't');
  await damage(driver, before, { id: before[0]!.id, part: partName('p0'), edit: 'flipped' });
  const verified = await (await admin('/v1/tables/t/verify', POST)).json();
  expect(verified).toMatchObject({ findingCount: 1, findings: [{ kind: 'damaged', container: 't!t!', page: 0 }] });
});

test('a table with a damaged root is listed beside the others, by its name and what is wrong', async () => {
  const { admin, driver } = await opened();
  await admin('/v1/tables/other', { method: 'PUT' });
  const before = await storedEntities(driver, 't');
  await damage(driver, before, { id: before[0]!.id, part: partName('h'), edit: 'cut' });
  const { tables } = (await (await admin('/v1/tables')).json()) as { tables: object[] };
  expect(tables).toEqual([
    { name: 'other', order: 'hash', createdAt: expect.any(String) },
    { name: 't', damage: expect.stringContaining('damaged or newer header') },
  ]);
  await expectProblem(await admin('/v1/tables/t'), 500, 'corrupt');
});

test('a table that takes longer than the deadline allows is left to the command line', async () => {
  const silent = memoryDriver({ state: memoryState(), faults: () => new Promise(() => {}) });
  const { admin } = served(openStore({ driver: silent }));
  const ended = await admin('/v1/tables/t/stats', { headers: { 'Stowage-Timeout-Ms': '20' } });
  const { detail, retryable } = await expectProblem(ended, 503, 'aborted');
  expect([detail, retryable]).toEqual([expect.stringContaining('stowage stats'), false]);
});

afterEach(() => void vi.useRealTimers());

function asked(fault: () => MemoryFault | undefined) {
  let reads = 0;
  const faults = (): MemoryFault | undefined => {
    reads += 1;
    return fault();
  };
  const store = openStore({ driver: memoryDriver({ faults }) });
  const { send } = served(store);
  return { ask: () => send('/v1/ready'), reads: () => reads };
}

test('the route reads the store once for all who ask within five seconds, without a key', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { ask, reads } = asked(() => undefined);
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await answers[0].text()).toBe('{"status":"ready"}');
  vi.advanceTimersByTime(4_999);
  expect((await ask()).status).toBe(200);
  expect(reads()).toBe(1);
  vi.advanceTimersByTime(1);
  expect((await ask()).status).toBe(200);
  expect(reads()).toBe(2);
});

test('the route answers 503 where the store denies access, and reads it again after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let fault: MemoryFault | undefined = { refuse: 'denied' };
  const { ask, reads } = asked(() => fault);
  const problem = await expectProblem(await ask(), 503, 'unavailable');
  expect(problem.detail).toBe('the store cannot be read now');
  const again = await ask();
  expect([again.status, again.headers.get('Retry-After')]).toEqual([503, '5']);
  expect(reads()).toBe(1);
  fault = undefined;
  vi.advanceTimersByTime(5_000);
  expect((await ask()).status).toBe(200);
});
