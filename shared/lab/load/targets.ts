// What a cell needs from the function that runs it.
import type { Store } from '../../store/index.ts';
import type { Baseline } from '../work/baseline.ts';
import type { Usage } from '../kit/provider-usage.ts';
import type { Place } from './instance-place.ts';
import type { ProcessorTimes } from './processor-shares.ts';

/** This store, and running totals of what its driver spends. */
export interface ContainerStore {
  readonly store: Store;
  readonly usage: () => Usage;
}

/** The places of datasets. Their maker closes them. */
export interface DatasetTargets {
  /** For the layouts `record` and `batch`. */
  readonly baseline: Baseline;
  /** For the layouts of containers, over this transport; gives the same one each time. */
  readonly openStore: (transport: 'own' | 'sdk') => Promise<ContainerStore>;
}

export interface CellTargets extends DatasetTargets {
  readonly place: Place;
  /** The instance's process as it stands now. */
  readonly instance: {
    /** True until the first cell of this process has been asked for; asking ends it. */
    takeCold(): boolean;
    uptimeMs(): number;
    memoryBytes(): number;
    /** Processor time of the process so far, user and system, all threads, in microseconds. */
    processorUs(): number;
    /** The thread and machine that the cell runs on; undefined if the system does not tell. */
    processorTimes(): ProcessorTimes | undefined;
  };
}
