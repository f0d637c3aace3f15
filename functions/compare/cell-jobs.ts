// Runs the cells of the function `compare` on targets that are made at the first request.
import { prepareDataset, removeDataset } from '../../shared/lab/load/dataset.ts';
import { runCell } from '../../shared/lab/load/run-cell.ts';
import type { CellTargets } from '../../shared/lab/load/targets.ts';
import type { CompareAppOptions } from './compare-app.ts';

export function cellsOn(
  targets: () => Promise<CellTargets>,
): Pick<CompareAppOptions, 'place' | 'runCell' | 'prepareDataset' | 'removeDataset'> {
  return {
    place: async () => (await targets()).place,
    prepareDataset: async (request, signal) => await prepareDataset(request, await targets(), { signal }),
    runCell: async (request, signal) => await runCell(request, await targets(), { signal }),
    removeDataset: async (dataset, signal) => await removeDataset(dataset, await targets(), signal),
  };
}
