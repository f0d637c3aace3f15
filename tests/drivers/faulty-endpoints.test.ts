// Drivers against servers that are silent, absent or fail: no error becomes absence, no doubt a
// refusal, and nothing is sent twice.
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { describe, expect, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../infra/emulators/azurite.ts';
import { startDatastoreEmulator } from '../../infra/emulators/datastore/index.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { tableCalls } from '../../shared/drivers/azure-tables/client.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/sdk-client.ts';
import { keysOf } from '../../shared/drivers/azure-tables/mapping.ts';
import type { Driver } from '../../shared/store/contract/driver.ts';
import { openStore } from '../../shared/store/index.ts';
import { insert, part, patch, textOf, written } from '../conformance/harness.ts';
import { entityId, entityVersion, partName } from '../support/ids.ts';
import { azureAt, datastoreAt, TRANSPORTS } from './emulated.ts';
import { SERVICE_HEADERS } from './raw-server.ts';
import { listening } from '../support/listening.ts';
import { closedAfterEach } from '../support/opened.ts';

const QUICK = { timeoutMs: 300 };
const PATIENT = { timeoutMs: 10_000 };
const WRITE = insert(entityId('a'), [part('h', 'x')]);
const READ = { id: entityId('a'), parts: 'all' } as const;

const opened = closedAfterEach();

/** The first chunk of a part that is said to have so many bytes, and has others. */
function chunk(saidBytes: number, bytes: number): string {
  const stored = Buffer.alloc(4 + bytes);
  stored.writeUInt32BE(saidBytes);
  return stored.toString('base64');
}

/** Takes connections and never says a word. */
async function silentServer(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  opened({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return listening(server);
}

/** A server whose replies say that they are of Azure's table service. */
async function httpServer(answer: RequestListener): Promise<number> {
  const server = createHttpServer((request, response) => {
    for (const [name, value] of Object.entries(SERVICE_HEADERS)) response.setHeader(name, value);
    request.resume().once('end', () => answer(request, response));
  });
  opened({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return listening(server);
}

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  function drivers(port: number): { readonly name: string; readonly driver: Driver }[] {
    const endpoint = `http://127.0.0.1:${port}`;
    const credential = new AzureNamedKeyCredential('account', 'a2V5');
    const both = [
      { name: 'azure-tables', driver: azureAt(transport, endpoint, 'table', credential) },
      { name: 'datastore', driver: datastoreAt(transport, endpoint, { projectId: 'p' }) },
    ];
    for (const { driver } of both) opened(driver);
    return both;
  }

  /** A driver whose service gives every request this answer. */
  async function azureAnswering(status: number, code: string) {
    let requests = 0;
    const port = await httpServer((_request, response) => {
      requests += 1;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ 'odata.error': { code, message: { lang: 'en', value: 'said by a test' } } }));
    });
    return { driver: drivers(port)[0]!.driver, requests: () => requests };
  }

  describe('a server that never answers', () => {
    test('makes reads and lists unavailable, writes unknown, once their time is over', async () => {
      for (const { driver } of drivers(await silentServer())) {
        await expect(driver.read([READ], QUICK)).rejects.toMatchObject({
          code: 'unavailable',
        });
        await expect(driver.list('a', undefined, 1, QUICK)).rejects.toMatchObject({ code: 'unavailable' });
        expect(await driver.write([WRITE], QUICK)).toMatchObject([{ kind: 'unknown' }]);
        expect(await driver.write([patch(entityId('a'), entityVersion('v'), [part('h', 'x')])], QUICK)).toMatchObject([
          { kind: 'unknown' },
        ]);
        expect(await driver.remove([{ id: entityId('a'), version: entityVersion('v') }], QUICK)).toMatchObject([
          { kind: 'unknown' },
        ]);
      }
    });
  });

  describe('Azure, by status and code', () => {
    test.each([
      [503, 'TemporarilyOverloaded', { kind: 'unknown', reason: 'throttled' }],
      [409, 'TableBeingDeleted', { kind: 'unknown', reason: 'other' }],
      [404, 'ContainerNotFound', { kind: 'unknown', reason: 'other' }],
    ])('rule 2: a write answered %i is unknown and not sent again', async (status, code, outcome) => {
      const { driver, requests } = await azureAnswering(status, code);
      expect(await driver.write([WRITE], PATIENT)).toMatchObject([outcome]);
      expect(requests()).toBe(1);
    });

    test.each([
      [409, 'EntityAlreadyExists', 'condition'],
      [412, 'UpdateConditionNotSatisfied', 'condition'],
      [413, 'RequestBodyTooLarge', 'limit'],
      [400, 'EntityTooLarge', 'limit'],
      [400, 'PropertyValueTooLarge', 'limit'],
      [400, 'TooManyProperties', 'limit'],
      [400, 'InvalidInput', 'invalid'],
      [400, 'InvalidAuthenticationInfo', 'denied'],
      [401, 'InvalidAuthenticationInfo', 'denied'],
      [403, 'AuthenticationFailed', 'denied'],
      [503, 'ServerBusy', 'throttled'],
    ])('a write answered %i %s is refused (%s)', async (status, code, reason) => {
      const { driver } = await azureAnswering(status, code);
      expect(await driver.write([WRITE], PATIENT)).toMatchObject([{ kind: 'refused', reason }]);
    });

    test.each([
      [404, 'ContainerNotFound', 'unavailable', false],
      [400, 'InvalidInput', 'unavailable', false],
      [401, 'InvalidAuthenticationInfo', 'unavailable', false],
      [403, 'AuthorizationFailure', 'unavailable', false],
      [409, 'TableBeingDeleted', 'unavailable', true],
    ])(
      'a read answered %i %s rejects (%s, retryable: %s) and is not absence',
      async (status, code, expected, retryable) => {
        const { driver } = await azureAnswering(status, code);
        const told = { code: expected, retryable };
        await expect(driver.read([READ], PATIENT)).rejects.toMatchObject(told);
        await expect(driver.list('a', undefined, 1, PATIENT)).rejects.toMatchObject(told);
      },
    );

    test.each([
      ['html', 200, { 'content-type': 'text/html', etag: 'v' }, '<p>Welcome to the hotel', true],
      ['nothing', 200, { etag: 'v' }, '', true],
      ['broken JSON', 200, { 'content-type': 'application/json', etag: 'v' }, '{"c":', true],
      ['a list', 200, { 'content-type': 'application/json', etag: 'v' }, '[1]', true],
      ['html', 404, { 'content-type': 'text/html' }, '<p>Not found', false],
    ])('a read answered by %s with %i is unavailable, not absence', async (_, status, headers, body, retryable) => {
      const port = await httpServer((_request, response) => void response.writeHead(status, headers).end(body));
      const { driver } = drivers(port)[0]!;
      const reading = driver.read([READ], PATIENT);
      await expect(reading).rejects.toMatchObject({ code: 'unavailable', retryable });
    });

    test.each([
      ['none', {}],
      ['an empty one', { etag: '' }],
    ])(
      'a success without an etag cannot be built upon: a read is unavailable, a write unknown (%s)',
      async (_, headers) => {
        const port = await httpServer((request, response) => {
          if (request.method === 'GET')
            response.writeHead(200, { 'content-type': 'application/json', ...headers }).end('{}');
          else response.writeHead(204, headers).end();
        });
        const { driver } = drivers(port)[0]!;
        await expect(driver.read([READ], PATIENT)).rejects.toMatchObject({
          code: 'unavailable',
        });
        expect(await driver.write([WRITE], PATIENT)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
      },
    );

    test('a read answered 404 without a body is absence if the header says so', async () => {
      const headers = { 'x-ms-error-code': 'ResourceNotFound' };
      const port = await httpServer((_request, response) => void response.writeHead(404, headers).end());
      expect(await drivers(port)[0]!.driver.read([READ], PATIENT)).toEqual([undefined]);
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
      const headers = { 'content-type': 'application/json', etag: 'v' };
      const row = JSON.stringify({ ...damaged, h: 'AAAAAXg=' });
      const port = await httpServer((_request, response) => void response.writeHead(200, headers).end(row));
      const [entity] = await drivers(port)[0]!.driver.read([READ], PATIENT);
      expect(textOf(entity)).toMatchObject({ h: 'x' });
      expect(entity?.parts.get(partName('p0'))?.byteLength).toBe(left);
    });

    test('rule 23: a page cut short costs its own records alone, in a store too', async () => {
      const azurite = opened(await startStrictAzurite());
      const credential = { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY };
      const options = { endpoint: azurite.endpoint, tableName: 'damaged', credential };
      const calls = opened(tableCalls(options));
      const open = () => opened(openStore({ driver: azureTablesDriver(options) })).table<string>('t', { order: 'key' });
      const keys = Array.from({ length: 200 }, (_, number) => `k${1_000 + number}`);
      const values = keys.map(() => randomBytes(500).toString('base64'));
      await (await open()).putMany(keys.map((key, index) => ({ key, value: values[index]! })));
      const root = keysOf(entityId('t!t!'));
      const { etag, properties } = await calls.get(root, undefined, 10_000);
      const [name = '', page] = Object.entries(properties).find(([property]) => /^p\d+$/.test(property)) ?? [];
      const cut = Buffer.from(String(page), 'base64').subarray(0, -9).toString('base64');
      await calls.write({ ...root, properties: { [name]: [cut] }, change: { mode: 'Merge', etag: etag! } }, 10_000);

      const table = await open();
      const read = await table.getMany(keys);
      const lost = keys.filter((_, index) => read[index]?.status === 'failed');
      expect(lost.length).toBeGreaterThan(0);
      expect(lost.length).toBeLessThan(keys.length / 2);
      const errors = read.flatMap((each) => (each.status === 'failed' ? [each.error] : []));
      for (const error of errors) expect(error).toMatchObject({ code: 'corrupt', container: 't!t!' });
      await table.put(lost[0]!, 'again');
      expect((await (await open()).get(lost[0]!))?.value).toBe('again');
    });

    test('invariant 5: a change without a real etag never leaves', async () => {
      let requests = 0;
      const port = await httpServer((_request, response) => {
        requests += 1;
        response.writeHead(204, { etag: 'v' }).end();
      });
      const credential = new AzureNamedKeyCredential('account', 'a2V5');
      const [url, client] = [`http://127.0.0.1:${port}`, { allowInsecureConnection: true }];
      const calls =
        transport === 'own'
          ? tableCalls({ endpoint: url, tableName: 'table', credential })
          : sdkCalls(new TableClient(url, 'table', credential, client));
      opened(calls);
      const row = { partition: '00', row: entityId('a') };
      for (const etag of ['', '*', 'W/"*"'].map(entityVersion)) {
        const change = { mode: 'Merge', etag } as const;
        await expect(calls.write({ ...row, properties: {}, change }, 1_000)).rejects.toThrow(TypeError);
        await expect(calls.delete(row, etag, 1_000)).rejects.toThrow(TypeError);
      }
      expect(requests).toBe(0);
    });

    test('rule 25: where the probe fails nothing conditional is sent, all is unknown, and the next write probes anew', async () => {
      const { driver, requests } = await azureAnswering(500, 'InternalError');
      const asked = [patch(entityId('a'), entityVersion('v1'), [part('h', 'x')])];
      expect(await driver.write(asked, PATIENT)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
      expect(await driver.remove([{ id: entityId('a'), version: entityVersion('v1') }], PATIENT)).toMatchObject([
        { kind: 'unknown' },
      ]);
      // Each time the probe's first insert.
      expect(requests()).toBe(2);
    });

    test('a put that is denied at a probed endpoint fails at once, certain that nothing was written', async () => {
      const azurite = opened(await startStrictAzurite());
      const open = () =>
        opened(openStore({ driver: azureAt(transport, azurite.endpoint, 'denied') })).table<string>('t');
      await open();
      azurite.faults.add({
        operation: 'insert',
        status: 403,
        code: 'AuthorizationFailure',
        when: 'before',
      });
      // The test would end long before.
      const putting = (await open()).put('k', 'v', { timeoutMs: 600_000 });
      await expect(putting).rejects.toMatchObject({
        code: 'unavailable',
        retryable: false,
        message: expect.stringMatching(
          /^nothing was written: azure denies access: .* Storage Table Data Contributor/,
        ) as string,
      });
    });

    test('what else lies in a row is no part of it', async () => {
      const row = {
        PartitionKey: '00',
        RowKey: 'a',
        Timestamp: 'now',
        'odata.etag': 'v',
        note: 'by hand',
        c: 'AAAAAWI=',
      };
      const headers = { 'content-type': 'application/json', etag: 'v' };
      const port = await httpServer(
        (_request, response) => void response.writeHead(200, headers).end(JSON.stringify(row)),
      );
      const [entity] = await drivers(port)[0]!.driver.read([READ], PATIENT);
      expect(entity).toEqual({ id: 'a', version: 'v', parts: new Map([['c', Buffer.from('b')]]) });
    });

    test('a signature in the endpoint goes with every request, also beside a selection', async () => {
      const urls: string[] = [];
      const port = await httpServer((request, response) => {
        urls.push(request.url ?? '');
        response.writeHead(404, { 'x-ms-error-code': 'ResourceNotFound' }).end();
      });
      const endpoint = `http://127.0.0.1:${port}/account?sv=1&sig=a%2Fb`;
      const client = new TableClient(endpoint, 'table', { allowInsecureConnection: true });
      const driver = opened(azureTablesDriver(transport === 'own' ? { endpoint, tableName: 'table' } : { client }));
      await driver.read([{ id: entityId('a!b'), parts: [partName('c')] }], PATIENT);
      await driver.write([insert(entityId('a!b'), [part('c', 'x')])], PATIENT);
      expect(urls[0]).toMatch(
        /^\/account\/table\(PartitionKey='[0-9a-f]{2}',RowKey='a!b'\)\?sv=1&sig=a%2Fb&\$select=RowKey(,|%2C)c$/,
      );
      expect(urls[1]).toBe('/account/table?sv=1&sig=a%2Fb');
    });

    test('a table that stays missing is an error, after one attempt to create it', async () => {
      const { driver, requests } = await azureAnswering(404, 'TableNotFound');
      await expect(driver.read([READ], PATIENT)).rejects.toMatchObject({
        code: 'unavailable',
      });
      expect(requests()).toBe(2);
    });

    test('rule 25: an endpoint that accepts stale versions gets no conditional write', async () => {
      const seen: string[] = [];
      const port = await httpServer((request, response) => {
        seen.push(request.method ?? '');
        const row = JSON.stringify({ kept: 'AQ==', set: 'Ag==' });
        if (request.method === 'GET') response.writeHead(200, { 'content-type': 'application/json' }).end(row);
        else response.writeHead(204, { etag: 'v' }).end();
      });
      const { driver } = drivers(port)[0]!;
      const asked = [patch(entityId('a'), entityVersion('v1'), [part('h', 'x')])];
      expect(await driver.write(asked, PATIENT)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
      expect(await driver.remove([{ id: entityId('a'), version: entityVersion('v1') }], PATIENT)).toMatchObject([
        { kind: 'refused' },
      ]);
      expect(seen).toEqual(['POST', 'PATCH', 'GET', 'PATCH']);
    });

    test('rule 25: an endpoint that refuses stale patches and accepts stale removals gets no conditional write', async () => {
      const seen: string[] = [];
      const port = await httpServer((request, response) => {
        const row = JSON.stringify({ kept: 'AQ==', set: 'Ag==' });
        const isStalePatch = request.method === 'PATCH' && seen.includes('PATCH');
        seen.push(request.method ?? '');
        if (request.method === 'GET')
          response.writeHead(200, { 'content-type': 'application/json', etag: 'v' }).end(row);
        else if (isStalePatch) response.writeHead(412, { 'x-ms-error-code': 'UpdateConditionNotSatisfied' }).end();
        else response.writeHead(204, { etag: `v${seen.length}` }).end();
      });
      const { driver } = drivers(port)[0]!;
      const asked = [patch(entityId('a'), entityVersion('v1'), [part('h', 'x')])];
      expect(await driver.write(asked, PATIENT)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
      expect(await driver.remove([{ id: entityId('a'), version: entityVersion('v1') }], PATIENT)).toMatchObject([
        { kind: 'refused' },
      ]);
      expect(seen).toEqual(['POST', 'PATCH', 'GET', 'PATCH', 'DELETE']);
    });
  });

  describe('Datastore, over gRPC', () => {
    test.each([
      ['UNAVAILABLE', 'unknown'],
      ['ABORTED', 'refused'],
      ['DEADLINE_EXCEEDED', 'unknown'],
      ['INTERNAL', 'unknown'],
    ] as const)(
      'rule 2: a read, a listing, a write and a removal answered %s are sent once each (%s)',
      async (code, kind) => {
        const emulator = opened(await startDatastoreEmulator());
        const driver = opened(datastoreAt(transport, `http://${emulator.address}`, { projectId: 'p' }));
        const version = await written(driver, insert(entityId('a'), [part('h', 'x')]));
        // Lets the probe pass.
        await written(driver, patch(entityId('a'), version, [part('h', 'y', 1)]));
        const fault = emulator.faults.add({ code, when: 'before' });
        await expect(driver.read([READ], PATIENT)).rejects.toMatchObject({
          code: 'unavailable',
        });
        expect(fault.hits).toBe(1);
        await expect(driver.list('a', undefined, 1, PATIENT)).rejects.toMatchObject({ code: 'unavailable' });
        expect(fault.hits).toBe(2);
        expect(await driver.write([patch(entityId('a'), version, [part('h', 'z', 1)])], PATIENT)).toMatchObject([
          { kind },
        ]);
        expect(fault.hits).toBe(3);
        expect(await driver.remove([{ id: entityId('a'), version }], PATIENT)).toMatchObject([{ kind }]);
        expect(fault.hits).toBe(4);
      },
    );
  });
});
