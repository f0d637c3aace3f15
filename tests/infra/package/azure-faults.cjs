// A file of node:test, which a test copies into a project that has the packed emulators.
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { TableClient } = require('@azure/data-tables');
const { startEmulators } = require('@stowage/emulators');

let emulators;
before(async () => {
  emulators = await startEmulators();
});
after(() => emulators.close());

/** Azure's own client, which finds the emulator by the environment and does not try again. */
async function clientOf(table) {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const client = TableClient.fromConnectionString(
    emulators.environment.AZURE_STORAGE_CONNECTION_STRING,
    table,
    options,
  );
  await client.createTable();
  return client;
}

void test('a throttled write is refused, and does nothing', async () => {
  const client = await clientOf('throttled');
  const fault = emulators.tables.inject('throttle', { count: 1, kind: 'commit' });
  const entity = { partitionKey: 'p', rowKey: 'r' };
  await assert.rejects(client.createEntity(entity), { statusCode: 503 });
  assert.equal(fault.hits, 1);
  await client.createEntity(entity);
});

void test('a write whose reply is lost is done', async () => {
  const client = await clientOf('lost');
  emulators.tables.inject('lose the reply', { count: 1, kind: 'commit' });
  await assert.rejects(client.createEntity({ partitionKey: 'p', rowKey: 'r' }));
  assert.equal((await client.getEntity('p', 'r')).rowKey, 'r');
});

void test('a slow read is answered no earlier than said', async () => {
  const client = await clientOf('slow');
  await client.createEntity({ partitionKey: 'p', rowKey: 'r' });
  const fault = emulators.tables.inject('slow', { kind: 'read', delayMs: 200 });
  const beganMs = performance.now();
  await client.getEntity('p', 'r');
  assert.ok(performance.now() - beganMs >= 190);
  fault.remove();
});

void test('a share of the requests is met, the same in each run', async () => {
  const client = await clientOf('share');
  const meets = async () => {
    const fault = emulators.tables.inject('throttle', { share: 0.5, kind: 'read' });
    const codes = [];
    for (let turn = 0; turn < 20; turn += 1)
      codes.push(await client.getEntity('p', 'r').catch((error) => error.statusCode));
    fault.remove();
    return codes;
  };
  const codes = await meets();
  assert.deepEqual(new Set(codes), new Set([404, 503]));
  assert.deepEqual(await meets(), codes);
});

void test('options that make no sense are refused', () => {
  for (const options of [{ count: 0 }, { share: 0 }, { share: 2 }, { delayMs: -1 }, { count: NaN }])
    assert.throws(() => emulators.datastore.inject('slow', options), RangeError);
});
