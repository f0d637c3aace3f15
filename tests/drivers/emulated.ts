// Each cloud's real driver behind checks, over its own transport or the SDK's client, at an address
// where an emulator listens, or a proxy before it.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { Datastore } from '@google-cloud/datastore';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { checked } from '../../shared/drivers/checked.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import type { Driver } from '../../shared/store/contract/driver.ts';

export type DriverName = 'datastore' | 'azure-tables';
export type Transport = 'own' | 'sdk';

export const TRANSPORTS = ['own', 'sdk'] as const;
/** Two clouds, two transports. */
export const DRIVERS = (['datastore', 'azure-tables'] as const).flatMap((name) =>
  TRANSPORTS.map((transport) => [name, transport] as const),
);

export function driverAt(name: DriverName, transport: Transport, port: number, space: string): Driver {
  return name === 'datastore'
    ? datastoreAt(transport, `http://127.0.0.1:${port}`, { projectId: space })
    : azureAt(transport, `http://127.0.0.1:${port}/${AZURITE_ACCOUNT_NAME}`, space);
}

/** `settings` keep tests apart, and hold what else the client is given. */
export function datastoreAt(
  transport: Transport,
  endpoint: string,
  settings: { readonly projectId: string; readonly namespace?: string; readonly [option: `grpc.${string}`]: number },
) {
  const { projectId, namespace = '' } = settings;
  if (transport === 'own') return checked(datastoreDriver({ projectId, namespace, endpoint }));
  return checked(datastoreDriver({ client: new Datastore({ ...settings, apiEndpoint: endpoint }) }));
}

export function azureAt(
  transport: Transport,
  endpoint: string,
  tableName: string,
  credential = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
) {
  const options = { allowInsecureConnection: true };
  if (transport === 'own') return checked(azureTablesDriver({ endpoint, tableName, credential, ...options }));
  return checked(azureTablesDriver({ client: new TableClient(endpoint, tableName, credential, options) }));
}
