// Runs one cell in virtual time.
import { encodeHistogram, latenciesOf } from '../../compare/cell/histogram.ts';
import { keyOf, tenantOf } from '../../compare/data/keys.ts';
import { dollarsPerMillionRecords } from '../../compare/report/prices.ts';
import { PRICES_2026_11 } from '../../compare/report/prices-2026-11.ts';
import { type MemoryState } from '../../drivers/memory.ts';
import { type Driver, openStore, type Table } from '../../store/index.ts';
import { calmProvider } from '../data/calm.ts';
import { ProviderParameters } from '../data/parameters.ts';
import { Fleet } from '../instance/fleet.ts';
import type { Instance } from '../instance/instance.ts';
import { InstanceRuntime } from '../instance/runtime.ts';
import type { ServiceCounters } from '../service/counters.ts';
import { modelledDriver } from '../service/driver.ts';
import { PlainTable, plainState } from '../service/plain.ts';
import { ModelledService } from '../service/service.ts';
import { CHANCE, seedOf, sourceOf } from '../time/chance.ts';
import { Scheduler } from '../time/scheduler.ts';
import { type Client, containerClient, plainClient } from '../work/clients.ts';
import { closedLoop, openLoop } from '../work/loops.ts';
import { LOAD_RECORDS_PER_CALL, operationSource } from '../work/operations.ts';
import { valueSource } from '../work/values.ts';
import { Window } from '../work/window.ts';
import type { ModelCell, ModelResult } from './cell.ts';
import { datasetOf, TABLE } from './datasets.ts';

const STEPS_MAX = 1_000_000_000;
const DRAIN_MS = 60_000;

export async function runCell(cell: ModelCell): Promise<ModelResult> {
  const scheduler = new Scheduler(seedOf(cell.seed, 0));
  const parameters = new ProviderParameters(calmProvider(cell.provider), cell.settings);
  const service = new ModelledService({ scheduler, parameters, seed: seedOf(cell.seed, CHANCE.service) });
  const fleet = new Fleet(scheduler, cell.fleet);
  const clients = await clientsOf(cell, service);
  const spent = new Spent(service.counters, fleet, clients);
  const callers = 'callers' in cell.load ? cell.load.callers : 0;
  const window = new Window(scheduler, callers, cell.window, spent);
  const nextOperation = operationSource(cell);
  const loop = {
    scheduler,
    fleet,
    window,
    nextOperation,
    call: async (instance: Instance, operation: ReturnType<typeof nextOperation>) =>
      (await clients.of(instance))(operation),
  };
  const work =
    'callers' in cell.load
      ? closedLoop(loop, cell.load.callers)
      : openLoop(loop, cell.load, sourceOf(cell.seed, CHANCE.arrivals));
  const { windowMs, warmupMs } = cell.window;
  await scheduler.run(Promise.race([work, scheduler.after(warmupMs + windowMs + DRAIN_MS)]), STEPS_MAX);
  return resultOf(cell, { scheduler, window, spent, clients, parameters });
}

/** One client an instance, made when the instance has its first operation. */
interface Clients {
  of(instance: Instance): Client | Promise<Client>;
  tables(): readonly Table<Uint8Array>[];
  /** Containers that are there; null for plain layouts. */
  containers(): number | null;
}

async function clientsOf(cell: ModelCell, service: ModelledService): Promise<Clients> {
  return cell.layout === 'container' ? containerClients(cell, service) : plainClients(cell, cell.layout, service);
}

function plainClients(
  { recordBytes, workload }: ModelCell,
  layout: Exclude<ModelCell['layout'], 'container'>,
  service: ModelledService,
): Clients {
  const isLoad = workload === 'load';
  const state = plainState(isLoad ? undefined : () => recordBytes + keyOf(0).length);
  const table = new PlainTable(service, state, tenantOf);
  const clients = new Map<Instance, Client>();
  return {
    of: (instance) => {
      const known = clients.get(instance);
      if (known !== undefined) return known;
      const client = plainClient({ layout, table, instance, recordBytes });
      clients.set(instance, client);
      return client;
    },
    tables: () => [],
    containers: () => null,
  };
}

async function containerClients(cell: ModelCell, service: ModelledService): Promise<Clients> {
  const { records, recordBytes, seed, containerBytesMax } = cell;
  const limits = limited(modelledDriver(service, { entities: new Map(), versionCount: 0 }), containerBytesMax).limits;
  const state: MemoryState = await datasetOf({ records, recordBytes, limits, seed });
  const valueOf = valueSource(seed, recordBytes);
  const tables: Table<Uint8Array>[] = [];
  const clients = new Map<Instance, Promise<Client>>();
  const open = async (instance: Instance): Promise<Client> => {
    const runtime = new InstanceRuntime(service.scheduler, sourceOf(seed, CHANCE.runtime, instance.number));
    const driver = limited(modelledDriver(service, state), containerBytesMax);
    const store = openStore({ driver, runtime });
    const table = await store.table<Uint8Array>(TABLE, { codec: 'bytes' });
    tables.push(table);
    return containerClient(table, valueOf);
  };
  return {
    of: (instance) => {
      const known = clients.get(instance) ?? open(instance);
      clients.set(instance, known);
      return known;
    },
    tables: () => tables,
    containers: () => state.entities.size,
  };
}

/** The store has no option for the size of its containers: it goes by what the driver says an entity may take. */
function limited(driver: Driver, entityBytesMax: number | undefined): Driver {
  if (entityBytesMax === undefined) return driver;
  return { ...driver, limits: { ...driver.limits, entityBytesMax } };
}

/** What was spent between the window's opening and its closing. */
class Spent {
  readonly #counters: ServiceCounters;
  readonly #fleet: Fleet;
  readonly #clients: Clients;
  #before: ServiceCounters | undefined;
  #busyBeforeMs: readonly number[] = [];
  #splitsBefore = 0;
  counters: ServiceCounters | undefined;
  busyMs: readonly number[] = [];
  splits = 0;

  constructor(counters: ServiceCounters, fleet: Fleet, clients: Clients) {
    this.#counters = counters;
    this.#fleet = fleet;
    this.#clients = clients;
  }

  opened = (): void => {
    this.#before = structuredClone(this.#counters);
    this.#busyBeforeMs = this.#busy();
    this.#splitsBefore = this.#splits();
  };

  closed = (): void => {
    this.counters = difference(this.#before!, this.#counters);
    this.busyMs = this.#busy().map((ms, at) => ms - (this.#busyBeforeMs[at] ?? 0));
    this.splits = this.#splits() - this.#splitsBefore;
  };

  #busy(): number[] {
    return this.#fleet.instances.map(({ processor }) => processor.busyMs);
  }

  #splits(): number {
    return this.#clients.tables().reduce((sum, table) => sum + table.stats().splits, 0);
  }
}

function difference(before: ServiceCounters, after: ServiceCounters): ServiceCounters {
  const minus = (name: Exclude<keyof ServiceCounters, 'billable'>): number => after[name] - before[name];
  return {
    requests: minus('requests'),
    throttled: minus('throttled'),
    contended: minus('contended'),
    conflicts: minus('conflicts'),
    lost: minus('lost'),
    timedOut: minus('timedOut'),
    billable: {
      reads: after.billable.reads - before.billable.reads,
      writes: after.billable.writes - before.billable.writes,
      deletes: after.billable.deletes - before.billable.deletes,
    },
    bytesRead: minus('bytesRead'),
    bytesWritten: minus('bytesWritten'),
  };
}

interface Ended {
  readonly scheduler: Scheduler;
  readonly window: Window;
  readonly spent: Spent;
  readonly clients: Clients;
  readonly parameters: ProviderParameters;
}

function resultOf(cell: ModelCell, { scheduler, window, spent, clients, parameters }: Ended): ModelResult {
  const counters = spent.counters!;
  const { billable } = counters;
  const windowMs = window.closedMs - window.openedMs;
  const perCall = cell.workload === 'load' ? LOAD_RECORDS_PER_CALL : 1;
  const operations = window.operations * perCall;
  const per = (count: number): number => (operations === 0 ? 0 : count / operations);
  const { operations: timed, ...latencies } = latenciesOf(window.histogram);
  const busy = spent.busyMs.map((ms) => ms / windowMs);
  return {
    cell,
    warmupMs: window.openedMs,
    windowMs,
    operations,
    operationsPerSecond: operations / (windowMs / 1_000),
    meanMs: window.operations === 0 ? 0 : window.latencyMs / window.operations,
    timed,
    ...latencies,
    histogram: encodeHistogram(window.histogram),
    requestsPerOperation: per(counters.requests),
    billedPerOperation: per(billable.reads + billable.writes + billable.deletes),
    conflictsPerOperation: per(counters.conflicts),
    dollarsPerMillion:
      operations === 0 ? 0 : dollarsPerMillionRecords(billable, operations, PRICES_2026_11.providers[cell.provider]),
    bytesReadPerOperation: per(counters.bytesRead),
    bytesWrittenPerOperation: per(counters.bytesWritten),
    slowestCaller: slowestCallerOf(window.byCaller),
    instances: spent.busyMs.length,
    processorBusiest: Math.max(0, ...busy),
    processorMean: busy.reduce((sum, share) => sum + share, 0) / Math.max(1, busy.length),
    errors: window.errors,
    warmupErrors: window.warmupErrors,
    unfinished: window.begun - window.ended,
    throttled: counters.throttled,
    contended: counters.contended,
    lost: counters.lost,
    timedOut: counters.timedOut,
    splits: spent.splits,
    containers: clients.containers(),
    parameters: parameters.used,
    steps: scheduler.steps,
  };
}

/** The slowest caller's operations as a share of the mean caller's; null without callers. */
export function slowestCallerOf(byCaller: Uint32Array): number | null {
  if (byCaller.length === 0) return null;
  let sum = 0;
  let least = Infinity;
  for (const count of byCaller) {
    sum += count;
    least = Math.min(least, count);
  }
  return sum === 0 ? 0 : least / (sum / byCaller.length);
}
