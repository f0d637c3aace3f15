// The strict front before Azurite, through the plain SDK.
import { once } from 'node:events';
import http from 'node:http';
import { AzureNamedKeyCredential, TableClient, type TransactionAction } from '@azure/data-tables';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { entityBytes, propertySizes } from '../../../infra/emulators/azurite-front/entity-size.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../../infra/emulators/azurite.ts';
import { NO_NETWORK, slowCloud, TIMERS } from '../../../infra/emulators/emulated-network.ts';

let nowMs = 0;
const front = await startStrictAzurite({
  network: slowCloud(NO_NETWORK.profiles['azure-tables'], { ...TIMERS, monotonicMs: () => nowMs }),
});
const client = new TableClient(
  front.endpoint,
  'Front',
  new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
  { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } },
);

beforeAll(() => client.createTable());
afterEach(() => void (nowMs += 60_000));
afterAll(() => front.close());

let rows = 0;
const fresh = () => ({ partitionKey: "it's p", rowKey: `r${(rows += 1)}` });
const CHUNK_BYTES = 60_000;

const many = <Value>(prefix: string, count: number, value: Value): Record<string, Value> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`${prefix}${place}`, value]));
const binaries = (prefix: string, count: number) => many(prefix, count, new Uint8Array(CHUNK_BYTES));

function hundred(partitionKey: string): TransactionAction[] {
  return Array.from({ length: 100 }, (_, row) => ['upsert', { partitionKey, rowKey: `t${row}` }]);
}

const BAD_BATCH = '--batch_x\r\n\r\nPUT http://[bad HTTP/1.1\r\nA: b\r\n\r\n{}\r\n--batch_x--';

/** The status of a request that no SDK would send. */
async function rawStatus(path: string, method: string, body: string): Promise<number> {
  const { hostname, port } = new URL(front.endpoint);
  const request = http.request({ hostname, port, path, method, timeout: 60_000 });
  request.on('timeout', () => request.destroy(new Error('no answer within 5 s')));
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode!;
}

test('a merge that makes an entity too large is EntityTooLarge and changes nothing', async () => {
  const keys = fresh();
  await client.createEntity({ ...keys, ...binaries('a', 10) });
  const patch = { ...keys, ...binaries('b', 8) };
  await expect(client.updateEntity(patch, 'Merge')).rejects.toMatchObject({
    statusCode: 400,
    details: { odataError: { code: 'EntityTooLarge' } },
  });
  expect(await client.getEntity(keys.partitionKey, keys.rowKey)).not.toHaveProperty('b0');
});

test('a merge that replaces properties counts them once', async () => {
  const keys = fresh();
  await client.createEntity({ ...keys, ...binaries('a', 10) });
  await client.updateEntity({ ...keys, ...binaries('a', 10) }, 'Merge');
  expect(await client.getEntity(keys.partitionKey, keys.rowKey)).toHaveProperty('a9');
});

test('a merge in a transaction is checked too, and the whole transaction refused', async () => {
  const [one, two] = [fresh(), fresh()];
  await client.createEntity({ ...two, ...binaries('a', 10) });
  const actions: TransactionAction[] = [
    ['create', one],
    ['update', { ...two, ...binaries('b', 8) }, 'Merge'],
  ];
  await expect(client.submitTransaction(actions)).rejects.toMatchObject({ statusCode: 400, code: 'EntityTooLarge' });
  await expect(client.getEntity(one.partitionKey, one.rowKey)).rejects.toMatchObject({ statusCode: 404 });
});

test('an entity has at most 252 properties, what was there before included', async () => {
  const keys = fresh();
  await client.createEntity({ ...keys, ...many('a', 252, 1) });
  await expect(client.updateEntity({ ...keys, more: 1 }, 'Merge')).rejects.toMatchObject({ statusCode: 400 });
  await expect(client.createEntity({ ...fresh(), ...many('a', 253, 1) })).rejects.toMatchObject({
    details: { odataError: { code: 'TooManyProperties' } },
  });
});

test('the size follows the published formula', () => {
  const body = {
    text: 'ab',
    bytes: 'AQID',
    'bytes@odata.type': 'Edm.Binary',
    n: 1,
    big: '1',
    'big@odata.type': 'Edm.Int64',
    gone: null,
  };
  const expected = 4 + 2 * 3 + (8 + 8 + 8) + (8 + 10 + 7) + (8 + 2 + 4) + (8 + 6 + 8);
  expect(entityBytes('p', 'rr', propertySizes(body))).toBe(expected);
});

test('a partition gives 2,000 entities a second, then 503; another is not affected', async () => {
  const keys = fresh();
  for (let call = 0; call < 20; call += 1) await client.submitTransaction(hundred(keys.partitionKey));
  await expect(client.createEntity(keys)).rejects.toMatchObject({ statusCode: 503 });
  await client.createEntity({ ...keys, partitionKey: 'other' });
  nowMs += 1_000;
  await client.createEntity(keys);
});

test.each([
  ['an escape that is none', "/devstoreaccount1/t(PartitionKey='%zz',RowKey='a')", 'GET', ''],
  ['an empty path', '//', 'GET', ''],
  ['an address that is none', 'http://[bad', 'GET', ''],
  ['a transaction of an address that is none', '/devstoreaccount1/$batch', 'POST', BAD_BATCH],
])('%s gets an error of the client, and the front lives on', async (_, path, method, body) => {
  const status = await rawStatus(path, method, body);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
});

test('a body that no transaction may have is refused with 413', async () => {
  expect(await rawStatus('/devstoreaccount1/front', 'POST', 'x'.repeat(16 * 1_024 * 1_024 + 1))).toBe(413);
});
