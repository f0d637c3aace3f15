// Runs one cell in virtual time: its instances come up cold on a table that is there, callers work for a while uncounted, then comes the window.
import { LOAD_RECORDS_PER_CALL } from '../../work/workloads.ts';
import { encodeHistogram, latenciesOf } from '../../kit/histogram.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../cost/operations.ts';
import { PRICES_2026_11 } from '../../cost/prices-2026-11.ts';
import { ProviderParameters } from '../data/parameters.ts';
import { Fleet } from '../instance/fleet.ts';
import type { Instance } from '../instance/instance.ts';
import { ModelledService } from '../service/service.ts';
import { CHANCE, seedOf, sourceOf } from '../time/chance.ts';
import { Scheduler } from '../time/scheduler.ts';
import { closedLoop, type Loop, openLoop } from '../work/loops.ts';
import { type Operation, operationSource } from '../work/operations.ts';
import { Window } from '../work/window.ts';
import type { ModelCell, ModelResult } from './cell.ts';
import { type Clients, clientsOf } from './layouts.ts';
import { costsOf, dataOf } from './providers.ts';
import { Spent } from './spent.ts';

const PRICES = operationPriceList(PRICES_2026_11);
const STEPS_MAX = 1_000_000_000;
/** What is in flight when the window closes is waited for as long as the window was open, within these bounds. */
const DRAIN_LEAST_MS = 1_000;
const DRAIN_MOST_MS = 60_000;

/** The same cell always has the same result. Rejects if the table cannot be prepared, or if nothing moves any more. */
export async function runCell(cell: ModelCell): Promise<ModelResult> {
  const scheduler = new Scheduler(seedOf(cell.seed, CHANCE.ties));
  const parameters = new ProviderParameters(dataOf(cell.provider), cell.settings);
  const service = new ModelledService({ scheduler, parameters, seed: seedOf(cell.seed, CHANCE.service) });
  const fleet = new Fleet(scheduler, cell.fleet);
  const clients = await clientsOf(cell, service, costsOf(cell));
  const spent = new Spent(service.counters, fleet, clients);
  const callers = 'callers' in cell.load ? cell.load.callers : 0;
  const window = new Window(scheduler, callers, { ...cell.window, listener: spent });
  const call = async (instance: Instance, operation: Operation): Promise<void> =>
    (await clients.of(instance))(operation);
  const loop: Loop = { scheduler, fleet, window, nextOperation: operationSource(cell), call };
  await scheduler.run(Promise.race([callersOf(cell, loop), drained(window, spent, scheduler)]), STEPS_MAX);
  window.cut();
  return resultOf(cell, { scheduler, window, spent, clients, parameters });
}

function callersOf({ load, seed }: ModelCell, loop: Loop): Promise<void> {
  if ('callers' in load) return closedLoop(loop, load.callers);
  return openLoop(loop, load, sourceOf(seed, CHANCE.arrivals));
}

async function drained(window: Window, spent: Spent, scheduler: Scheduler): Promise<void> {
  await spent.isClosed;
  const windowMs = window.closedMs - window.openedMs;
  await scheduler.after(Math.min(DRAIN_MOST_MS, Math.max(DRAIN_LEAST_MS, windowMs)));
}

interface Ended {
  readonly scheduler: Scheduler;
  readonly window: Window;
  readonly spent: Spent;
  readonly clients: Clients;
  readonly parameters: ProviderParameters;
}

function resultOf(cell: ModelCell, { scheduler, window, spent, clients, parameters }: Ended): ModelResult {
  const { billable, ...counters } = spent.counters;
  const windowMs = window.closedMs - window.openedMs;
  const operations = window.operations * (cell.workload === 'load' ? LOAD_RECORDS_PER_CALL : 1);
  const per = (count: number): number => (operations === 0 ? 0 : count / operations);
  const { p50Ms, p95Ms, p99Ms, maxMs } = latenciesOf(window.histogram);
  const busy = spent.busyMs.map((ms) => ms / windowMs);
  const prices = PRICES.providers[cell.provider];
  return {
    cell,
    warmupMs: window.openedMs,
    windowMs,
    operations,
    operationsPerSecond: operations / (windowMs / 1_000),
    meanMs: window.operations === 0 ? 0 : window.latencyMs / window.operations,
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
    slowestCaller: slowestCallerOf(window.byCaller),
    instances: spent.busyMs.length,
    processorBusiest: Math.max(0, ...busy),
    processorMean: busy.reduce((sum, share) => sum + share, 0) / Math.max(1, busy.length),
    errors: window.errors,
    warmupErrors: window.warmupErrors,
    unfinished: window.unfinished,
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

/** With fewer operations a caller on average, which caller is the slowest is chance. */
const OPERATIONS_OF_CALLER_MIN = 10;

/**
 * The slowest caller's operations as a share of the mean caller's: 1 where all get as much, 0 where one gets nothing. Null without callers, and
 * where they had fewer than 10 operations on average.
 */
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
