// Opens the stores that a comparison measures, tells their usage from their drivers' counters, and
// runs the cells on targets that are made at the first request.
import { type DriverCounters, measured } from '../../shared/drivers/measured.ts';
import { billableOf } from '../../shared/lab/cost/prices.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import type { Usage } from '../../shared/lab/kit/provider-usage.ts';
import { prepareDataset, removeDataset } from '../../shared/lab/load/dataset.ts';
import { runCell } from '../../shared/lab/load/run-cell.ts';
import type { CellTargets, ContainerStore, DatasetTargets } from '../../shared/lab/load/targets.ts';
import { type Driver, openStore } from '../../shared/store/index.ts';
import { once } from '../instance/lifetime.ts';
import type { CompareAppOptions } from './compare-app.ts';

type Transport = Parameters<DatasetTargets['openStore']>[0];

/** A store for each transport, opened once. Calls `onOpened` with the function that closes it. */
export function measuredStores(
  provider: Provider,
  driverOver: (transport: Transport) => Promise<Driver>,
  onOpened: (close: () => Promise<void>) => void,
): DatasetTargets['openStore'] {
  const over = (transport: Transport) =>
    once(async (): Promise<ContainerStore> => {
      const { driver, counters } = measured(await driverOver(transport));
      const store = openStore({ driver });
      onOpened(() => store.close());
      return { store, usage: () => storeUsage(provider, counters) };
    });
  const stores = { own: over('own'), sdk: over('sdk') };
  return async (transport) => await stores[transport]();
}

/** There are no retries to add, as each repeated read is a request and no write is repeated. */
export function storeUsage(provider: Provider, counters: DriverCounters): Usage {
  const { requests, billable } = billableOf(provider, counters);
  const { bytesWritten, bytesRead, refusedCondition: conflicts } = counters;
  return { requests, retries: {}, conflicts, billable: { ...billable }, bytesWritten, bytesRead };
}

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
