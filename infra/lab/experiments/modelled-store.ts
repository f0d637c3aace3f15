// This store on a modelled provider, in virtual time, on a processor that charges what the model's measured table says: packing thousands of
// records takes longer than sending them.
import type { ContainerCosts } from '../../../shared/lab/cloud/data/processor.ts';
import { chargedDriver } from '../../../shared/lab/cloud/instance/charged-driver.ts';
import { Processor } from '../../../shared/lab/cloud/instance/processor.ts';
import { PROCESSOR_DATA } from '../../../shared/lab/cloud/run/providers.ts';
import { loadHash } from '../../../shared/lab/cloud/run/datasets.ts';
import { InstanceRuntime } from '../../../shared/lab/cloud/instance/runtime.ts';
import { modelledDriver } from '../../../shared/lab/cloud/service/driver.ts';
import { ModelledService } from '../../../shared/lab/cloud/service/service.ts';
import { CHANCE, seedOf, sourceOf } from '../../../shared/lab/cloud/time/chance.ts';
import { Scheduler } from '../../../shared/lab/cloud/time/scheduler.ts';
import type { DocumentOptions } from '../../../shared/lab/plan/modelled/documents.ts';
import { type MemoryState, memoryState } from '../../../shared/drivers/memory.ts';
import { openStore, type Table, type TableOptions } from '../../../shared/store/index.ts';

/** More are a loop without an end. */
const STEPS_MAX = 100_000_000;

/** What the work calls, so often; of `getManyRecord` and `putManyRecord` how many records. */
export interface Called {
  readonly operation: keyof ContainerCosts['operation'];
  readonly count: number;
}

/** Milliseconds that a piece of work takes: the processor's part in its operations is spent first, that in its requests with each of them. */
export type Timed = (called: Called, work: () => Promise<unknown>) => Promise<number>;

export interface StoredTable {
  /** What the provider holds at first. Default: nothing. */
  readonly state?: MemoryState;
  readonly name: string;
  readonly options: Omit<TableOptions, 'codec'>;
}

/** Opens the table with the store's defaults and lets `play` use it. Rejects with what `play` rejects with. */
export async function onModelledStore<Value>(
  { parameters, seed }: DocumentOptions,
  { state = memoryState(), name, options }: StoredTable,
  play: (table: Table<Value>, timed: Timed) => Promise<void>,
): Promise<void> {
  await loadHash();
  const scheduler = new Scheduler(seedOf(seed, CHANCE.ties));
  const service = new ModelledService({ scheduler, parameters, seed: seedOf(seed, CHANCE.service) });
  const runtime = new InstanceRuntime(scheduler, sourceOf(seed, CHANCE.runtime));
  const processor = new Processor(scheduler);
  const costs = PROCESSOR_DATA.costs[parameters.data.provider].container;
  const timed: Timed = async ({ operation, count }, work) => {
    const startedMs = scheduler.nowMs;
    const cost = costs.operation[operation];
    await processor.spend(count * (typeof cost === 'number' ? cost : cost.alone));
    await work();
    return scheduler.nowMs - startedMs;
  };
  const run = async (): Promise<void> => {
    const driver = chargedDriver(modelledDriver(service, state), processor, costs);
    const store = openStore({ driver, runtime });
    await play(await store.table<Value>(name, options), timed);
  };
  await scheduler.run(run(), STEPS_MAX);
}
