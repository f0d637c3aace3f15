// The three functions' apps in this process, on a store in memory.
import type { App, FrameOptions } from '../../functions/http/http-app.ts';
import type { CompareAppOptions } from '../../functions/compare/compare-app.ts';
import { createRecordsApp } from '../../functions/records/records-app.ts';
import { createVacuumApp } from '../../functions/vacuum/vacuum-app.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../shared/store/index.ts';
import { fakeCompareApp } from './compare/fake-app.ts';

/** Without options: everybody may do everything, and nothing is logged. */
export function appsOn(
  options: Partial<FrameOptions & CompareAppOptions>,
  store: Store = openStore({ driver: memoryDriver() }),
): Readonly<Record<'records' | 'compare' | 'vacuum', App>> {
  const all = { auth: { mode: 'none' }, timeoutMs: 20_000, timeoutMaxMs: 60_000, log: () => {}, ...options } as const;
  return {
    records: createRecordsApp({ ...all, store: async () => store }),
    compare: fakeCompareApp('datastore', '', all),
    vacuum: createVacuumApp({ ...all, store: async () => store, print: () => {} }),
  };
}
