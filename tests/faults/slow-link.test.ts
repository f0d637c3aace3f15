// On a slow link large calls end by what arrives, or with an error that is stated.
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { openStore, type StoreError } from '../../shared/store/index.ts';
import { driverAt } from '../drivers/emulated.ts';
import { Chance } from '../simulation/chance.ts';
import { Events } from '../simulation/events.ts';
import { azurePlace, datastorePlace } from './place.ts';
import { FaultyProxy } from './proxy.ts';

const KIB = 1024;
const RECORDS = 150;
const VALUE_BYTES = 4 * KIB;
/** The whole takes three seconds each way. */
const BYTES_PER_SECOND = 200 * KIB;
/** A request's own deadline may end it: RELIABILITY.md says at how many at once. */
const STATED = new Set(['unknown', 'unavailable', 'aborted', 'throttled']);

const places = await Promise.all([datastorePlace(), azurePlace()]);
afterAll(() => Promise.all(places.map((place) => place.close())));

describe.each(places)('$driver at 200 KiB/s', ({ driver, port }) => {
  test('a batch and a scan of 600 KiB', async () => {
    const network = { targetPort: port, chance: new Chance(1), events: new Events(false, () => 0) };
    const proxy = await FaultyProxy.before({ ...network, bytesPerSecond: BYTES_PER_SECOND });
    await using store = openStore({ driver: driverAt(driver, 'own', proxy.port, 'slowlink'), timeoutMs: 60_000 });
    const table = await store.table<Uint8Array>('t', { order: 'key' });
    const items = Array.from({ length: RECORDS }, (_, at) => ({
      key: String(at).padStart(4, '0'),
      value: new Uint8Array(randomBytes(VALUE_BYTES)),
    }));
    const outcomes = await table.putMany(items);
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
    const written = outcomes.flatMap((outcome) => (outcome.status === 'written' ? [outcome.key] : []));
    const scanned = new Set<string>();
    try {
      for await (const { key } of table.scan()) scanned.add(key);
      expect(written.filter((key) => !scanned.has(key))).toEqual([]);
    } catch (error) {
      errors.push(error as StoreError);
    }
    expect(errors.map(({ code }) => code).filter((code) => !STATED.has(code))).toEqual([]);
    proxy.close();
  }, 600_000);
});
