// On a slow link large calls succeed: a request may take as long as its bytes keep arriving.
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { openStore } from '../../shared/store/index.ts';
import { driverAt } from '../drivers/emulated.ts';
import { Chance } from '../simulation/seeded-chance.ts';
import { Events } from '../simulation/events.ts';
import { azurePlace, datastorePlace } from './emulator-place.ts';
import { FaultyProxy } from './proxy.ts';

const KIB = 1024;
/** Four containers at a time: each request takes longer than a small one may. */
const RECORDS = 750;
const VALUE_BYTES = 4 * KIB;
const BYTES_PER_SECOND = 200 * KIB;
const PATIENT_MS = 300_000;

const items = Array.from({ length: RECORDS }, (_, at) => ({
  key: String(at).padStart(4, '0'),
  value: new Uint8Array(randomBytes(VALUE_BYTES)),
}));
const keys = items.map(({ key }) => key);

const places = await Promise.all([datastorePlace(), azurePlace()]);
const proxies: FaultyProxy[] = [];
afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await Promise.all(places.map((place) => place.close()));
});

async function slowLinkTo(targetPort: number): Promise<number> {
  const network = { targetPort, chance: new Chance(1), events: new Events(false, () => 0) };
  const proxy = await FaultyProxy.before({ ...network, bytesPerSecond: BYTES_PER_SECOND });
  proxies.push(proxy);
  return proxy.port;
}

describe.concurrent.each(places)('$driver at 200 KiB/s', ({ driver, port }) => {
  const openAt = (at: number, space: string) =>
    openStore({ driver: driverAt(driver, 'own', at, space), timeoutMs: PATIENT_MS });

  test('a batch of 3 MiB is written', async () => {
    await using store = openAt(await slowLinkTo(port), 'slowput');
    const table = await store.table<Uint8Array>('t', { order: 'key' });
    const outcomes = await table.putMany(items);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['written']));
  }, 600_000);

  test('a scan brings 3 MiB', async () => {
    await using near = openAt(port, 'slowscan');
    await (await near.table<Uint8Array>('t', { order: 'key' })).putMany(items);
    await using store = openAt(await slowLinkTo(port), 'slowscan');
    const table = await store.table<Uint8Array>('t');
    const scanned: string[] = [];
    for await (const { key } of table.scan()) scanned.push(key);
    expect(scanned).toEqual(keys);
  }, 600_000);
});
