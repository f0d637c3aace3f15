// A function says where it runs.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { azureFacts } from '../../../functions/azure/platform.ts';
import { placeOf } from '../../../functions/compare/where-it-runs.ts';
import { googleFacts } from '../../../functions/gcp/platform.ts';
import { placeSchema } from '../../../shared/lab/load/cell.ts';

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

  test('an emulator is told as one, by its name if it has one', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('nobody is to be asked')));
    const env = { K_SERVICE: 'compare', DATASTORE_EMULATOR_HOST: '127.0.0.1:1' };
    const local = { platform: 'local', isEmulator: true };
    expect(await googleFacts(env)).toMatchObject({ ...local, backend: 'an emulator of Datastore' });
    expect(await googleFacts({ ...env, STOWAGE_BACKEND: 'ours' })).toMatchObject({ backend: 'ours', isEmulator: true });
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

  test('an emulator is told as one', () => {
    const local = { platform: 'local', isEmulator: true, region: null, backend: 'an emulator of Azure Table Storage' };
    expect(azureFacts(env, 'http://127.0.0.1:10002/devstoreaccount1')).toMatchObject(local);
  });
});

test('the rest is what Node and the system say; from its sources a function knows no commit', async () => {
  const place = placeOf(azureFacts({}, 'http://127.0.0.1:1'), import.meta.url);
  expect(placeSchema.parse(place)).toEqual(place);
  expect(place).toMatchObject({ commit: null, versions: {}, runtime: `Node.js ${process.versions.node}` });
  expect(place.processors).toBeGreaterThan(0);
  expect(place.memoryBytes).toBeGreaterThan(1_000_000);
});

test('an instance is cold until its first cell', async () => {
  vi.resetModules();
  const { instance } = await import('../../../functions/compare/where-it-runs.ts');
  expect([instance.takeCold(), instance.takeCold()]).toEqual([true, false]);
  expect(instance.uptimeMs()).toBeGreaterThan(0);
  expect(instance.memoryBytes()).toBeGreaterThan(1_000_000);
});
