// The stores that the adapters' suites run on: memory, and both clouds' emulators.
import { afterAll, inject } from 'vitest';
import { startAzurite } from '../../infra/emulators/azurite.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store, type Table } from '../../shared/store/index.ts';
import { azureAt, datastoreAt } from '../drivers/emulated.ts';

const azurite = await startAzurite({ inProcess: true });
const namespace = `adapters-${process.pid}`;

export const STORES: readonly (readonly [name: string, store: Store])[] = [
  ['memory', openStore({ driver: memoryDriver() })],
  [
    'the Datastore emulator',
    openStore({ driver: datastoreAt('own', inject('embeddedEndpoint'), { projectId: 'p', namespace }) }),
  ],
  ['Azurite', openStore({ driver: azureAt('own', azurite.endpoint, 'adapters') })],
];

afterAll(async () => {
  await Promise.all(STORES.map(([, store]) => store.close()));
  await azurite.close();
});

/** A table of its own for each suite, of either order. */
export async function tableIn(store: Store, name: string, order: 'hash' | 'key'): Promise<Table<unknown>> {
  return store.table(`${name}-${order}`, { order });
}
