// Entry for Google Cloud: environment -> Datastore driver -> store -> app. Exports two plain functions for the functions-framework
// (registering them with its `http()` from a bundle would fill a second registry that nobody reads).
import { readFileSync } from 'node:fs';
import { GoogleAuth } from 'google-gax';
import { z } from 'zod';
import { datastoreBaseline } from '../shared/compare/baseline/datastore.ts';
import { runCell } from '../shared/compare/run.ts';
import { datastoreDriver } from '../shared/drivers/datastore.ts';
import { measured } from '../shared/drivers/measured.ts';
import { openStore } from '../shared/store/index.ts';
import { createCompareApp } from './compare.ts';
import { COMPARE_DEADLINES, functionConfig, parsedEnvironment, RECORDS_TIMEOUT_MAX_MS } from './config.ts';
import { frameworkFunction } from './functions-framework.ts';
import { closeOnSigterm, once } from './lifetime.ts';
import type { Log } from './log.ts';
import { logToStdout } from './log.ts';
import { createRecordsApp } from './records.ts';
import { datastoreUsage } from './usage.ts';

const config = functionConfig(process.env);
const env = parsedEnvironment(
  z.object({
    GOOGLE_CLOUD_PROJECT: z.string(),
    STOWAGE_DATABASE_ID: z.string().optional(),
    STOWAGE_NAMESPACE: z.string().optional(),
    /** `host:port` of an emulator; the SDK's own client reads it too. */
    DATASTORE_EMULATOR_HOST: z.string().optional(),
  }),
  process.env,
);
const place = {
  projectId: env.GOOGLE_CLOUD_PROJECT,
  ...(env.STOWAGE_DATABASE_ID === undefined ? {} : { databaseId: env.STOWAGE_DATABASE_ID }),
  ...(env.STOWAGE_NAMESPACE === undefined ? {} : { namespace: env.STOWAGE_NAMESPACE }),
};

const open = once(async () => {
  const where =
    env.DATASTORE_EMULATOR_HOST === undefined
      ? { auth: new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/datastore'] }) }
      : { endpoint: `http://${env.DATASTORE_EMULATOR_HOST}` };
  const { driver, counters } = measured(datastoreDriver({ ...place, ...where }));
  const store = openStore({ driver });
  closeOnSigterm(() => store.close());
  return { store, usage: () => datastoreUsage(counters) };
});
const baseline = once(async () => datastoreBaseline(place));

/** The app's line, tied to the trace that Cloud Logging shows it under. */
const log: Log = (line) => {
  const trace = /^[\da-f]{2}-([\da-f]{32})-/.exec(line.traceparent ?? '')?.[1];
  const extra = { 'logging.googleapis.com/trace': `projects/${place.projectId}/traces/${trace}` };
  logToStdout(line, trace === undefined ? {} : extra);
};

/** Records, batches, scans and tables. */
export const records = frameworkFunction(
  once(async () =>
    createRecordsApp({ ...config, timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS, log, store: async () => (await open()).store }),
  ),
);

/** Cells of the comparison, and their page. */
export const compare = frameworkFunction(
  once(async () => {
    const page = readFileSync(new URL('page/compare.html', import.meta.url), 'utf8');
    return createCompareApp({
      ...config,
      ...COMPARE_DEADLINES,
      log,
      page,
      runCell: async (request, signal) => {
        const { store, usage } = await open();
        const targets = { provider: 'datastore', baseline: await baseline(), store, storeUsage: usage } as const;
        return await runCell(request, targets, { signal });
      },
    });
  }),
);
