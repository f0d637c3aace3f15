// Exported by name: a bundled copy of the framework's `http()` has a registry that nobody reads.
import { RECORDS_TIMEOUT_MAX_MS } from '../instance/config.ts';
import { createRecordsApp } from '../records/records-app.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, log, usersStore } from './instance.ts';

/** Records, batches, scans and tables. */
export const records = frameworkFunction(
  createRecordsApp({ ...config, timeoutMaxMs: RECORDS_TIMEOUT_MAX_MS, log, store: usersStore }),
);
