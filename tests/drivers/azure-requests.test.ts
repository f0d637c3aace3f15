// What Azure's driver sends, how it reads the parts of a row, and how it explains a denial.
import { AzureNamedKeyCredential, AzureSASCredential, TableClient } from '@azure/data-tables';
import { describe, expect, test } from 'vitest';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { tableCalls } from '../../shared/drivers/azure-tables/table-calls.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/table-sdk.ts';
import type { EntityId } from '../../shared/store/contract/driver.ts';
import type { StoreError } from '../../shared/store/index.ts';
import { CALL, idsOfOneLane, insert, part, textOf } from '../../shared/drivers/conformance/check-calls.ts';
import { entityId, entityVersion, partName } from '../support/ids.ts';
import { closedAfterEach } from '../support/opened.ts';
import { errorText, ETAG, JSON_TYPE, servedOver, azureText, replyText } from './azure-service.ts';
import { TRANSPORTS } from './emulated.ts';
import { A, INSERT, PATCH, READ, REMOVALS } from './one-of-each.ts';

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

  test('other properties of a row are no parts of the entity', async () => {
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

  test('a table is made by the service alone: what a proxy says of it leaves the write unknown', async () => {
    const { driver, server } = await served(({ target, socket }) =>
      socket.write(target === '/Tables' ? replyText(204, ETAG) : errorText(404, 'TableNotFound')),
    );
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'unknown' }]);
    expect(server.requests.map(({ target }) => target)).toEqual(['/table', '/Tables']);
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

  test.each(['PATCH', 'GET', 'DELETE'])(
    'rule 25: a probe that a vacuum removed before its %s proves nothing, and the next write probes anew',
    async (missedBy) => {
      const { driver, server } = await served(({ method, socket }) => {
        const begins = server.requests.flatMap((one, at) => (one.method === 'POST' ? [at] : []));
        const probe = server.requests.slice(begins.at(-1));
        const isStale = (method === 'PATCH' && probe.length === 4) || (method === 'DELETE' && probe.length === 5);
        const isLastOfItsKind = method !== 'DELETE' || probe.length === 6;
        if (begins.length === 1 && method === missedBy && isLastOfItsKind)
          socket.write(errorText(404, 'ResourceNotFound'));
        else if (method === 'GET') socket.write(azureText(200, FULL, JSON.stringify({ kept: 'AQ==', set: 'Ag==' })));
        else if (isStale) socket.write(errorText(412, 'UpdateConditionNotSatisfied'));
        else socket.write(azureText(204, { ETag: `v${server.requests.length}` }));
      });
      expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason: 'unsent' }]);
      expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'written' }]);
      expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
    },
  );

  test('invariant 5: a change without a real etag never leaves', async () => {
    const { server } = await replied(azureText(204, ETAG));
    const credential = new AzureNamedKeyCredential('account', 'a2V5');
    const [endpoint, tableName] = [`http://127.0.0.1:${server.port}`, 'table'] as const;
    const client = new TableClient(endpoint, tableName, credential, { allowInsecureConnection: true });
    const calls = opened(transport === 'own' ? tableCalls({ endpoint, tableName, credential }) : sdkCalls(client));
    const row = { partition: '00', row: A };
    for (const etag of ['', '*', 'W/"*"'].map(entityVersion)) {
      const change = { mode: 'Merge', etag } as const;
      const write = { ...row, properties: {}, change };
      await expect(calls.write(write, LATER)).rejects.toThrow(TypeError);
      await expect(calls.submit([write, { ...row, row: entityId('b'), properties: {} }], LATER)).rejects.toThrow(
        TypeError,
      );
      await expect(calls.delete(row, etag, LATER)).rejects.toThrow(TypeError);
    }
    expect(server.requests).toEqual([]);
  });

  // Half of all signatures hold a `+`, which in a query stands for a space.
  test.each([
    ['in the endpoint, encoded', '?sv=1&sig=a%2Bb%2Fc%3D'],
    ['in the endpoint, not encoded', '?sv=1&sig=a+b/c='],
    ['as a credential, not encoded', ''],
  ])('a signature goes with every request, encoded, if it stands %s', async (_, query) => {
    const { server } = await replied(azureText(404, ABSENT));
    const [endpoint, tableName] = [`http://127.0.0.1:${server.port}/account${query}`, 'table'] as const;
    const credential = new AzureSASCredential('?sv=1&sig=a+b/c=');
    const insecure = { allowInsecureConnection: true };
    const [own, client] =
      query === ''
        ? [{ endpoint, tableName, credential }, new TableClient(endpoint, tableName, credential, insecure)]
        : [{ endpoint, tableName }, new TableClient(endpoint, tableName, insecure)];
    const driver = opened(azureTablesDriver(transport === 'own' ? own : { client }));
    await driver.read([{ id: entityId('a!b'), parts: [partName('c')] }], CALL);
    await driver.write([INSERT], CALL);
    const [read, write] = server.requests.map(({ target }) => decodeURIComponent(target.replace(/%2B/g, '%252B')));
    expect(read).toMatch(/^\/account\/table\(PartitionKey='[0-9a-f]{2}',RowKey='a!b'\)\?/);
    expect(read).toContain('$select=RowKey,c');
    // The SDK's client loses the `=` of a signature in the endpoint beside other parameters.
    expect(read).toMatch(/[?&]sig=a%2Bb\/c=?(&|$)/);
    expect(write).toMatch(/[?&]sig=a%2Bb\/c=$/);
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
  ])('a denial tells what to do, with the code and the text: %s %o %s', async (code, more, query, advice) => {
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

  test('rule 1: several writes, one of them too large, are not sent, and none is called refused', async () => {
    const { driver, server } = await replied(azureText(204, ETAG));
    const [bad, good] = idsOfOneLane(driver, 'x', 2) as [EntityId, EntityId];
    // Within the bytes of a request, and of too many parts for an entity.
    const parts = Array.from({ length: driver.limits.chunksMax + 1 }, (_, number) => part(`p${number}`, 'x'));
    expect(await driver.write([insert(bad, parts)], CALL)).toMatchObject([{ kind: 'refused', reason: 'limit' }]);
    const together = await driver.write([insert(bad, parts), insert(good, [part('h', 'x')])], CALL);
    expect(together.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
    expect(server.requests).toHaveLength(0);
  });
});
