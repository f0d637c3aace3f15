// The stores that the adapters' suites run on: memory, and both clouds' emulators.
import { AzureNamedKeyCredential } from '@azure/data-tables';
import { afterAll, inject } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store, type Table } from '../../shared/store/index.ts';

const azurite = await startAzurite({ inProcess: true });
const namespace = `adapters-${process.pid}`;

export const STORES: readonly (readonly [name: string, store: Store])[] = [
  ['memory', openStore({ driver: memoryDriver() })],
  [
    'the Datastore emulator',
    openStore({ driver: datastoreDriver({ projectId: 'p', namespace, endpoint: inject('embeddedEndpoint') }) }),
  ],
  [
    'Azurite',
    openStore({
      driver: azureTablesDriver({
        endpoint: azurite.endpoint,
        tableName: 'adapters',
        credential: new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
      }),
    }),
  ],
];

afterAll(async () => {
  await Promise.all(STORES.map(([, store]) => store.close()));
  await azurite.close();
});

/** A table of its own for each suite, of either order. */
export async function tableIn(store: Store, name: string, order: 'hash' | 'key'): Promise<Table<unknown>> {
  return store.table(`${name}-${order}`, { order });
}
