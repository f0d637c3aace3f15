// Azure's side of the functions: environment -> driver -> store, opened at the first request.
import { app as host } from '@azure/functions';
import * as z from 'zod/mini';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { measured } from '../../shared/drivers/measured.ts';
import { COMPARISON } from '../../shared/lab/work/baseline.ts';
import { openStore } from '../../shared/store/index.ts';
import type { ContainerStore } from '../../shared/lab/load/targets.ts';
import { storeUsage } from '../compare/usage.ts';
import { functionConfig, parsedEnvironment, TRANSPORT } from '../instance/config.ts';
import { closeWithSpans, once } from '../instance/lifetime.ts';
import { managedIdentity } from './managed-identity.ts';

/** App keys and default deadlines. */
export const config = functionConfig(process.env);

/** A comparison drops its own tables: no user has one there. */
const USERS_TABLE = new RegExp(`^(?!${COMPARISON})`, 'i');

const env = parsedEnvironment(
  z.object({
    /** `https://<account>.table.core.windows.net`, or Azurite's address with the account's path. */
    STOWAGE_TABLES_ENDPOINT: z.url({ protocol: /^https?$/, error: 'expected an address, https://...' }),
    /** The physical table that holds all of the store's tables. */
    STOWAGE_TABLES_TABLE: z.prefault(
      z.string().check(z.regex(USERS_TABLE, `${COMPARISON}... is the comparison's`)),
      'stowage',
    ),
    /** Name and key of the account; without them the function's managed identity is used. */
    STOWAGE_TABLES_ACCOUNT: z.optional(z.string()),
    STOWAGE_TRANSPORT: TRANSPORT,
    STOWAGE_TABLES_KEY: z.optional(z.base64('expected an access key of the account, in base64')),
    IDENTITY_ENDPOINT: z.optional(z.url('expected an address')),
    IDENTITY_HEADER: z.optional(z.string()),
    AZURE_CLIENT_ID: z.optional(z.string()),
  }),
  process.env,
);

/** The address of the tables, and the rights to them. */
export const tables = {
  endpoint: env.STOWAGE_TABLES_ENDPOINT,
  credential:
    env.STOWAGE_TABLES_ACCOUNT === undefined || env.STOWAGE_TABLES_KEY === undefined
      ? managedIdentity({ endpoint: env.IDENTITY_ENDPOINT, secret: env.IDENTITY_HEADER, clientId: env.AZURE_CLIENT_ID })
      : { name: env.STOWAGE_TABLES_ACCOUNT, key: env.STOWAGE_TABLES_KEY },
};

/** Opened once in this physical table (default: the users'); closed when the instance ends. */
export const storeIn = (tableName: string = env.STOWAGE_TABLES_TABLE) =>
  once(async (): Promise<ContainerStore> => {
    const options = env.STOWAGE_TRANSPORT === 'sdk' ? { client: await client(tableName) } : { ...tables, tableName };
    const { driver, counters } = measured(azureTablesDriver(options));
    const store = openStore({ driver });
    host.hook.appTerminate(() => closeWithSpans(() => store.close()));
    return { store, driver, usage: () => storeUsage('azure-tables', counters) };
  });

async function client(tableName: string) {
  const { sdkClient } = await import('./sdk-client.ts');
  return sdkClient(tables, tableName);
}
