// Entry for Azure: environment -> Table Storage driver -> store -> app, registered with @azure/functions (v4). The platform's gate is its
// function key (`x-functions-key`); health and the comparison's static page are open, as they show nothing.
import { readFileSync } from 'node:fs';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { app as host } from '@azure/functions';
import { z } from 'zod';
import { azureTablesBaseline } from '../shared/compare/baseline/azure-tables.ts';
import { runCell } from '../shared/compare/run.ts';
import { azureTablesDriver } from '../shared/drivers/azure-tables.ts';
import { measured } from '../shared/drivers/measured.ts';
import { openStore } from '../shared/store/index.ts';
import { handlerOf, METHODS } from './azure-http.ts';
import { managedIdentity } from './azure-identity.ts';
import { createCompareApp } from './compare.ts';
import { COMPARE_DEADLINES, functionConfig, parsedEnvironment, RECORDS_TIMEOUT_MAX_MS } from './config.ts';
import { once } from './lifetime.ts';
import { logToStdout } from './log.ts';
import { createRecordsApp } from './records.ts';
import { azureTablesUsage } from './usage.ts';

const config = functionConfig(process.env);
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
const endpoint = env.STOWAGE_TABLES_ENDPOINT;
const credential =
  env.STOWAGE_TABLES_ACCOUNT === undefined || env.STOWAGE_TABLES_KEY === undefined
    ? managedIdentity({ endpoint: env.IDENTITY_ENDPOINT, secret: env.IDENTITY_HEADER, clientId: env.AZURE_CLIENT_ID })
    : new AzureNamedKeyCredential(env.STOWAGE_TABLES_ACCOUNT, env.STOWAGE_TABLES_KEY);
// Plain HTTP is for Azurite on the same machine.
const allowInsecureConnection = new URL(endpoint).hostname === '127.0.0.1';

const open = once(async () => {
  const options = { endpoint, tableName: env.STOWAGE_TABLES_TABLE, credential, allowInsecureConnection };
  const { driver, counters } = measured(azureTablesDriver(options));
  const store = openStore({ driver });
  host.hook.appTerminate(() => store.close());
  return { store, usage: () => azureTablesUsage(counters) };
});
const baseline = once(async () =>
  azureTablesBaseline({
    tableClient: (tableName) =>
      credential instanceof AzureNamedKeyCredential
        ? new TableClient(endpoint, tableName, credential, { allowInsecureConnection })
        : new TableClient(endpoint, tableName, credential, { allowInsecureConnection }),
  }),
);

// Every request brings the log of its invocation; this one stands in for it.
const log = logToStdout;
const records = createRecordsApp({
  ...config,
  timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS,
  log,
  store: async () => (await open()).store,
});
const compare = createCompareApp({
  ...config,
  ...COMPARE_DEADLINES,
  log,
  page: readFileSync(new URL('page/compare.html', import.meta.url), 'utf8'),
  runCell: async (request, signal) => {
    const { store, usage } = await open();
    const targets = { provider: 'azure-tables', baseline: await baseline(), store, storeUsage: usage } as const;
    return await runCell(request, targets, { signal });
  },
});

host.setup({ enableHttpStream: true });
// Literal routes win over the catch-all, which lets the app answer unknown routes with its own problem.
host.http('records', { methods: METHODS, authLevel: 'function', route: '{*path}', handler: handlerOf(records) });
host.http('compare', {
  methods: METHODS,
  authLevel: 'function',
  route: 'v1/compare/cells',
  handler: handlerOf(compare),
});
host.http('page', {
  methods: ['GET', 'HEAD'],
  authLevel: 'anonymous',
  route: 'v1/compare',
  handler: handlerOf(compare),
});
host.http('health', { methods: METHODS, authLevel: 'anonymous', route: 'v1/health', handler: handlerOf(records) });
