// What an instance of `compare` tells of itself: where it runs, its times, what a store is billed.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { azureFacts } from '../../../functions/azure/platform.ts';
import { storeUsage } from '../../../functions/compare/process-usage.ts';
import { placeOf, timesOf } from '../../../functions/compare/where-it-runs.ts';
import { googleFacts } from '../../../functions/gcp/platform.ts';
import { measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { placeSchema } from '../../../shared/lab/load/cell.ts';
import { entityId, entityVersion, partName } from '../../support/ids.ts';

afterEach(() => vi.unstubAllGlobals());

describe('on Google Cloud', () => {
  test('region and instance come from the metadata server', async () => {
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
      asked.push(headers['Metadata-Flavor']!);
      return new Response(url.endsWith('/region') ? 'projects/1/regions/europe-west1\n' : '00f1a2');
    });
    expect(await googleFacts({ K_SERVICE: 'compare' })).toEqual({
      provider: 'datastore',
      platform: 'google-cloud-run',
      backend: 'Google Cloud Datastore',
      isEmulator: false,
      region: 'europe-west1',
      instanceId: '00f1a2',
      memoryBytes: null,
    });
    expect(asked).toEqual(['Google', 'Google']);
  });

  test('a metadata server that does not answer leaves the region unknown', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('no such host')));
    const facts = await googleFacts({ K_SERVICE: 'compare' });
    expect(facts).toMatchObject({ platform: 'google-cloud-run', region: null });
    expect(facts.instanceId).toMatch(/^[\da-f-]{36}$/);
  });
});

describe('on Azure', () => {
  const site = { WEBSITE_SITE_NAME: 'app', WEBSITE_INSTANCE_ID: 'i1', WEBSITE_MEMORY_LIMIT_MB: '2048' };
  const env = { ...site, REGION_NAME: 'West Europe' };

  test('all comes from the environment', () => {
    const facts = azureFacts(env, 'https://account.table.core.windows.net');
    expect(facts).toEqual({
      provider: 'azure-tables',
      platform: 'azure-functions',
      backend: 'Azure Table Storage',
      isEmulator: false,
      region: 'West Europe',
      instanceId: 'i1',
      memoryBytes: 2_147_483_648,
    });
    const flex = azureFacts({ ...env, CONTAINER_NAME: 'c7' }, 'https://account.table.core.windows.net');
    expect(flex.instanceId).toBe('c7');
  });
});

test('the rest is what Node and the system say; from its sources a function knows no commit', async () => {
  const place = placeOf(azureFacts({}, 'http://127.0.0.1:1'), import.meta.url);
  expect(placeSchema.parse(place)).toEqual(place);
  expect(place).toMatchObject({ commit: null, versions: {}, runtime: `Node.js ${process.versions.node}` });
  expect(place.processors).toBeGreaterThan(0);
  expect(place.memoryBytes).toBeGreaterThan(1_000_000);
});

const STAT = 'cpu  100 0 50 800 0 10 20 20 5 0\ncpu0 50 0 25 400 0 5 10 10 2 0\nintr 1';

test('the times are nanoseconds run and waited, and ticks of ten milliseconds, guests not counted twice', () => {
  expect(timesOf('3000000 1500000 2\n', STAT)).toEqual({ ranMs: 3, waitedMs: 1.5, machineMs: 10_000, stolenMs: 200 });
});

const OPTIONS = { timeoutMs: 1_000 };

test('Datastore bills entities, Azure Table Storage requests', async () => {
  const { driver, counters } = measured(memoryDriver());
  const part = { name: partName('h'), bytes: Uint8Array.of(1, 2, 3), chunksBefore: 0 };
  const ids = ['a', 'b', 'c'].map(entityId);
  const outcomes = await driver.write(
    ids.map((id) => ({ kind: 'insert', id, parts: [part] })),
    OPTIONS,
  );
  await driver.read(
    ids.map((id) => ({ id, parts: 'all' })),
    OPTIONS,
  );
  await driver.list('', undefined, 10, OPTIONS);
  const versions = outcomes.map((outcome) => (outcome.kind === 'written' ? outcome.version : entityVersion('')));
  await driver.remove([{ id: entityId('a'), version: versions[0]! }], OPTIONS);

  const bytes = { bytesWritten: 9, bytesRead: 9, retries: {}, conflicts: 0 };
  const [entities, requests] = [3, 1].map((writes) => ({ reads: 4, writes, deletes: 1 }));
  expect(storeUsage('datastore', counters)).toEqual({ ...bytes, requests: 4, billable: entities });
  expect(storeUsage('azure-tables', counters)).toEqual({ ...bytes, requests: 6, billable: requests });
});
