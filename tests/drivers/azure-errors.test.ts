// Azure's driver, by the status and code of a reply: no error becomes absence, no doubt a refusal,
// and nothing is sent twice.
import { randomBytes } from 'node:crypto';
import { AzureNamedKeyCredential, AzureSASCredential, TableClient } from '@azure/data-tables';
import { describe, expect, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { tableCalls } from '../../shared/drivers/azure-tables/client.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/sdk-client.ts';
import { keysOf } from '../../shared/drivers/azure-tables/mapping.ts';
import { openStore, type StoreError } from '../../shared/store/index.ts';
import { CALL, insert, part, textOf } from '../conformance/harness.ts';
import { entityId, entityVersion, partName } from '../support/ids.ts';
import { closedAfterEach } from '../support/opened.ts';
import { errorText, ETAG, JSON_TYPE, servedOver } from './azure-service.ts';
import { azureAt, TRANSPORTS } from './emulated.ts';
import { A, INSERT, PATCH, READ, REMOVALS } from './one-of-each.ts';
import { azureText } from './raw-server.ts';

const FULL = { ...JSON_TYPE, ...ETAG };
const ABSENT = { 'x-ms-error-code': 'ResourceNotFound' };

/** By `performance.now()`: no process lives for so long. */
const LATER = 1e9;

const opened = closedAfterEach();

/** The first chunk of a part that is said to have so many bytes, and has others. */
function chunk(saidBytes: number, bytes: number): string {
  const stored = Buffer.alloc(4 + bytes);
  stored.writeUInt32BE(saidBytes);
  return stored.toString('base64');
}

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  const served = servedOver(transport, opened);
  /** A driver whose service gives every request this reply. */
  const replied = (text: string) => served(({ socket }) => socket.write(text));

  test.each([
    [503, 'TemporarilyOverloaded', 'unknown', 'throttled'],
    [409, 'TableBeingDeleted', 'unknown', 'other'],
    [404, 'ContainerNotFound', 'unknown', 'other'],
    [409, 'EntityAlreadyExists', 'refused', 'condition'],
    [413, 'RequestBodyTooLarge', 'refused', 'limit'],
    [400, 'EntityTooLarge', 'refused', 'limit'],
    [400, 'PropertyValueTooLarge', 'refused', 'limit'],
    [400, 'TooManyProperties', 'refused', 'limit'],
    [400, 'InvalidInput', 'refused', 'invalid'],
    [400, 'InvalidAuthenticationInfo', 'refused', 'denied'],
    [401, 'InvalidAuthenticationInfo', 'refused', 'denied'],
    [403, 'AuthenticationFailed', 'refused', 'denied'],
    [503, 'ServerBusy', 'refused', 'throttled'],
    // No other answer to an insert says that the entity is there.
    [404, 'ResourceNotFound', 'unknown', 'other'],
    [404, 'EntityNotFound', 'unknown', 'other'],
    [412, 'UpdateConditionNotSatisfied', 'unknown', 'other'],
    [412, 'ConditionNotMet', 'unknown', 'other'],
  ])('rule 2: an insert answered %i %s is %s (%s), and not sent again', async (status, code, kind, reason) => {
    const { driver, server } = await replied(errorText(status, code));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind, reason }]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [404, 'ContainerNotFound', false],
    [400, 'InvalidInput', false],
    [401, 'InvalidAuthenticationInfo', false],
    [403, 'AuthorizationFailure', false],
    [409, 'TableBeingDeleted', true],
  ])('a read answered %i %s is unavailable (retryable: %s), not absence', async (status, code, retryable) => {
    const { driver } = await replied(errorText(status, code));
    const told = { code: 'unavailable', retryable };
    await expect(driver.read(READ, CALL)).rejects.toMatchObject(told);
    await expect(driver.list('a', undefined, 1, CALL)).rejects.toMatchObject(told);
  });

  test.each([
    ['html with 200', azureText(200, { 'Content-Type': 'text/html', ...ETAG }, '<p>Welcome to the hotel'), true],
    ['nothing with 200', azureText(200, ETAG), true],
    ['broken JSON with 200', azureText(200, FULL, '{"c":'), true],
    ['a list with 200', azureText(200, FULL, '[1]'), true],
    ['html with 404', azureText(404, { 'Content-Type': 'text/html' }, '<p>Not found'), false],
  ])('a read answered by %s is unavailable, not absence', async (_, text, retryable) => {
    const { driver } = await replied(text);
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', retryable });
  });

  test.each([
    ['none', {}],
    ['an empty one', { ETag: '' }],
  ])('a success without an etag cannot be built upon (%s)', async (_, headers) => {
    const { driver } = await served(({ method, socket }) =>
      socket.write(method === 'GET' ? azureText(200, { ...JSON_TYPE, ...headers }, '{}') : azureText(204, headers)),
    );
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
  });

  test('a read answered 404 without a body is absence if the header says so', async () => {
    const { driver } = await replied(azureText(404, ABSENT));
    expect(await driver.read(READ, CALL)).toEqual([undefined]);
  });

  test.each([
    ['that lacks a chunk', { p0: chunk(70_000, 65_532) }, 65_532],
    ['whose later chunk is cut short', { p0: chunk(70_000, 65_532), p0_1: 'AAAA' }, 65_535],
    ['that is longer than it says', { p0: chunk(2, 3) }, 3],
    ['that is shorter than it says', { p0: chunk(4, 3) }, 3],
    ['that says it has 4 GiB', { p0: chunk(2 ** 32 - 1, 3) }, 3],
    ['without its length', { p0: 'AAA=' }, undefined],
    ['that is no text', { p0: 7 }, undefined],
  ])('rule 23: a part %s comes as what is left of it, and the others come whole', async (_, damaged, left) => {
    const { driver } = await replied(azureText(200, FULL, JSON.stringify({ ...damaged, h: 'AAAAAXg=' })));
    const [entity] = await driver.read(READ, CALL);
    expect(textOf(entity)).toMatchObject({ h: 'x' });
    expect(entity?.parts.get(partName('p0'))?.byteLength).toBe(left);
  });

  test('what else lies in a row is no part of it', async () => {
    const address = { PartitionKey: '00', RowKey: 'a', Timestamp: 'now', 'odata.etag': 'v' };
    const row = { ...address, note: 'by hand', c: 'AAAAAWI=' };
    const { driver } = await replied(azureText(200, { ...JSON_TYPE, ETag: 'v' }, JSON.stringify(row)));
    const parts = new Map([['c', Buffer.from('b')]]);
    expect(await driver.read(READ, CALL)).toEqual([{ id: 'a', version: 'v', parts }]);
  });

  test('a table that stays missing is an error, after one attempt to create it', async () => {
    const { driver, server } = await replied(errorText(404, 'TableNotFound'));
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.requests).toHaveLength(2);
  });

  test('rule 25: where the probe fails nothing conditional is sent, as is told, and the next write probes anew', async () => {
    const { driver, server } = await replied(errorText(500, 'InternalError'));
    const unsent = { kind: 'refused', reason: 'unsent', cause: { code: 'unavailable', retryable: true } };
    expect(await driver.write([PATCH], CALL)).toMatchObject([unsent]);
    expect(await driver.remove(REMOVALS, CALL)).toMatchObject([unsent]);
    // Each time the probe's first insert.
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ['versions', 204, ['POST', 'PATCH', 'GET', 'PATCH']],
    ['removals', 412, ['POST', 'PATCH', 'GET', 'PATCH', 'DELETE']],
  ])('rule 25: an endpoint that accepts stale %s gets no conditional write', async (_, toStalePatch, sent) => {
    const { driver, server } = await served(({ method, socket }) => {
      const ofMethod = server.requests.filter((one) => one.method === method);
      const status = method === 'PATCH' && ofMethod.length === 2 ? toStalePatch : 204;
      if (method === 'GET') socket.write(azureText(200, FULL, JSON.stringify({ kept: 'AQ==', set: 'Ag==' })));
      else if (status === 412) socket.write(errorText(412, 'UpdateConditionNotSatisfied'));
      else socket.write(azureText(204, { ETag: `v${server.requests.length}` }));
    });
    expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
    expect(await driver.remove(REMOVALS, CALL)).toMatchObject([{ kind: 'refused' }]);
    expect(server.requests.map(({ method }) => method)).toEqual(sent);
  });

  test('invariant 5: a change without a real etag never leaves', async () => {
    const { server } = await replied(azureText(204, ETAG));
    const credential = new AzureNamedKeyCredential('account', 'a2V5');
    const [endpoint, tableName] = [`http://127.0.0.1:${server.port}`, 'table'] as const;
    const client = new TableClient(endpoint, tableName, credential, { allowInsecureConnection: true });
    const calls = opened(transport === 'own' ? tableCalls({ endpoint, tableName, credential }) : sdkCalls(client));
    const row = { partition: '00', row: A };
    for (const etag of ['', '*', 'W/"*"'].map(entityVersion)) {
      const change = { mode: 'Merge', etag } as const;
      await expect(calls.write({ ...row, properties: {}, change }, LATER)).rejects.toThrow(TypeError);
      await expect(calls.delete(row, etag, LATER)).rejects.toThrow(TypeError);
    }
    expect(server.requests).toEqual([]);
  });

  test('a signature in the endpoint goes with every request, also beside a selection', async () => {
    const { server } = await replied(azureText(404, ABSENT));
    const endpoint = `http://127.0.0.1:${server.port}/account?sv=1&sig=a%2Fb`;
    const client = new TableClient(endpoint, 'table', { allowInsecureConnection: true });
    const driver = opened(azureTablesDriver(transport === 'own' ? { endpoint, tableName: 'table' } : { client }));
    await driver.read([{ id: entityId('a!b'), parts: [partName('c')] }], CALL);
    await driver.write([insert(entityId('a!b'), [part('c', 'x')])], CALL);
    expect(server.requests.map(({ target }) => target)).toEqual([
      expect.stringMatching(
        /^\/account\/table\(PartitionKey='[0-9a-f]{2}',RowKey='a!b'\)\?sv=1&sig=a%2Fb&\$select=RowKey(,|%2C)c$/,
      ),
      '/account/table?sv=1&sig=a%2Fb',
    ]);
  });

  // Half of all signatures hold a `+`, which in a query stands for a space.
  test.each([
    ['in the endpoint', true],
    ['as a credential', false],
  ])('a signature that is not encoded leaves encoded, if it stands %s', async (_, isInEndpoint) => {
    const { server } = await replied(azureText(404, ABSENT));
    const signature = 'sv=1&sig=a+b/c=';
    const endpoint = `http://127.0.0.1:${server.port}/account${isInEndpoint ? `?${signature}` : ''}`;
    const sas = new AzureSASCredential(signature);
    const insecure = { allowInsecureConnection: true };
    const credential = isInEndpoint ? {} : { credential: sas };
    const client = isInEndpoint
      ? new TableClient(endpoint, 'table', insecure)
      : new TableClient(endpoint, 'table', sas, insecure);
    const options = transport === 'own' ? { endpoint, tableName: 'table', ...credential } : { client };
    const driver = opened(azureTablesDriver(options));
    await driver.write([INSERT], CALL);
    expect(server.requests[0]?.target).toMatch(/[?&]sig=a%2Bb(%2F|\/)c(%3D|=)(&|$)/);
  });

  const AGO = new Date(Date.now() - 20 * 60_000).toUTCString();
  const ENDED = 'se=2020-01-01T00%3A00%3A00Z&sig=s';
  test.each([
    ['AuthenticationFailed', {}, '', 'the key, signature or token does not fit the account'],
    ['AuthenticationFailed', { Date: AGO }, '', 'the clock of this machine is 20 minutes ahead: set it'],
    ['AuthenticationFailed', {}, ENDED, 'the shared access signature ended at 2020-01-01T00:00:00Z: make another'],
    ['AuthorizationFailure', {}, '', 'let this machine through the firewall of the account'],
    ['AuthorizationPermissionMismatch', {}, '', 'grant Storage Table Data Contributor to the identity'],
    ['KeyBasedAuthenticationNotPermitted', {}, '', 'the account takes no keys: use a token credential (az login)'],
    ['AccountIsDisabled', {}, '', 'the account is disabled'],
    ['AuthorizationOther', {}, '', 'grant Storage Table Data Contributor'],
  ])('a denial says what to do, the code and the text: %s %o %s', async (code, more, query, advice) => {
    const { server } = await replied(errorText(403, code, more));
    const endpoint = `http://127.0.0.1:${server.port}/account?${query || 'sig=s'}`;
    const client = new TableClient(endpoint, 'table', { allowInsecureConnection: true });
    const driver = opened(azureTablesDriver(transport === 'own' ? { endpoint, tableName: 'table' } : { client }));
    const denied = (await driver.read(READ, CALL).catch((error: unknown) => error)) as StoreError;
    expect(denied).toMatchObject({ code: 'unavailable', retryable: false });
    expect(denied.message).toContain(`azure denies access: ${advice}`);
    expect(denied.message).toContain(`: azure tables answered 403 ${code} said by a test`);
    const cause = { message: denied.message, retryable: false };
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'denied', cause }]);
  });

  test('a put that is denied at a probed endpoint fails at once, certain that nothing was written', async () => {
    const azurite = opened(await startStrictAzurite());
    const open = () => opened(openStore({ driver: azureAt(transport, azurite.endpoint, 'denied') })).table<string>('t');
    await open();
    azurite.faults.add({ operation: 'insert', status: 403, code: 'AuthorizationFailure', when: 'before' });
    // The test would end long before.
    const putting = (await open()).put('k', 'v', { timeoutMs: 600_000 });
    const told = /^nothing was written: azure denies access: .* firewall .* 403 AuthorizationFailure/;
    const message = expect.stringMatching(told) as string;
    await expect(putting).rejects.toMatchObject({ code: 'unavailable', retryable: false, message });
  });
});

test('rule 23: a page cut short costs its own records alone, in a store too', async () => {
  const azurite = opened(await startStrictAzurite());
  const credential = { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY };
  const options = { endpoint: azurite.endpoint, tableName: 'damaged', credential };
  const calls = opened(tableCalls(options));
  const open = () => opened(openStore({ driver: azureTablesDriver(options) })).table<string>('t', { order: 'key' });
  const keys = Array.from({ length: 200 }, (_, number) => `k${1_000 + number}`);
  await (await open()).putMany(keys.map((key) => ({ key, value: randomBytes(500).toString('base64') })));
  const root = keysOf(entityId('t!t!'));
  const { etag, properties } = await calls.get(root, undefined, LATER);
  const [name = '', page] = Object.entries(properties).find(([property]) => /^p\d+$/.test(property)) ?? [];
  const cut = Buffer.from(String(page), 'base64').subarray(0, -9).toString('base64');
  await calls.write({ ...root, properties: { [name]: [cut] }, change: { mode: 'Merge', etag: etag! } }, LATER);

  const table = await open();
  const lost = (await table.getMany(keys)).filter((each) => each.status === 'failed');
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(keys.length / 2);
  for (const { error } of lost) expect(error).toMatchObject({ code: 'corrupt', container: 't!t!' });
  await table.put(lost[0]!.key, 'again');
  expect((await (await open()).get(lost[0]!.key))?.value).toBe('again');
});
