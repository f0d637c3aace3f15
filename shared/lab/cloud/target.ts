// A modelled cloud where a cell runs: one provider in virtual time, and its instances.
import type { MemoryState } from '../../drivers/memory/effects.ts';
import { openStore, type Runtime, type Store, type Table } from '../../store/index.ts';
import type { DatasetTargets } from '../load/targets.ts';
import type { ProviderParameters } from './data/parameters.ts';
import { type ContainerCosts, type Cost, costAt, flat, type ProcessorCosts } from './data/processor.ts';
import { modelledBaseline, usageOf } from './instance/baseline.ts';
import { overridden } from './instance/charged.ts';
import { chargedDriver } from './instance/charged-driver.ts';
import type { Instance } from './instance/instance.ts';
import { InstanceRuntime, LoadRuntime } from './instance/runtime.ts';
import { modelledDriver } from './service/driver.ts';
import type { PlainState } from './service/plain.ts';
import { ModelledService } from './service/service.ts';
import { CHANCE, seedOf, sourceOf } from './time/chance.ts';
import { Scheduler } from '../kit/scheduler.ts';

export class ModelledCloud {
  readonly scheduler: Scheduler;
  readonly service: ModelledService;
  /** The kinds or tables of plain records, by dataset. */
  readonly plain = new Map<string, PlainState>();
  readonly #seed: number;
  readonly #costs: ProcessorCosts | undefined;

  /** `seed`: of everything random. Without `costs` the instances' processors cost nothing. */
  constructor(parameters: ProviderParameters, seed: number, costs: ProcessorCosts | undefined) {
    this.#seed = seed;
    this.#costs = costs;
    this.scheduler = new Scheduler(seedOf(seed, CHANCE.ties));
    this.service = new ModelledService(this.scheduler, parameters, seedOf(seed, CHANCE.service));
  }

  /** A load's runtime: the clocks of this cloud, and a turn of a millisecond. */
  loadRuntime(): Runtime {
    return new LoadRuntime(this.scheduler, sourceOf(this.#seed, CHANCE.arrivals));
  }

  /** The instance's baseline, and its cold store over `state`. Both cost its processor. */
  targets(instance: Instance, state: MemoryState): DatasetTargets {
    const { service, scheduler } = this;
    const costs = this.#costs;
    const near = modelledDriver(service, state);
    const driver = costs === undefined ? near : chargedDriver(near, instance.processor, costs.container);
    const random = sourceOf(this.#seed, CHANCE.runtime, instance.number);
    const opened = openStore({ driver, runtime: new InstanceRuntime(scheduler, random, instance.processor) });
    const store = costs === undefined ? opened : chargedStore(opened, instance, costs.container);
    return {
      baseline: modelledBaseline(service, instance, this.plain, costs),
      openStore: async () => ({ store, driver, usage: () => usageOf(service.counters) }),
    };
  }
}

function chargedStore(store: Store, instance: Instance, costs: ContainerCosts): Store {
  const table = async (...asked: Parameters<Store['table']>): Promise<Table<unknown>> =>
    chargedTable(await store.table(...asked), instance, costs);
  return overridden(store, { table: table as Store['table'] });
}

function each(cost: number, { length }: readonly unknown[]): Cost {
  return flat(cost * length);
}

/** Charges the engine's part when called; charged-driver.ts charges the requests. */
function chargedTable<V>(table: Table<V>, instance: Instance, { operation }: ContainerCosts): Table<V> {
  const charged = async <T>(cost: Cost, call: () => Promise<T>): Promise<T> => {
    instance.inFlight += 1;
    try {
      await instance.processor.spend(costAt(cost, instance.inFlight));
      return await call();
    } finally {
      instance.inFlight -= 1;
    }
  };
  return overridden(table, {
    get: (...asked) => charged(operation.get, () => table.get(...asked)),
    put: (...asked) => charged(operation.put, () => table.put(...asked)),
    update: (...asked) => charged(operation.update, () => table.update(...asked)),
    getMany: (keys, options) => charged(each(operation.getManyRecord, keys), () => table.getMany(keys, options)),
    putMany: (items, options) => charged(each(operation.putManyRecord, items), () => table.putMany(items, options)),
  });
}
