// Runs a cell in virtual time: cold instances on a table, an uncounted warm-up, the window.
import { recordsPerCall } from '../../work/workloads.ts';
import { encodeHistogram, latenciesOf } from '../../kit/histogram.ts';
import { sum } from '../../kit/numbers.ts';
import { increase } from '../../kit/usage.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../cost/operations.ts';
import { PRICES_2026_11 } from '../../cost/prices-2026-11.ts';
import { memoryState } from '../../../drivers/memory/effects.ts';
import { gapsOf } from '../../load/arrivals.ts';
import { openDataset } from '../../load/dataset.ts';
import { DRAIN_MS } from '../../load/phases.ts';
import type { DatasetTargets } from '../../load/targets.ts';
import { runPhases, type WindowResult } from '../../load/window.ts';
import type { Baseline } from '../../work/baseline.ts';
import { type Call, type LayoutClient, sendCall } from '../../work/layout-clients.ts';
import { type Operation, operationSource } from '../../work/operations.ts';
import { ProviderParameters } from '../data/parameters.ts';
import { Fleet } from '../instance/fleet.ts';
import type { Instance } from '../instance/instance.ts';
import { modelledDriver } from '../service/driver.ts';
import type { ServiceCounters } from '../service/counters.ts';
import { plainState } from '../service/plain.ts';
import { ModelledCloud } from '../target.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { BudgetPhases } from './budget.ts';
import type { ModelCell, ModelResult } from './cell.ts';
import { type Dataset, datasetOf, TABLE } from './datasets.ts';
import { PROCESSOR_DATA, PROVIDER_DATA } from './providers.ts';

const PRICES = operationPriceList(PRICES_2026_11);
const STEPS_MAX = 1_000_000_000;

/** Deterministic. Rejects if the table cannot be prepared, or if nothing moves any more. */
export async function runCell(cell: ModelCell): Promise<ModelResult> {
  const { provider, settings, seed, load } = cell;
  const parameters = new ProviderParameters(PROVIDER_DATA[provider], settings);
  const costs = cell.hasProcessor ? PROCESSOR_DATA.costs[provider] : undefined;
  const cloud = new ModelledCloud(parameters, seed, costs);
  const { scheduler, service } = cloud;
  const dataset = await datasetIn(cloud, cell);
  const fleet = new Fleet(scheduler, cell.fleet);
  const clients = new Clients(cell, (instance) => cloud.targets(instance, dataset.state));
  const phases = new BudgetPhases(scheduler, cell.window, (): Mark => ({
    counters: structuredClone(service.counters),
    busyMs: fleet.instances.map(({ processor }) => processor.busyMs),
  }));
  const size = recordsPerCall(cell.workload);
  const nextOperation = operationSource({
    ...cell,
    recordForm: 'text',
    drawSeed: seed,
    insertFrom: cell.records,
    part: { index: 0 },
    keyOf: dataset.keyOf,
  });
  const send = async (caller: number, operations: readonly Operation[]): Promise<readonly unknown[]> => {
    const instance = await fleet.take(caller);
    try {
      return await sendCall(await clients.of(instance), operations);
    } finally {
      fleet.release(instance);
    }
  };
  const nextCall = (caller: number): Call => {
    const operations = Array.from({ length: size }, nextOperation);
    const instance = size === 1 ? fleet.fixed(caller) : undefined;
    const client = instance && clients.of(instance);
    // Nobody waits for an instance: nothing comes between the load and its client.
    if (client !== undefined && !(client instanceof Promise)) return client.call(operations);
    return [[{ records: size, send: () => send(caller, operations) }]];
  };
  const window = runPhases(nextCall, {
    // Arrivals wait for nobody.
    callers: 'callers' in load ? load.callers : Infinity,
    gapMs: 'callers' in load ? null : gapsOf(load, sourceOf(seed, CHANCE.arrivals)),
    drainMs: DRAIN_MS,
    signal: new AbortController().signal,
    runtime: cloud.loadRuntime(),
    phases,
  });
  await scheduler.run(window, STEPS_MAX);
  const containers = cell.layout === 'container' ? dataset.containers() : null;
  return resultOf(cell, await window, phases.marks, {
    containers,
    parameters: parameters.used,
    steps: scheduler.steps,
  });
}

async function datasetIn(
  { plain, service }: ModelledCloud,
  cell: ModelCell,
): Promise<Pick<Dataset, 'state' | 'containers'> & Partial<Dataset>> {
  if (cell.layout === 'container') return datasetOf(cell, modelledDriver(service, memoryState()).limits);
  // All records are there, whoever asks: how many they are makes no difference to single entities.
  plain.set(TABLE, plainState(cell.workload === 'load' ? undefined : (key) => key.length + cell.recordBytes));
  return { state: memoryState(), containers: () => null };
}

/** Clients by instance, opened with its first operation: it comes up cold. */
class Clients {
  readonly #cell: ModelCell;
  readonly #targetsOf: (instance: Instance) => DatasetTargets;
  readonly #clients = new Map<Instance, LayoutClient | Promise<LayoutClient>>();

  constructor(cell: ModelCell, targetsOf: (instance: Instance) => DatasetTargets) {
    this.#cell = cell;
    this.#targetsOf = targetsOf;
  }

  of(instance: Instance): LayoutClient | Promise<LayoutClient> {
    return this.#clients.get(instance) ?? this.#openOn(instance);
  }

  #openOn(instance: Instance): Promise<LayoutClient> {
    const opening = this.#opened(instance);
    this.#clients.set(instance, opening);
    opening.then(
      (client) => this.#clients.set(instance, client),
      // The next operation tries again.
      () => this.#clients.delete(instance),
    );
    return opening;
  }

  async #opened(instance: Instance): Promise<LayoutClient> {
    const { layout, containerKib } = this.#cell;
    const targets = this.#targetsOf(instance);
    const isConditional = layout === 'conditional';
    const open = await openDataset(
      { layout: isConditional ? 'record' : layout, dataset: TABLE, containerKib },
      isConditional ? { ...targets, baseline: conditional(targets.baseline) } : targets,
      new AbortController().signal,
    );
    return open.client;
  }
}

/** Every write reads the record first, and is refused if another was quicker. */
function conditional(baseline: Baseline): Baseline {
  const open: Baseline['open'] = async (dataset) => {
    const table = await baseline.open(dataset);
    return { ...table, replace: async (record) => void (await table.modify(record)) };
  };
  return { ...baseline, open };
}

/** Running totals, at the window's opening and at its closing. */
interface Mark {
  readonly counters: ServiceCounters;
  /** Milliseconds that each instance's processor worked. */
  readonly busyMs: readonly number[];
}

function resultOf(
  cell: ModelCell,
  window: WindowResult,
  [before, after]: readonly Mark[],
  ended: Pick<ModelResult, 'containers' | 'parameters' | 'steps'>,
): ModelResult {
  if (before === undefined || after === undefined) throw new Error('the window was never closed');
  const { billable, ...counters } = increase(before.counters, after.counters);
  const { durationMs: windowMs, records: operations, warmup, errors, unfinished, byCaller } = window;
  const per = (count: number): number => (operations === 0 ? 0 : count / operations);
  const { meanMs, p50Ms, p99Ms, maxMs } = latenciesOf(window.histogram);
  const busy = after.busyMs.map((ms, at) => (ms - (before.busyMs[at] ?? 0)) / windowMs);
  const prices = PRICES.providers[cell.provider];
  return {
    cell,
    warmupMs: warmup.durationMs,
    windowMs,
    operations,
    operationsPerSecond: operations / (windowMs / 1_000),
    meanMs,
    underWay: window.underWayMs / windowMs,
    timed: window.histogram.totalCount,
    p50Ms,
    p99Ms,
    maxMs,
    histogram: encodeHistogram(window.histogram),
    requestsPerOperation: per(counters.requests),
    billedPerOperation: per(billable.reads + billable.writes + billable.deletes),
    conflictsPerOperation: per(counters.conflicts),
    dollarsPerMillion: operations === 0 ? 0 : dollarsPerMillionRecords(billable, operations, prices),
    bytesReadPerOperation: per(counters.bytesRead),
    bytesWrittenPerOperation: per(counters.bytesWritten),
    slowestCaller: slowestCallerOf(byCaller),
    instances: busy.length,
    processorBusiest: Math.max(0, ...busy),
    processorMean: sum(busy) / Math.max(1, busy.length),
    errors,
    warmupErrors: warmup.errors,
    unfinished,
    throttled: counters.throttled,
    contended: counters.contended,
    ...ended,
  };
}

/** With fewer operations a caller on average, which caller is the slowest is chance. */
const OPERATIONS_OF_CALLER_MIN = 10;

/** 1 if all get as much. Null without callers, or with a mean below 10 operations. */
export function slowestCallerOf(byCaller: Uint32Array): number | null {
  let sum = 0;
  let least = Infinity;
  for (const count of byCaller) {
    sum += count;
    least = Math.min(least, count);
  }
  const mean = sum / byCaller.length;
  return mean >= OPERATIONS_OF_CALLER_MIN ? least / mean : null;
}
