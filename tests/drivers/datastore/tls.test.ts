// The Datastore driver over TLS: whom it trusts, what it asks for, and that it says nothing to
// others.
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { GoogleAuth } from 'google-auth-library';
import { afterEach, describe, expect, test } from 'vitest';
import { datastoreDriver } from '../../../shared/drivers/datastore.ts';
import { INSERT, READ } from '../one-of-each.ts';
import { message, nodeServer, replyWith } from './servers.ts';
import { closedAfterEach } from '../../support/opened.ts';
import { listening } from '../../support/listening.ts';
import { selfSignedCertificate } from '../../support/certificate.ts';

const CALL = { timeoutMs: 10_000 };
const COMMITTED = message(Uint8Array.of(0x1a, 2, 0x20, 5));

const trusted = getCACertificates();
const opened = closedAfterEach();
afterEach(() => setDefaultCACertificates(trusted));

/** Only the name is vouched for. */
const pair = selfSignedCertificate([]);

/** Node's own server, which commits whatever it is asked. */
async function service() {
  const server = createSecureServer({ ...pair });
  // A client that does not trust it says so, and goes.
  server.on('tlsClientError', () => {});
  return nodeServer(opened, (stream) => replyWith(stream, () => COMMITTED), server);
}

const headers = new Headers({ authorization: 'Bearer secret' });
const auth = { getClient: async () => ({ getRequestHeaders: async () => headers }) } as unknown as GoogleAuth;

function driverAt(host: string, port: number) {
  const endpoint = `https://${host}:${port}`;
  return opened(datastoreDriver({ projectId: 'a b', databaseId: 'd&e', endpoint, auth }));
}

async function expectNothingSent(driver: ReturnType<typeof driverAt>, seen: readonly unknown[]) {
  expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'unsent' }]);
  await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  expect(seen).toEqual([]);
}

describe('over TLS', () => {
  test('a service with a certificate that is trusted for its name is asked, with token, route and agent', async () => {
    setDefaultCACertificates([...trusted, pair.cert]);
    const { port, seen } = await service();
    expect(await driverAt('localhost', port).write([INSERT], CALL)).toMatchObject([{ kind: 'written' }]);
    expect(seen).toMatchObject([
      {
        ':method': 'POST',
        ':scheme': 'https',
        ':authority': `localhost:${port}`,
        ':path': '/google.datastore.v1.Datastore/Commit',
        te: 'trailers',
        'content-type': 'application/grpc',
        authorization: 'Bearer secret',
        'x-goog-request-params': 'project_id=a%20b&database_id=d%26e',
        'user-agent': expect.stringMatching(/^grpc-node-stowage\//) as string,
      },
    ]);
  });

  test.each([
    ['nobody vouches for', 'localhost', trusted],
    ['is for another name', '127.0.0.1', [...trusted, pair.cert]],
  ])('a service whose certificate %s is told nothing', async (_, host, certificates) => {
    setDefaultCACertificates(certificates);
    const { port, seen } = await service();
    await expectNothingSent(driverAt(host, port), seen);
  });

  test.each([
    [['http/1.1'], 'no application protocol'],
    [undefined, 'does not speak HTTP/2'],
  ])('a service that does not agree on HTTP/2 is told nothing (%s)', async (ALPNProtocols, why) => {
    setDefaultCACertificates([...trusted, pair.cert]);
    const heard: Buffer[] = [];
    const server = createTlsServer({ ...pair, ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }) }, (socket) => {
      socket.on('data', (bytes) => heard.push(bytes)).on('error', () => {});
    });
    server.on('tlsClientError', () => {});
    const port = await listening(opened(server));
    const driver = driverAt('localhost', port);
    await expectNothingSent(driver, []);
    const [outcome] = await driver.write([INSERT], CALL);
    expect(String((outcome as { cause?: unknown }).cause)).toContain(why);
    expect(Buffer.concat(heard).toString('latin1')).not.toContain('secret');
  });
});
