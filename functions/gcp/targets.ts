// Where cells run on Google Cloud: for the function `compare`, and for parts of a comparison.
import { datastoreBaseline } from '../../shared/compare/baseline/datastore.ts';
import type { CellTargets } from '../../shared/compare/cell/targets.ts';
import { instance, placeOf } from '../compare/place.ts';
import { once } from '../instance/lifetime.ts';
import { databaseOptions, open } from './instance.ts';
import { googleFacts } from './platform.ts';

/** `entryUrl`: of the entry's module. Made at the first use. */
export const targetsOf = (entryUrl: string): (() => Promise<CellTargets>) =>
  once(async () => ({
    provider: 'datastore',
    baseline: datastoreBaseline(databaseOptions),
    openStore: open,
    place: placeOf(await googleFacts(process.env), entryUrl),
    instance,
  }));
