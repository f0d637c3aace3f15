// The function `compare` on Google Cloud: a plain function exported by name, like `records`.
import { readFileSync } from 'node:fs';
import { datastoreBaseline } from '../../shared/compare/baseline/datastore.ts';
import { type CellTargets, removeDataset, runCell } from '../../shared/compare/cell/run.ts';
import { createCompareApp } from '../compare/app.ts';
import { COMPARE_DEADLINES } from '../instance/config.ts';
import { once } from '../instance/lifetime.ts';
import { processorTimes } from '../instance/processor.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, databaseOptions, log, open } from './instance.ts';

const baseline = once(async () => datastoreBaseline(databaseOptions));
const targets = async (): Promise<CellTargets> => {
  const { store, usage } = await open();
  return { provider: 'datastore', baseline: await baseline(), store, storeUsage: usage, processorTimes };
};

/** Cells of the comparison, and their page. */
export const compare = frameworkFunction(
  once(async () => {
    const page = readFileSync(new URL('../compare/page.html', import.meta.url), 'utf8');
    return createCompareApp({
      ...config,
      ...COMPARE_DEADLINES,
      log,
      page,
      runCell: async (request, signal) => await runCell(request, await targets(), { signal }),
      removeDataset: async (dataset, signal) => await removeDataset(dataset, await targets(), signal),
    });
  }),
);
