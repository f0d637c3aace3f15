// Drivers over somebody's own client: what it says counts, it stays as it was, and however it
// retries, each of the driver's requests leaves once.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { Datastore } from '@google-cloud/datastore';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import {
  CALL,
  freshPrefix,
  insert,
  part,
  patch,
  readOne,
  textOf,
  written,
} from '../../shared/drivers/conformance/check-calls.ts';
import { INSERT, READ } from './one-of-each.ts';
import { frameServer, reply, reset } from './datastore/servers.ts';
import { closedAfterEach } from '../support/opened.ts';
import { datastoreAt } from './emulated.ts';
import { azureText, type RawRequest, rawServer, replyText } from './azure-service.ts';

const UNKNOWN = [{ kind: 'unknown', reason: 'other' }];
const COMMITTED = Uint8Array.of(0x1a, 2, 0x20, 5);
const ETAG = { ETag: 'v' };
const CONFLICT = azureText(409, { 'x-ms-error-code': 'EntityAlreadyExists' });

const opened = closedAfterEach();

describe('a Datastore client', () => {
  test('says project, namespace and endpoint: both transports meet in one entity', async () => {
    const settings = { projectId: 'own', namespace: 'clients' };
    const own = opened(datastoreAt('own', inject('embeddedEndpoint'), settings));
    const sdk = opened(datastoreAt('sdk', inject('embeddedEndpoint'), settings));
    const id = freshPrefix();
    const version = await written(sdk, insert(id, [part('h', 'sdk'), part('p1', 'kept')]));
    expect(textOf(await readOne(own, id))).toEqual({ h: 'sdk', p1: 'kept' });
    await written(own, patch(id, version, [part('h', 'own', 1)]));
    expect(textOf(await readOne(sdk, id))).toEqual({ h: 'own', p1: 'kept' });
  });

  test('names its database in each request', async () => {
    const server = opened(
      await frameServer(({ connection, stream }) => connection.socket.write(reply(stream, COMMITTED))),
    );
    const client = new Datastore({ projectId: 'p', databaseId: 'other', apiEndpoint: server.address });
    const driver = opened(datastoreDriver({ client }));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'written' }]);
    expect(server.messages[0]).toContain(Buffer.from('other').toString('hex'));
  });

  test('goes on when the driver is closed, and the driver when the client is', async () => {
    const client = new Datastore({ projectId: 'own', apiEndpoint: inject('embeddedEndpoint') });
    const first = datastoreDriver({ client });
    await first.write([insert(freshPrefix(), [])], CALL);
    await first.close();
    await expect(first.read(READ, CALL)).rejects.toThrow('the driver is closed');
    expect(await client.get(client.key(['Other', 'a']))).toEqual([undefined]);
    const driver = opened(datastoreDriver({ client }));
    for (const one of client['clients_'].values()) await (one as unknown as { close(): Promise<void> }).close();
    expect(await driver.write([insert(freshPrefix(), [])], CALL)).toMatchObject([{ kind: 'written' }]);
  });

  test('whose gRPC resends what a server refused is asked to do so no more than once', async () => {
    let asked = 0;
    const server = opened(
      await frameServer(({ connection, stream }) => {
        asked += 1;
        connection.socket.write(asked === 1 ? reset(stream, 7) : reply(stream, COMMITTED));
      }),
    );
    const driver = opened(datastoreAt('sdk', server.address, { projectId: 'p', 'grpc.enable_retries': 1 }));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'unknown' }]);
    expect(asked).toBe(1);
  });

  test('without credentials is unavailable, and says how to sign in, call by call', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/key.json');
    vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
    onTestFinished(() => void vi.unstubAllEnvs());
    const driver = opened(datastoreDriver({ client: new Datastore({ projectId: 'p' }) }));
    const message = expect.stringContaining('gcloud auth application-default login') as string;
    for (let call = 0; call < 2; call += 1)
      await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', message });
    expect(await driver.write([INSERT], CALL)).toMatchObject([
      { kind: 'refused', reason: 'unsent', cause: { message } },
    ]);
  });

  test('without gRPC is refused, and told what to leave out', () => {
    const client = new Datastore({ projectId: 'p', fallback: 'rest' });
    expect(() => datastoreDriver({ client })).toThrow('client does not speak gRPC: leave out its option fallback');
  });
});

/** A client whose service gives this answer; its own retries come at once. */
async function open(answer: (request: RawRequest) => void) {
  const server = opened(await rawServer(answer));
  const credential = new AzureNamedKeyCredential('account', 'a2V5');
  const options = { allowInsecureConnection: true, retryOptions: { retryDelayInMs: 1 } };
  const client = new TableClient(`http://127.0.0.1:${server.port}`, 'table', credential, options);
  return { server, client };
}

describe('a TableClient', () => {
  /** Sends whatever failed once more, and after a refusal. */
  const stubborn = {
    name: 'stubborn',
    sendRequest: async <Request, Response>(request: Request, next: (request: Request) => Promise<Response>) => {
      await next(request).catch(() => {});
      return next(request);
    },
  };

  test.each([
    ['Sign', 'an end', 'unknown', 1],
    ['Retry', 'an end', 'unknown', 1],
    ['Deserialize', 'an end', 'unknown', 1],
    ['Retry', 'a conflict', 'refused', 1],
    ['Retry', 'a 401 of a proxy', 'unknown', 1],
    ['Retry', 'a 401 of the service', 'refused', 2],
  ] as const)('with a policy that resends (%s) believes %s (%s) after %i', async (afterPhase, first, kind, sent) => {
    const replies = {
      'a conflict': CONFLICT,
      'a 401 of a proxy': replyText(401, {}, '<p>Log in'),
      'a 401 of the service': replyText(401, { 'x-ms-request-id': '1' }),
    };
    const { server, client } = await open(({ socket }) => {
      if (server.requests.length > 1) socket.write(CONFLICT);
      else if (first === 'an end') socket.end();
      else socket.write(replies[first]);
    });
    client.pipeline.addPolicy(stubborn, { afterPhase });
    const driver = opened(azureTablesDriver({ client }));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind }]);
    expect(server.requests).toHaveLength(sent);
  });

  test('with a policy that answers by itself is not believed', async () => {
    const { server, client } = await open(({ socket }) => socket.write(azureText(204, ETAG)));
    const headers = { toJSON: () => ({ etag: 'v', 'x-ms-version': '1', 'x-ms-request-id': '1' }) };
    const sendRequest = async (request: { headers: object }) =>
      ({ request, status: 204, headers: Object.assign(Object.create(request.headers) as object, headers) }) as never;
    client.pipeline.addPolicy({ name: 'cache', sendRequest });
    const driver = opened(azureTablesDriver({ client }));
    expect(await driver.write([INSERT], CALL)).toMatchObject(UNKNOWN);
    expect(server.requests).toHaveLength(0);
  });

  test('retries its own requests as before, whatever drivers were opened on it and closed', async () => {
    const { server, client } = await open(({ socket }) =>
      socket.write(azureText(server.requests.length < 3 ? 500 : 204, ETAG)),
    );
    for (const driver of [azureTablesDriver({ client }), azureTablesDriver({ client })]) await driver.close();
    expect(await client.createEntity({ partitionKey: 'a', rowKey: 'b' })).toMatchObject({ etag: 'v' });
    expect(server.requests).toHaveLength(3);
  });
});
