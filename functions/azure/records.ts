// The app `records`: all but health and readiness asks a function key (`x-functions-key`).
import { app as host } from '@azure/functions';
import { logToStdout } from '../http/log.ts';
import { RECORDS_TIMEOUT_MAX_MS } from '../instance/config.ts';
import { createRecordsApp } from '../records/records-app.ts';
import { handlerOf, METHODS } from './azure-http.ts';
import { config, usersStore } from './instance.ts';

const records = createRecordsApp({
  ...config,
  timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS,
  // Every request brings the log of its invocation; this one stands in for it.
  log: logToStdout,
  store: usersStore,
});

host.setup({ enableHttpStream: true });
// Literal routes win over the catch-all, by which the app answers unknown routes itself.
const handler = handlerOf(records);
const isOpenToPages = config.origins.length > 0;
const methods = METHODS.filter((method) => method !== 'OPTIONS' || !isOpenToPages);
host.http('records', { methods, authLevel: 'function', route: '{*path}', handler });
// A browser's question beforehand carries no key.
if (isOpenToPages)
  host.http('preflight', { methods: ['OPTIONS'], authLevel: 'anonymous', route: 'v1/{*path}', handler });
host.http('health', { methods: METHODS, authLevel: 'anonymous', route: 'v1/health', handler });
host.http('ready', { methods: METHODS, authLevel: 'anonymous', route: 'v1/ready', handler });
