// Exported by name: the framework's `http()` from a bundle would fill a registry that nobody reads.
import { RECORDS_TIMEOUT_MAX_MS } from '../instance/config.ts';
import { createRecordsApp } from '../records/records-app.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, log, usersStore } from './instance.ts';

/** Records, batches, scans and tables. */
export const records = frameworkFunction(
  createRecordsApp({ ...config, timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS, log, store: usersStore }),
);
