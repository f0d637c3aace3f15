// The real drivers on connections that fall silent, without end, reset or reply; and that `close`
// ends requests and lets the process end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { startAzurite } from '../../infra/emulators/azurite.ts';
import { driverAt, type DriverName, DRIVERS, type Transport } from './emulated.ts';
import { INSERT, PATCH, READ, REMOVALS } from './one-of-each.ts';
import { entityId } from '../support/ids.ts';
import { listening } from '../support/listening.ts';
import { closedAfterEach } from '../support/opened.ts';

const CLOSING_PROCESS = fileURLToPath(new URL('closing-process.ts', import.meta.url));
const QUICK = { timeoutMs: 200 };
const PATIENT = { timeoutMs: 20_000 };

const azurite = await startAzurite({ inProcess: true });
const opened = closedAfterEach();
afterAll(() => azurite.close());

/**
 * A TCP proxy. From `fallSilent` on, its connections stay open and pass nothing on; later ones
 * work.
 */
async function silenceableProxy(port: number) {
  const near = new Set<Socket>();
  const server = createServer((client) => {
    const far = connect({ host: '127.0.0.1', port });
    near.add(client);
    client.on('close', () => near.delete(client) && far.destroy()).on('error', () => far.destroy());
    far.on('close', () => client.destroy()).on('error', () => client.destroy());
    if (!proxy.isSilentForGood) client.pipe(far).pipe(client);
    opened({ close: () => client.destroy() });
  });
  const proxy = {
    port: await listening(server),
    accepted: 0,
    /** Later connections pass nothing on either. */
    isSilentForGood: false,
    openConnections: () => near.size,
    fallSilent: () => {
      for (const client of near) client.unpipe().resume();
    },
    close: () => server.close(),
  };
  server.on('connection', () => (proxy.accepted += 1));
  return opened(proxy);
}

let spaces = 0;

function freshSpace(): string {
  spaces += 1;
  return `silent${process.pid}x${spaces}`;
}

/** A driver behind a proxy, which has answered a read already. */
async function connected(name: DriverName, transport: Transport) {
  const proxy = await silenceableProxy(portOf(name));
  const driver = opened(driverAt(name, transport, proxy.port, freshSpace()));
  expect(await driver.read(READ, PATIENT)).toEqual([undefined]);
  return { driver, proxy };
}

function portOf(name: DriverName): number {
  return Number(new URL(name === 'datastore' ? inject('embeddedEndpoint') : azurite.endpoint).port);
}

describe.each(DRIVERS)('%s, transport %s', (name, transport) => {
  test('a connection that falls silent is left at the first deadline, and the next request is answered', async () => {
    const { driver, proxy } = await connected(name, transport);
    proxy.fallSilent();
    await expect(driver.read(READ, QUICK)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await driver.read(READ, PATIENT)).toEqual([undefined]);
    expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'written' }]);
  });

  test('reads and lists are unavailable, and an insert unknown, where every connection is silent', async () => {
    const { driver, proxy } = await connected(name, transport);
    proxy.isSilentForGood = true;
    proxy.fallSilent();
    const unavailable = { code: 'unavailable' };
    await Promise.all([
      expect(driver.read(READ, QUICK)).rejects.toMatchObject(unavailable),
      expect(driver.list('a', undefined, 1, QUICK)).rejects.toMatchObject(unavailable),
      expect(driver.write([INSERT], QUICK)).resolves.toMatchObject([{ kind: 'unknown' }]),
      // The endpoint's probe is unanswered: these have not left.
      expect(driver.write([PATCH], QUICK)).resolves.toMatchObject([{ kind: 'refused', reason: 'unsent' }]),
      expect(driver.remove(REMOVALS, QUICK)).resolves.toMatchObject([{ kind: 'refused', reason: 'unsent' }]),
    ]);
  });

  test('closing the driver ends its requests, and the process', async () => {
    const proxy = await silenceableProxy(portOf(name));
    const child = spawn(process.execPath, [CLOSING_PROCESS, name, transport, String(proxy.port), freshSpace()]);
    opened({ close: () => child.kill() });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('connected');
    proxy.fallSilent();
    proxy.isSilentForGood = true;
    child.stdin.end('go');
    expect((await lines.next()).value).toBe('unavailable unknown');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });
});

test('one of many requests that wait on a silent connection to Datastore opens another', async () => {
  const { driver, proxy } = await connected('datastore', 'own');
  proxy.fallSilent();
  const reads = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => driver.read([{ id: entityId(`a${index}`), parts: 'all' }], QUICK)),
  );
  expect(new Set(reads.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(await driver.read(READ, PATIENT)).toEqual([undefined]);
  expect(proxy.accepted).toBe(2);
  await expect.poll(proxy.openConnections).toBe(1);
});
