// The providers of the benchmark: an emulator each, in a process of its own, and ways to reach it: the plain SDK, and stores of this project.
// Google's libraries look for the metadata server of a cloud machine unless told not to.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { azureTablesBaseline } from '../../../shared/lab/sdk/azure-tables.ts';
import { type Baseline, placeOf } from '../../../shared/lab/work/baseline.ts';
import { datastoreBaseline } from '../../../shared/lab/sdk/datastore.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { azureTablesDriver } from '../../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../../shared/drivers/datastore.ts';
import { type Driver, openStore, type Store, type StoreOptions } from '../../../shared/store/index.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../emulators/embedded.ts';
import type { Emulator } from '../../emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../../emulators/google.ts';
import { azureConditional, type ConditionalReplace, datastoreConditional } from './calibration/conditional.ts';
process.env['METADATA_SERVER_DETECTION'] ??= 'none';

const PROJECT_ID = 'stowage-bench';

export interface BenchProvider {
  readonly provider: Provider;
  /** What it runs on, for people. */
  readonly backend: string;
  /** Address of the emulator, for clients of one's own. */
  readonly endpoint: string;
  /** The plain SDK. Each call opens clients anew. */
  baseline(): Baseline;
  /** The plain SDK's conditional write to the baseline's table of this dataset, which is there. */
  conditional(dataset: string): ConditionalReplace;
  /** A driver on a namespace or table of its own. */
  driver(space: string): Driver;
  store(options?: Omit<StoreOptions, 'driver'>): Store;
  close(): Promise<void>;
}

/** Makes a cloud's SDK clients and drivers for an endpoint. */
interface Making {
  baseline(endpoint: string): Baseline;
  conditional(endpoint: string, dataset: string): ConditionalReplace;
  driver(endpoint: string, space: string): Driver;
}

const DATASTORE: Making = {
  baseline: (endpoint) => datastoreBaseline({ projectId: PROJECT_ID, apiEndpoint: endpoint }),
  conditional: (endpoint, dataset) =>
    datastoreConditional({ projectId: PROJECT_ID, apiEndpoint: endpoint }, placeOf(dataset)),
  driver: (endpoint, space) => datastoreDriver({ projectId: PROJECT_ID, endpoint, namespace: space }),
};

const credential = (): AzureNamedKeyCredential =>
  new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);

const tableClient = (endpoint: string, name: string): TableClient =>
  new TableClient(endpoint, name, credential(), { allowInsecureConnection: true });

const AZURE: Making = {
  baseline: (endpoint) => azureTablesBaseline({ tableClient: (name) => tableClient(endpoint, name) }),
  conditional: (endpoint, dataset) => azureConditional(tableClient(endpoint, placeOf(dataset))),
  driver: (endpoint, space) => azureTablesDriver({ endpoint, tableName: space, credential: credential() }),
};

/** Google's emulator where it is installed, as the figures to compare with come from it; else the embedded one. */
export async function startDatastore(): Promise<BenchProvider> {
  const found = await findGoogleEmulator('firestore');
  const emulator = found.found ? await startGoogleEmulator(found) : await startEmbeddedDatastore({ inProcess: false });
  return datastoreOn(emulator);
}

export async function startAzure(): Promise<BenchProvider> {
  return azureOn(await startAzurite({ inProcess: false }));
}

/** Takes the emulator over: it ends with the provider. */
export function datastoreOn(emulator: Emulator): BenchProvider {
  return benchProvider('datastore', emulator, DATASTORE);
}

/** As `datastoreOn`. */
export function azureOn(emulator: Emulator): BenchProvider {
  return benchProvider('azure-tables', emulator, AZURE);
}

function benchProvider(provider: Provider, emulator: Emulator, making: Making): BenchProvider {
  const opened: { close(): Promise<void> }[] = [emulator];
  const opening = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  return {
    provider,
    backend: emulator.name,
    endpoint: emulator.endpoint,
    baseline: () => opening(making.baseline(emulator.endpoint)),
    conditional: (dataset) => opening(making.conditional(emulator.endpoint, dataset)),
    driver: (space) => making.driver(emulator.endpoint, space),
    store: (options) => opening(openStore({ ...options, driver: making.driver(emulator.endpoint, 'stowage') })),
    close: async () => {
      for (const one of opened.splice(0).toReversed()) await one.close();
    },
  };
}
