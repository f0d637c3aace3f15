// Runs a cell in virtual time: cold instances on a table, an uncounted warm-up, the window.
import { LOAD_RECORDS_PER_CALL } from '../../work/workloads.ts';
import { encodeHistogram, latenciesOf } from '../../kit/histogram.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../cost/operations.ts';
import { PRICES_2026_11 } from '../../cost/prices-2026-11.ts';
import { memoryState } from '../../../drivers/memory/effects.ts';
import { gapsOf } from '../../load/arrivals.ts';
import { type OpenDataset, openDataset } from '../../load/dataset.ts';
import { DRAIN_MS } from '../../load/phases.ts';
import type { CellTargets } from '../../load/targets.ts';
import { runPhases, type WindowResult } from '../../load/window.ts';
import type { Baseline } from '../../work/baseline.ts';
import type { Call, LayoutClient, Unit } from '../../work/layout-clients.ts';
import { type Operation, operationSource } from '../../work/operations.ts';
import { ProviderParameters } from '../data/parameters.ts';
import { Fleet } from '../instance/fleet.ts';
import type { Instance } from '../instance/instance.ts';
import { modelledDriver } from '../service/driver.ts';
import { plainState } from '../service/plain.ts';
import { ModelledCloud } from '../target.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { BudgetPhases } from './budget.ts';
import type { ModelCell, ModelResult } from './cell.ts';
import { type Dataset, datasetOf, TABLE } from './datasets.ts';
import { costsOf, PROVIDER_DATA } from './providers.ts';
import { Spent } from './spent.ts';

const PRICES = operationPriceList(PRICES_2026_11);
const STEPS_MAX = 1_000_000_000;

/** Deterministic. Rejects if the table cannot be prepared, or if nothing moves any more. */
export async function runCell(cell: ModelCell): Promise<ModelResult> {
  const { provider, settings, seed, load } = cell;
  const parameters = new ProviderParameters(PROVIDER_DATA[provider], settings);
  const cloud = new ModelledCloud({ parameters, seed, costs: costsOf(cell) });
  const { scheduler, service } = cloud;
  const dataset = await datasetIn(cloud, cell);
  const fleet = new Fleet(scheduler, cell.fleet);
  const clients = new Clients(cell, (instance) => cloud.targets(instance, dataset.state));
  const spent = new Spent(service.counters, fleet, clients);
  const phases = new BudgetPhases(scheduler, cell.window, spent);
  const callers = 'callers' in load ? load.callers : 0;
  const size = recordsPerCall(cell);
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
      return await sendAll(await clients.of(instance), operations);
    } finally {
      fleet.release(instance);
    }
  };
  const nextCall = (caller: number): Call => {
    if (size > 1) {
      const operations = Array.from({ length: size }, nextOperation);
      return [[{ records: size, send: () => send(caller, operations) }]];
    }
    const operations = [nextOperation()];
    const instance = fleet.fixed(caller);
    const client = instance === undefined ? undefined : clients.of(instance);
    // Nobody waits for an instance: nothing comes between the load and its client.
    if (client !== undefined && !(client instanceof Promise)) return client.call(operations);
    return [[{ records: 1, send: () => send(caller, operations) }]];
  };
  const window = runPhases(nextCall, {
    // Arrivals wait for nobody.
    callers: 'callers' in load ? callers : Infinity,
    gapMs: 'callers' in load ? null : gapsOf(load, sourceOf(seed, CHANCE.arrivals)),
    durationMs: cell.window.windowMs,
    drainMs: DRAIN_MS,
    signal: new AbortController().signal,
    runtime: cloud.loadRuntime(),
    ramp: undefined,
    phases,
  });
  await scheduler.run(window, STEPS_MAX);
  const containers = cell.layout === 'container' ? dataset.containers() : null;
  return resultOf(cell, { window: await window, spent, containers, parameters, steps: scheduler.steps });
}

function recordsPerCall({ workload }: ModelCell): number {
  return workload === 'load' ? LOAD_RECORDS_PER_CALL : 1;
}

/** The provider's data before the cell. */
async function datasetIn(
  { plain, service }: ModelledCloud,
  { layout, workload, records, recordBytes, seed, containerKib }: ModelCell,
): Promise<Pick<Dataset, 'state' | 'containers'> & Partial<Dataset>> {
  if (layout === 'container') {
    const { limits } = modelledDriver(service, memoryState());
    return datasetOf({ records, recordBytes, limits, containerKib, seed });
  }
  // All records are there, whoever asks: how many they are makes no difference to single entities.
  plain.set(TABLE, plainState(workload === 'load' ? undefined : (key) => key.length + recordBytes));
  return { state: memoryState(), containers: () => null };
}

/** Clients by instance, opened with its first operation: it comes up cold. */
class Clients {
  readonly #cell: ModelCell;
  readonly #targetsOf: (instance: Instance) => CellTargets;
  readonly #clients = new Map<Instance, LayoutClient | Promise<LayoutClient>>();
  readonly #open: OpenDataset[] = [];

  constructor(cell: ModelCell, targetsOf: (instance: Instance) => CellTargets) {
    this.#cell = cell;
    this.#targetsOf = targetsOf;
  }

  get splits(): number {
    return this.#open.reduce((sum, { storeCounters }) => sum + (storeCounters()?.splits ?? 0), 0);
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
    this.#open.push(open);
    return open.client;
  }
}

/** Sends one call of operations; its errors. */
async function sendAll(client: LayoutClient, operations: readonly Operation[]): Promise<readonly unknown[]> {
  let errors: readonly unknown[] = NO_ERRORS;
  for (const units of client.call(operations)) {
    const answers = units.length === 1 ? await units[0]!.send() : (await Promise.all(units.map(sent))).flat();
    if (answers.length > 0) errors = [...errors, ...answers];
  }
  return errors;
}

function sent(unit: Unit): Promise<readonly unknown[]> {
  return unit.send();
}

const NO_ERRORS: readonly unknown[] = [];

/** Every write reads the record first, and is refused if another was quicker. */
function conditional(baseline: Baseline): Baseline {
  const open: Baseline['open'] = async (dataset) => {
    const table = await baseline.open(dataset);
    return { ...table, replace: async (record) => void (await table.modify(record)) };
  };
  return { ...baseline, open };
}

interface Ended extends Pick<ModelResult, 'containers' | 'steps'> {
  readonly window: WindowResult;
  readonly spent: Spent;
  readonly parameters: ProviderParameters;
}

function resultOf(cell: ModelCell, { window, spent, parameters, ...ended }: Ended): ModelResult {
  const { billable, ...counters } = spent.counters;
  const { durationMs: windowMs, records: operations, warmup, errors, unfinished, byCaller } = window;
  const per = (count: number): number => (operations === 0 ? 0 : count / operations);
  const { meanMs, p50Ms, p95Ms, p99Ms, maxMs } = latenciesOf(window.histogram);
  const busy = spent.busyMs.map((ms) => ms / windowMs);
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
    p95Ms,
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
    instances: spent.busyMs.length,
    processorBusiest: Math.max(0, ...busy),
    processorMean: busy.reduce((sum, share) => sum + share, 0) / Math.max(1, busy.length),
    errors,
    warmupErrors: warmup.errors,
    unfinished,
    throttled: counters.throttled,
    contended: counters.contended,
    lost: counters.lost,
    timedOut: counters.timedOut,
    splits: spent.splits,
    parameters: parameters.used,
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
