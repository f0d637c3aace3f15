// Azure's side of the functions: opens driver and store, by the environment, at the first request.
import { app as host } from '@azure/functions';
import * as z from 'zod/mini';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { checked } from '../../shared/drivers/checked.ts';
import { COMPARISON } from '../../shared/lab/work/baseline.ts';
import { type Driver, openStore } from '../../shared/store/index.ts';
import { logToStdout } from '../http/log.ts';
import { CHECKS, functionConfig, parsedEnvironment, TRANSPORT } from '../instance/config.ts';
import { closeWithSpans, once, requestTracer } from '../instance/lifetime.ts';
import { withLatencyLogged } from '../instance/store-latency.ts';
import { managedIdentity } from './platform.ts';

const given = functionConfig(process.env);
/** App keys, default deadlines, and a tracer if a collector is named. */
export const config = { ...given, tracer: await requestTracer(given.tracing) };

/** No user may have a table under these names, because a comparison drops them. */
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
    STOWAGE_CHECK: CHECKS,
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

/** The users' store, opened once; closed when the instance ends. */
export const usersStore = once(async () => {
  const store = openStore({ driver: withLatencyLogged(await driverIn(env.STOWAGE_TABLES_TABLE), logToStdout) });
  onTerminate(() => store.close());
  return store;
});

/** Closes when the platform ends the instance. */
export function onTerminate(close: () => Promise<void>): void {
  host.hook.appTerminate(() => closeWithSpans(close));
}

/** A driver on this physical table, over this transport. */
export async function driverIn(tableName: string, transport = env.STOWAGE_TRANSPORT): Promise<Driver> {
  const driver = azureTablesDriver(
    transport === 'sdk' ? { client: await client(tableName) } : { ...tables, tableName },
  );
  return env.STOWAGE_CHECK === '1' ? checked(driver) : driver;
}

async function client(tableName: string) {
  const { sdkClient } = await import('./sdk-client.ts');
  return sdkClient(tables, tableName);
}
