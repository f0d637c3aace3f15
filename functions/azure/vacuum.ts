// The app `vacuum`, which only the platform's timer runs. Its schedule is an app setting.
import { app as host, type InvocationContext } from '@azure/functions';
import { createApp } from '../http/http-app.ts';
import { logToStdout } from '../http/log.ts';
import { VACUUM_DEADLINES } from '../instance/config.ts';
import { runLine, vacuumAll } from '../vacuum/vacuum-all.ts';
import { handlerOf, METHODS } from './azure-http.ts';
import { config, usersStore } from './instance.ts';

const { timeoutMs } = VACUUM_DEADLINES;

host.setup({ enableHttpStream: true });
host.timer('vacuum', { schedule: '%STOWAGE_SCHEDULE%', handler: async (_timer, context) => run(context) });
host.http('health', {
  methods: METHODS,
  authLevel: 'anonymous',
  route: 'v1/health',
  handler: handlerOf(createApp({}, { ...config, ...VACUUM_DEADLINES, log: logToStdout })),
});

/** Throws if a table failed, so that the platform counts the invocation as failed. */
async function run(context: InvocationContext): Promise<void> {
  const store = await usersStore();
  const done = await vacuumAll(store, { ...config, timeoutMs, signal: AbortSignal.timeout(timeoutMs) });
  if (done.failed.length === 0) return context[done.unreached > 0 ? 'warn' : 'log'](runLine(done));
  context.error(runLine(done));
  throw new Error('not all tables were vacuumed');
}
