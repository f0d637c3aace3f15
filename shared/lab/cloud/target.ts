// A modelled cloud where a cell runs: one provider in virtual time, and its instances.
import type { MemoryState } from '../../drivers/memory/effects.ts';
import { type Driver, openStore, type Runtime, type Store, type Table } from '../../store/index.ts';
import type { Place } from '../load/place.ts';
import type { CellTargets } from '../load/targets.ts';
import type { ProviderParameters } from './data/parameters.ts';
import { type ContainerCosts, type Cost, costAt, type ProcessorCosts } from './data/processor.ts';
import { modelledBaseline, usageOf } from './instance/baseline.ts';
import { overridden } from './instance/charged.ts';
import { chargedDriver } from './instance/charged-driver.ts';
import type { Instance } from './instance/instance.ts';
import { InstanceRuntime } from './instance/runtime.ts';
import { modelledDriver } from './service/driver.ts';
import type { PlainState } from './service/plain.ts';
import { ModelledService } from './service/service.ts';
import { CHANCE, seedOf, sourceOf } from './time/chance.ts';
import { Scheduler } from './time/scheduler.ts';

/** A caller whose calls fail at once would never let time pass. */
const TURN_MS = 1;

export interface CloudOptions {
  readonly parameters: ProviderParameters;
  /** Seed of everything random. */
  readonly seed: number;
  /** Undefined: the instances' processors cost nothing. */
  readonly costs: ProcessorCosts | undefined;
}

export class ModelledCloud {
  readonly scheduler: Scheduler;
  readonly service: ModelledService;
  /** The kinds or tables of plain records, by dataset. */
  readonly plain = new Map<string, PlainState>();
  readonly #options: CloudOptions;

  constructor(options: CloudOptions) {
    const { parameters, seed } = options;
    this.#options = options;
    this.scheduler = new Scheduler(seedOf(seed, CHANCE.ties));
    this.service = new ModelledService({
      scheduler: this.scheduler,
      parameters,
      seed: seedOf(seed, CHANCE.service),
    });
  }

  /** A load's runtime: the clocks of this cloud, and a turn of a millisecond. */
  loadRuntime(): Runtime {
    return new LoadRuntime(this.scheduler, sourceOf(this.#options.seed, CHANCE.arrivals));
  }

  /** Cold, over what the provider holds; its requests cost the instance's processor. */
  openStore(instance: Instance, state: MemoryState, driver = this.#driver(instance, state)): Store {
    const random = sourceOf(this.#options.seed, CHANCE.runtime, instance.number);
    return openStore({ driver, runtime: new InstanceRuntime(this.scheduler, random, instance.processor) });
  }

  #driver({ processor }: Instance, state: MemoryState): Driver {
    const { costs } = this.#options;
    const near = modelledDriver(this.service, state);
    return costs === undefined ? near : chargedDriver(near, processor, costs.container);
  }

  /** The instance, its baseline and its store, whose operations cost its processor. */
  targets(instance: Instance, state: MemoryState): CellTargets {
    const { parameters, costs } = this.#options;
    const { provider } = parameters.data;
    const { service, scheduler } = this;
    const driver = this.#driver(instance, state);
    const opened = this.openStore(instance, state, driver);
    const store = costs === undefined ? opened : chargedStore(opened, instance, costs.container);
    let isCold = true;
    return {
      provider,
      baseline: modelledBaseline({ service, instance, states: this.plain, costs }),
      openStore: async () => ({ store, driver, usage: () => usageOf(service.counters) }),
      place: placeOf(parameters, instance),
      instance: {
        takeCold: () => {
          const wasCold = isCold;
          isCold = false;
          return wasCold;
        },
        uptimeMs: () => scheduler.nowMs - instance.readyAtMs,
        memoryBytes: () => MEMORY_BYTES,
        processorTimes: () => ({
          ranMs: instance.processor.busyMs,
          waitedMs: 0,
          machineMs: scheduler.nowMs,
          stolenMs: 0,
        }),
      },
    };
  }
}

class LoadRuntime extends InstanceRuntime {
  override nextTurn(): Promise<void> {
    return this.watch(TURN_MS);
  }
}

/** Not modelled; a place has to have some. */
const MEMORY_BYTES = 1;

function placeOf({ data }: ProviderParameters, { number }: Instance): Place {
  return {
    provider: data.provider,
    platform: 'local',
    backend: `MODEL ${data.name}`,
    isEmulator: true,
    region: null,
    instanceId: `modelled-${number}`,
    memoryBytes: null,
    processors: 1,
    processorModel: 'modelled',
    system: 'virtual time',
    runtime: 'modelled',
    versions: {},
    commit: null,
  };
}

function chargedStore(store: Store, instance: Instance, costs: ContainerCosts): Store {
  const table = async (...asked: Parameters<Store['table']>): Promise<Table<unknown>> =>
    chargedTable(await store.table(...asked), instance, costs);
  return overridden(store, { table: table as Store['table'] });
}

function each(cost: number, count: number): Cost {
  return { alone: cost * count, busy: cost * count };
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
    getMany: (keys, options) => charged(each(operation.getManyRecord, keys.length), () => table.getMany(keys, options)),
    putMany: (items, options) =>
      charged(each(operation.putManyRecord, items.length), () => table.putMany(items, options)),
  });
}
