// The app `records`. All but health and readiness needs a function key (`x-functions-key`).
import { app as host } from '@azure/functions';
import { logToStdout } from '../http/log.ts';
import { RECORDS_TIMEOUT_MAX_MS } from '../instance/config.ts';
import { createRecordsApp } from '../records/records-app.ts';
import { handlerOf, METHODS } from './azure-http.ts';
import { config, usersStore } from './instance.ts';

const records = createRecordsApp({
  ...config,
  timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS,
  // Only a default, as every request brings the log of its invocation.
  log: logToStdout,
  store: usersStore,
});

host.setup({ enableHttpStream: true });
// The app itself answers unknown routes, by the catch-all; literal routes win over it.
const handler = handlerOf(records);
const isOpenToPages = config.origins.length > 0;
const methods = METHODS.filter((method) => method !== 'OPTIONS' || !isOpenToPages);
host.http('records', { methods, authLevel: 'function', route: '{*path}', handler });
// Browsers send no key with a preflight request.
if (isOpenToPages)
  host.http('preflight', { methods: ['OPTIONS'], authLevel: 'anonymous', route: 'v1/{*path}', handler });
host.http('health', { methods: METHODS, authLevel: 'anonymous', route: 'v1/health', handler });
host.http('ready', { methods: METHODS, authLevel: 'anonymous', route: 'v1/ready', handler });
