// Either cloud's real driver at an address where its emulator, or a proxy before it, listens.
import { AzureNamedKeyCredential } from '@azure/data-tables';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import type { Driver } from '../../shared/store/contract/driver.ts';

export type DriverName = 'datastore' | 'azure-tables';

/** `space` keeps tests apart: a project of Datastore, a table of Azure. */
export function driverAt(name: DriverName, port: number, space: string): Driver {
  const address = `http://127.0.0.1:${port}`;
  if (name === 'datastore') return datastoreDriver({ projectId: space, endpoint: address });
  return azureTablesDriver({
    endpoint: `${address}/${AZURITE_ACCOUNT_NAME}`,
    tableName: space,
    credential: new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
    allowInsecureConnection: true,
  });
}
