// One modelled provider with one table, and instances that come and go: what the stories of merging are played on.
import type { Provider } from '../../kit/dimensions.ts';
import type { MemoryState } from '../../../drivers/memory/effects.ts';
import { openStore, type Order, type Store, type Table } from '../../../store/index.ts';
import { ProviderParameters } from '../../cloud/data/parameters.ts';
import { chargedDriver } from '../../cloud/instance/charged-driver.ts';
import { Instance } from '../../cloud/instance/instance.ts';
import { InstanceRuntime } from '../../cloud/instance/runtime.ts';
import { loadHash, TABLE } from '../../cloud/run/datasets.ts';
import { dataOf, PROCESSOR_DATA } from '../../cloud/run/providers.ts';
import { modelledDriver } from '../../cloud/service/driver.ts';
import { ModelledService } from '../../cloud/service/service.ts';
import { CHANCE, seedOf, sourceOf } from '../../cloud/time/chance.ts';
import { Scheduler } from '../../cloud/time/scheduler.ts';

const STEPS_MAX = 1_000_000_000;

export interface OpenTable {
  readonly store: Store;
  readonly table: Table<Uint8Array>;
}

export class MergingWorld {
  readonly scheduler: Scheduler;
  readonly service: ModelledService;
  readonly #provider: Provider;
  readonly #seed: number;
  #instances = 0;

  constructor(provider: Provider, seed: number) {
    this.#provider = provider;
    this.#seed = seed;
    this.scheduler = new Scheduler(seedOf(seed, CHANCE.ties));
    const parameters = new ProviderParameters(dataOf(provider), {});
    this.service = new ModelledService({ scheduler: this.scheduler, parameters, seed: seedOf(seed, CHANCE.service) });
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
    const { processor } = new Instance(this.#instances, this.scheduler, 0);
    const runtime = new InstanceRuntime(
      this.scheduler,
      sourceOf(this.#seed, CHANCE.runtime, this.#instances),
      processor,
    );
    const costs = PROCESSOR_DATA.costs[this.#provider].container;
    const driver = chargedDriver(modelledDriver(this.service, state), processor, costs);
    const store = openStore({ driver, runtime });
    return { store, table: await store.table(TABLE, { order, codec: 'bytes' }) };
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
