// What merging is to reach, as stories that are played on a modelled provider: a table that was hot, one that was emptied, one that is written while a vacuum
// merges, and one that breathes. Each tells its figures, and the goals that they are held against.
import type { Provider } from '../../kit/dimensions.ts';
import type { Dataset } from '../../cloud/run/datasets.ts';
import { besideVacuum } from './beside.ts';
import { breathing } from './breathing.ts';
import { emptied } from './emptied.ts';
import { hot } from './hot.ts';
import { type Figures, type MergingFigure, Stage } from './stage.ts';

/** All stories on one provider, one after the other; the same seed gives the same figures. `cycles`: of the table that breathes, an hour each. */
export async function* mergingStories(provider: Provider, seed: number, cycles: number): AsyncGenerator<MergingFigure> {
  const newStage = () => new Stage(provider, seed);
  const told = (story: string, figures: Figures) => figures.map((figure) => ({ provider, story, ...figure }));
  const play = async (tell: (stage: Stage, dataset: Dataset) => Promise<Figures>): Promise<Figures> => {
    const stage = newStage();
    // Loading it takes virtual time of its own.
    const dataset = await stage.dataset();
    return stage.world.run(() => tell(stage, dataset));
  };
  yield* told('hot, then quiet for an hour', await play(hot));
  for (const order of ['key', 'hash'] as const) {
    for (const way of ['deleted', 'expired'] as const)
      yield* told(`99 % ${way}, order ${order}`, await play((stage) => emptied(stage, order, way)));
  }
  yield* told('written and scanned beside a vacuum', await besideVacuum(newStage));
  yield* told('breathing, an hour a cycle', await play((stage, dataset) => breathing(stage, dataset, cycles)));
}
