// One modelled provider with one table, and instances that come and go: what the stories of merging are played on.
import type { Provider } from '../../kit/dimensions.ts';
import type { MemoryState } from '../../../drivers/memory/effects.ts';
import type { Order, Store, Table } from '../../../store/index.ts';
import { ProviderParameters } from '../../cloud/data/parameters.ts';
import { Instance } from '../../cloud/instance/instance.ts';
import { loadHash, TABLE } from '../../cloud/run/datasets.ts';
import { PROVIDER_DATA, PROCESSOR_DATA } from '../../cloud/run/providers.ts';
import { ModelledCloud } from '../../cloud/target.ts';
import type { RecordFields } from '../../work/records.ts';

const STEPS_MAX = 1_000_000_000;

export interface OpenTable {
  readonly store: Store;
  readonly table: Table<RecordFields>;
}

export class MergingWorld extends ModelledCloud {
  #instances = 0;

  constructor(provider: Provider, seed: number) {
    const parameters = new ProviderParameters(PROVIDER_DATA[provider]);
    super({ parameters, seed, costs: PROCESSOR_DATA.costs[provider] });
  }

  /** Lets virtual time pass until the work ends. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await loadHash();
    const result = work();
    await this.scheduler.run(result, STEPS_MAX);
    return result;
  }

  /** A cold instance with the table open. */
  async open(state: MemoryState, order: Order = 'key'): Promise<OpenTable> {
    this.#instances += 1;
    const store = this.openStore(new Instance(this.#instances, this.scheduler, 0), state);
    return { store, table: await store.table<RecordFields>(TABLE, { order }) };
  }

  openMany(count: number, state: MemoryState): Promise<OpenTable[]> {
    return Promise.all(Array.from({ length: count }, () => this.open(state)));
  }

  /** Requests that the work sends. */
  async requestsOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.service.counters.requests;
    await work();
    return this.service.counters.requests - before;
  }
}
