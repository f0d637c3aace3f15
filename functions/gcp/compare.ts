// The function `compare` on Google Cloud, exported by name like `records`.
import { datastoreBaseline } from '../../shared/lab/sdk/datastore-baseline.ts';
import { COMPARISON } from '../../shared/lab/work/baseline.ts';
import type { CellTargets } from '../../shared/lab/load/targets.ts';
import { createCompareApp } from '../compare/compare-app.ts';
import { cellsOn, measuredStores } from '../compare/process-usage.ts';
import { examineOver } from '../compare/doctor.ts';
import { readLivePage } from '../compare/live-page.ts';
import { instance, placeOf } from '../compare/where-it-runs.ts';
import { COMPARE_DEADLINES } from '../instance/config.ts';
import { closeOnSigterm, once } from '../instance/lifetime.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, databaseOptions, driverIn, log } from './instance.ts';
import { googleFacts } from './platform.ts';

/** Made at the first cell. */
const targets = once(async (): Promise<CellTargets> => ({
  baseline: datastoreBaseline(databaseOptions),
  openStore: measuredStores('datastore', (transport) => driverIn(COMPARISON, transport), closeOnSigterm),
  place: placeOf(await googleFacts(process.env), import.meta.url),
  instance,
}));

/** Cells of the comparison, and their page. */
export const compare = frameworkFunction(
  createCompareApp({
    ...config,
    ...COMPARE_DEADLINES,
    log,
    page: readLivePage(import.meta.url),
    examine: examineOver((transport) => driverIn(COMPARISON, transport), false),
    ...cellsOn(targets),
  }),
);
