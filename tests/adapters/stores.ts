// The stores that the adapters' suites run on: memory, and both clouds' emulators.
import { randomUUID } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import { startAzurite } from '../../infra/emulators/azurite.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../shared/store/index.ts';
import { azureAt, datastoreAt } from '../drivers/emulated.ts';

type NamedStore = readonly [name: string, store: Store];

/** Called by each file of tests, after which they close. */
export async function startStores(): Promise<readonly NamedStore[]> {
  const azurite = await startAzurite({ inProcess: true });
  const place = { projectId: 'p', namespace: `adapters-${randomUUID()}` };
  const stores: readonly NamedStore[] = [
    ['memory', openStore({ driver: memoryDriver() })],
    ['the Datastore emulator', openStore({ driver: datastoreAt('own', inject('embeddedEndpoint'), place) })],
    ['Azurite', openStore({ driver: azureAt('own', azurite.endpoint, 'adapters') })],
  ];
  afterAll(async () => {
    await Promise.all(stores.map(([, store]) => store.close()));
    await azurite.close();
  });
  return stores;
}
