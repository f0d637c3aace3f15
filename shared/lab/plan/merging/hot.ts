// A table that was hot.
import { type Dataset, TABLE } from '../../cloud/run/datasets.ts';
import { censusOf } from '../../cloud/tables/census.ts';
import { type Figures, HOUR_MS, type Stage, VACUUM } from './stage.ts';

/** Hot: 16 instances of 4 callers put for 8 s, and their containers split. Then an hour of quiet, and a vacuum. */
export async function hot(stage: Stage, dataset: Dataset): Promise<Figures> {
  const { world } = stage;
  const cold = censusOf(dataset.state).leaves;
  await stage.write(await world.openMany(16, dataset.state), dataset, { forMs: 8_000, thinkMs: 0 });
  const then = censusOf(dataset.state).leaves;
  await world.scheduler.after(HOUR_MS);
  const { store } = await world.open(dataset.state);
  const requests = await world.requestsOf(() => store.vacuum(TABLE, VACUUM));
  const after = censusOf(dataset.state).leaves;
  return [
    { figure: 'leaves of one never hot', value: cold },
    { figure: 'leaves while hot', value: then },
    { figure: 'leaves after the vacuum', value: after },
    { figure: 'leaves : one never hot', value: after / cold, goal: { atMost: 1.3 } },
    { figure: 'requests of the vacuum a leaf merged', value: requests / Math.max(1, then - after) },
  ];
}
