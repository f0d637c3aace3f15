// The app `compare`: a function key (`x-functions-key`) guards all but health and the static page.
import { app as host } from '@azure/functions';
import { azureTablesBaseline } from '../../shared/lab/sdk/azure-tables-baseline.ts';
import { COMPARISON } from '../../shared/lab/work/baseline.ts';
import type { CellTargets } from '../../shared/lab/load/targets.ts';
import { createCompareApp } from '../compare/compare-app.ts';
import { cellsOn, measuredStores } from '../compare/process-usage.ts';
import { examineOver } from '../compare/doctor.ts';
import { readLivePage } from '../compare/live-page.ts';
import { instance, placeOf } from '../compare/where-it-runs.ts';
import { logToStdout } from '../http/log.ts';
import { COMPARE_DEADLINES } from '../instance/config.ts';
import { once } from '../instance/lifetime.ts';
import { handlerOf, METHODS } from './azure-http.ts';
import { config, driverIn, onTerminate, tables } from './instance.ts';
import { azureFacts } from './platform.ts';
import { sdkClient } from './sdk-client.ts';

/** Made at the first cell. */
const targets = once(async (): Promise<CellTargets> => ({
  baseline: azureTablesBaseline({ tableClient: (name) => sdkClient(tables, name) }),
  openStore: measuredStores('azure-tables', (transport) => driverIn(COMPARISON, transport), onTerminate),
  place: placeOf(azureFacts(process.env, tables.endpoint), import.meta.url),
  instance,
}));

const handler = handlerOf(
  createCompareApp({
    ...config,
    ...COMPARE_DEADLINES,
    // Only a default, as every request brings the log of its invocation.
    log: logToStdout,
    page: readLivePage(import.meta.url),
    examine: examineOver((transport) => driverIn(COMPARISON, transport), true),
    ...cellsOn(targets),
  }),
);

host.setup({ enableHttpStream: true });
// The app itself answers unknown routes, by the catch-all; literal routes win over it.
host.http('compare', { methods: METHODS, authLevel: 'function', route: '{*path}', handler });
// Browsers send no key with a preflight request.
host.http('preflight', { methods: ['OPTIONS'], authLevel: 'anonymous', route: 'v1/compare/{*path}', handler });
host.http('page', { methods: ['GET', 'HEAD'], authLevel: 'anonymous', route: 'v1/compare', handler });
host.http('health', { methods: METHODS, authLevel: 'anonymous', route: 'v1/health', handler });
