// The function app `compare` on Azure, registered with @azure/functions (v4). The platform's gate is its function key
// (`x-functions-key`); health and the static page are open, as they show nothing.
import { readFileSync } from 'node:fs';
import { app as host } from '@azure/functions';
import { createCompareApp } from '../compare/app.ts';
import { cellsOn } from '../compare/cells.ts';
import { logToStdout } from '../http/log.ts';
import { COMPARE_DEADLINES } from '../instance/config.ts';
import { handlerOf, METHODS } from './http.ts';
import { config } from './instance.ts';
import { targetsOf } from './targets.ts';

const handler = handlerOf(
  createCompareApp({
    ...config,
    ...COMPARE_DEADLINES,
    // Every request brings the log of its invocation; this one stands in for it.
    log: logToStdout,
    page: readFileSync(new URL('../compare/page.html', import.meta.url), 'utf8'),
    ...cellsOn(targetsOf(import.meta.url)),
  }),
);

host.setup({ enableHttpStream: true });
// Literal routes win over the catch-all, which lets the app answer unknown routes with its own problem.
host.http('compare', { methods: METHODS, authLevel: 'function', route: '{*path}', handler });
// Browsers send no key with the question whether a page may call.
host.http('preflight', { methods: ['OPTIONS'], authLevel: 'anonymous', route: 'v1/compare/{*path}', handler });
host.http('page', { methods: ['GET', 'HEAD'], authLevel: 'anonymous', route: 'v1/compare', handler });
host.http('health', { methods: METHODS, authLevel: 'anonymous', route: 'v1/health', handler });
