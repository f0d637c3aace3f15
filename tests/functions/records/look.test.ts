// Looks into stored tables over HTTP: for admins, bounded by the request's deadline.
import { expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { damage, storedEntities } from '../../store/damage.ts';
import { partName } from '../../support/ids.ts';
import { expectProblem } from '../suite/http-client.ts';
import { served } from './served.ts';

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
