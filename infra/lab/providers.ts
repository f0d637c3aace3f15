// An emulator each in a process of its own, the plain SDK and stores on it. Google's libraries must
// not look for a metadata server.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { azureTablesBaseline } from '../../shared/lab/sdk/azure-tables.ts';
import type { SdkBaseline } from '../../shared/lab/work/baseline.ts';
import { datastoreBaseline, datastoreClient } from '../../shared/lab/sdk/datastore.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { type Driver, openStore, type Store, type StoreOptions } from '../../shared/store/index.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../emulators/embedded.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../emulators/google.ts';

process.env['METADATA_SERVER_DETECTION'] ??= 'none';

const PROJECT_ID = 'stowage-bench';

export interface BenchProvider {
  readonly provider: Provider;
  readonly backend: string;
  readonly endpoint: string;
  /** The plain SDK. Each call opens clients anew. */
  baseline(): SdkBaseline;
  /** A driver on a namespace or table of its own. */
  driver(space: string, transport?: Transport): Driver;
  store(options?: Omit<StoreOptions, 'driver'>, transport?: Transport): Store;
  close(): Promise<void>;
}

export type Transport = 'own' | 'sdk';

interface Making {
  baseline(endpoint: string): SdkBaseline;
  driver(endpoint: string, space: string, transport: Transport): Driver;
}

const credential = (): AzureNamedKeyCredential =>
  new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);

function tableClient(endpoint: string, tableName: string): TableClient {
  return new TableClient(endpoint, tableName, credential(), { allowInsecureConnection: true });
}

const MAKING: Readonly<Record<Provider, Making>> = {
  datastore: {
    baseline: (endpoint) => datastoreBaseline({ projectId: PROJECT_ID, apiEndpoint: endpoint }),
    driver: (endpoint, space, transport) => {
      const options = { projectId: PROJECT_ID, namespace: space };
      if (transport === 'own') return datastoreDriver({ ...options, endpoint });
      return datastoreDriver({ client: datastoreClient({ ...options, apiEndpoint: endpoint }) });
    },
  },
  'azure-tables': {
    baseline: (endpoint) => azureTablesBaseline({ tableClient: (name) => tableClient(endpoint, name) }),
    driver: (endpoint, space, transport) =>
      azureTablesDriver(
        transport === 'own'
          ? { endpoint, tableName: space, credential: credential() }
          : { client: tableClient(endpoint, space) },
      ),
  },
};

/** Google's emulator where it is installed, as kept figures come from it; else the embedded one. */
export async function startDatastore(): Promise<BenchProvider> {
  const found = await findGoogleEmulator();
  const emulator = found.found ? await startGoogleEmulator(found) : await startEmbeddedDatastore({ inProcess: false });
  return providerOn('datastore', emulator);
}

export async function startAzure(): Promise<BenchProvider> {
  return providerOn('azure-tables', await startAzurite({ inProcess: false }));
}

/** Takes the emulator over: it ends with the provider. */
export function providerOn(provider: Provider, emulator: Emulator): BenchProvider {
  const opened: { close(): Promise<void> }[] = [emulator];
  const opening = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  const making = MAKING[provider];
  const { name, endpoint } = emulator;
  return {
    provider,
    backend: name,
    endpoint,
    baseline: () => opening(making.baseline(endpoint)),
    driver: (space, transport = 'own') => making.driver(endpoint, space, transport),
    store: (options, transport = 'own') =>
      opening(openStore({ ...options, driver: making.driver(endpoint, `stowage${transport}`, transport) })),
    close: async () => {
      for (const one of opened.splice(0).toReversed()) await one.close();
    },
  };
}
