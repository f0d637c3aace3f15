// The HTTP suite on the app itself, in this process; and two instances of it beside each other.
import { expect, it } from 'vitest';
import { functionConfig } from '../../functions/config.ts';
import { createRecordsApp } from '../../functions/records.ts';
import { memoryDriver, memoryState } from '../../shared/drivers/memory.ts';
import { openStore } from '../../shared/store/index.ts';
import { KEYS, KEYS_ENV } from './keys.ts';
import type { Client } from './suite/client.ts';
import { clientOf, expectProblem, JSON_TYPE } from './suite/client.ts';
import { describeRecords } from './suite/index.ts';

const state = memoryState();

function instance(): Client {
  const store = openStore({ driver: memoryDriver({ state }) });
  const app = createRecordsApp({
    ...functionConfig(KEYS_ENV),
    timeoutMaxMs: 60_000,
    store: async () => store,
    log: () => {},
  });
  return clientOf('the app', (path, init) => app.fetch(new Request(`http://localhost${path}`, init)), KEYS);
}

describeRecords(instance());

it('a table that another instance dropped is gone, and one that it created again is empty', async () => {
  const [here, there] = [instance(), instance()];
  const table = await here.freshTable();
  const record = `${table}/records/k`;
  expect((await here.put(record, JSON_TYPE, '1')).status).toBe(204);
  expect((await there.admin(table, { method: 'DELETE' })).status).toBe(204);
  await expectProblem(await here.admin(record), 404, 'table_not_found');
  expect((await there.put(table, JSON_TYPE, '{"order":"key"}')).status).toBe(200);
  await expectProblem(await here.admin(record), 404, 'record_not_found');
  expect((await here.admin(`${table}/records?prefix=k`)).status).toBe(200);
});

it('what one instance wrote, another reads byte for byte', async () => {
  const [here, there] = [instance(), instance()];
  const record = `${await here.freshTable()}/records/k`;
  const written = await here.put(record, JSON_TYPE, '{ "a": 1 }');
  const read = await there.admin(record);
  expect(read.headers.get('ETag')).toBe(written.headers.get('ETag'));
  expect(await read.text()).toBe('{ "a": 1 }');
});
