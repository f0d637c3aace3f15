// Azure's side of both functions: environment -> Table Storage driver -> store, opened at the first request that needs it.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { app as host } from '@azure/functions';
import { z } from 'zod';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { measured } from '../../shared/drivers/measured.ts';
import { openStore } from '../../shared/store/index.ts';
import type { ContainerStore } from '../../shared/compare/cell/targets.ts';
import { withEntities } from '../compare/stores.ts';
import { storeUsage } from '../compare/usage.ts';
import { functionConfig, parsedEnvironment } from '../instance/config.ts';
import { once } from '../instance/lifetime.ts';
import { managedIdentity } from './managed-identity.ts';

/** Who gets in, and default deadlines. */
export const config = functionConfig(process.env);

const env = parsedEnvironment(
  z.object({
    /** `https://<account>.table.core.windows.net`, or Azurite's address with the account's path. */
    STOWAGE_TABLES_ENDPOINT: z.url({ protocol: /^https?$/ }),
    /** The physical table that holds all of the store's tables. */
    STOWAGE_TABLES_TABLE: z.string().default('stowage'),
    /** Name and key of the account; without them the function's managed identity is used. */
    STOWAGE_TABLES_ACCOUNT: z.string().optional(),
    STOWAGE_TABLES_KEY: z.string().optional(),
    IDENTITY_ENDPOINT: z.url().optional(),
    IDENTITY_HEADER: z.string().optional(),
    AZURE_CLIENT_ID: z.string().optional(),
  }),
  process.env,
);

/** Of the storage account's tables. */
export const endpoint = env.STOWAGE_TABLES_ENDPOINT;
const credential =
  env.STOWAGE_TABLES_ACCOUNT === undefined || env.STOWAGE_TABLES_KEY === undefined
    ? managedIdentity({ endpoint: env.IDENTITY_ENDPOINT, secret: env.IDENTITY_HEADER, clientId: env.AZURE_CLIENT_ID })
    : new AzureNamedKeyCredential(env.STOWAGE_TABLES_ACCOUNT, env.STOWAGE_TABLES_KEY);
// Plain HTTP is for Azurite on the same machine.
const allowInsecureConnection = new URL(endpoint).hostname === '127.0.0.1';

/** A store with containers of at most so many KiB (null: the store's own size), and what it spent so far; closed when the platform ends the instance. */
export async function openStoreOf(containerKib: number | null): Promise<ContainerStore> {
  const options = { endpoint, tableName: env.STOWAGE_TABLES_TABLE, credential };
  const { driver, counters } = measured(withEntities(azureTablesDriver(options), containerKib));
  const store = openStore({ driver });
  host.hook.appTerminate(() => store.close());
  return { store, usage: () => storeUsage('azure-tables', counters) };
}

/** The store of the function `records`, opened once. */
export const open = once(() => openStoreOf(null));

/** A client of one physical table, for the layouts that the store is compared with. */
export function tableClient(tableName: string): TableClient {
  return credential instanceof AzureNamedKeyCredential
    ? new TableClient(endpoint, tableName, credential, { allowInsecureConnection })
    : new TableClient(endpoint, tableName, credential, { allowInsecureConnection });
}
