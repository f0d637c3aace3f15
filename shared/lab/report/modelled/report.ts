// The report of a plan: cells as the comparison has them, with what only a model knows. The same results make the same bytes on any machine: so it names
// no time and no machine but those of the calibration, and its clock is the virtual one.
import { operationPriceList } from '../../cost/operations.ts';
import { PRICES_2026_11 } from '../../cost/prices-2026-11.ts';
import { LOAD_RECORDS_PER_CALL } from '../../work/workloads.ts';
import { PROVIDERS } from '../../kit/dimensions.ts';
import { namesOf, ProviderParameters } from '../../cloud/data/parameters.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import type { ModelPlan, PlannedRow } from '../../plan/modelled/plan.ts';
import { dataOf, PROCESSOR_DATA } from '../../cloud/run/providers.ts';
import { goalsOf, type PlayedRow } from './goals.ts';
import { MODEL_SCHEMA_VERSION, type ModelReport, type ModelReportCell } from './schema.ts';

/** What stands at the top of every file. */
export const MODEL_WORDS =
  "A MODEL, no measurement: this store's real engine, and the plain layouts, on modelled clouds in virtual time. Every latency, limit and contention is a number from the table of parameters, and several of those are guesses.";

/** What the virtual clocks show at the start, as instance/runtime.ts sets them. */
const START = '2023-11-14T22:13:20.000Z';

const NOTES: readonly string[] = [
  MODEL_WORDS,
  'Layouts are modelled alike, so ratios between them say more than rates. A figure hangs on the parameters that its cell names: see them with their low and high ends in the table, and play it again with others.',
  'record: single entities, written without a condition. conditional: every write reads the record and writes it if nobody else did, again until it holds. batch: the batches of the SDK. container: this store.',
  'read: strong gets. put: whole records. modify: read, change and write as one step. update: half reads, half puts, as YCSB A. load: 500 new records a call.',
  'Closed loops: each caller waits for its reply. Arrivals: they wait for nothing, and their latency counts from the moment they were due; concurrency is then the mean number under way.',
  "Each cell has a fixed budget of operations, so that plans take minutes; warmupMs and durationMs say how much virtual time it came to. slowestCaller: operations of the slowest caller as a share of the mean caller's.",
  "Each instance has one processor, first come, first served; what operations and requests cost it was measured on one machine beside emulators. What the engine's own work costs in real time is not counted otherwise.",
  'Not modelled: deployments, garbage collection, TLS handshakes, platforms that slow down or stop instances, several regions, other tenants.',
];

export function modelReport(
  played: readonly PlayedRow[],
  { plan, seed }: { readonly plan: ModelPlan; readonly seed: number },
): ModelReport {
  const results = played.flatMap((one) => one.results);
  const cells = played.flatMap(({ row, results: own }) => own.map((result) => reportCellOf(result, row)));
  const hasProcessor = results.some(({ cell }) => cell.hasProcessor);
  const { machine } = PROCESSOR_DATA;
  return {
    schemaVersion: MODEL_SCHEMA_VERSION,
    startedAt: START,
    durationMs: Math.round(results.reduce((sum, { warmupMs, windowMs }) => sum + warmupMs + windowMs, 0)),
    machine: {
      cpu: `modelled, costs of ${machine.cpu}`,
      cores: 1,
      memoryBytes: 0,
      platform: 'virtual time',
      node: machine.node,
    },
    providers: PROVIDERS.map((provider) => ({
      provider,
      ran: results.some(({ cell }) => cell.provider === provider),
      backend: `MODEL ${dataOf(provider).name}`,
      isEmulator: false,
    })),
    plan: {
      name: plan.name,
      concurrencies: distinct(cells.map(({ concurrency }) => concurrency)),
      durationMs: Math.round(plan.window.windowMs),
      warmupMs: Math.round(plan.window.warmupMs),
      records: Math.max(...results.map(({ cell }) => cell.records)),
      recordBytes: Math.max(...results.map(({ cell }) => cell.recordBytes)),
      seed,
    },
    prices: operationPriceList(PRICES_2026_11),
    cells,
    notes: [...NOTES],
    model: {
      what: MODEL_WORDS,
      clouds: PROVIDERS.map((provider) => cloudOf(provider, results)),
      processor: hasProcessor ? { measured: PROCESSOR_DATA.measured, ...machineWords(machine) } : null,
      goals: goalsOf(played).map(({ row, ...goal }) => ({ provider: row.provider, group: row.group, ...goal })),
    },
  };
}

function machineWords({ cpu, platform, node }: typeof PROCESSOR_DATA.machine) {
  return { cpu, platform, node };
}

/** The parameters that any of the cells hangs on; values are those of the cells that set none of their own. */
function cloudOf(provider: ModelResult['cell']['provider'], results: readonly ModelResult[]) {
  const own = results.filter(({ cell }) => cell.provider === provider);
  const used = new Set(own.flatMap(({ parameters }) => parameters));
  const data = dataOf(provider);
  const common = new ProviderParameters(data, commonSettings(own));
  const parameters = namesOf(data)
    .filter((name) => used.has(name))
    .map((name) => ({ name, value: common.get(name), ...data.figures[name] }));
  return { provider, name: data.name, date: data.date, parameters };
}

/** Settings that all cells have. */
function commonSettings(results: readonly ModelResult[]): ModelResult['cell']['settings'] {
  const [first, ...others] = results.map(({ cell }) => Object.entries(cell.settings));
  const isCommon = ([name, value]: [string, unknown]): boolean =>
    others.every((entries) => entries.some(([other, its]) => other === name && its === value));
  return Object.fromEntries((first ?? []).filter(isCommon));
}

function reportCellOf(result: ModelResult, { group, across, at }: PlannedRow): ModelReportCell {
  const { cell, operations, windowMs } = result;
  const errors = Object.values(result.errors).reduce((sum, count) => sum + count, 0);
  return {
    provider: cell.provider,
    layout: cell.layout,
    workload: cell.workload,
    concurrency: 'callers' in cell.load ? cell.load.callers : Math.max(1, Math.round(result.underWay)),
    recordsPerCall: cell.workload === 'load' ? LOAD_RECORDS_PER_CALL : 1,
    recordsPerSecond: rounded(result.operationsPerSecond),
    operations: result.timed,
    p50Ms: result.p50Ms,
    p95Ms: result.p95Ms,
    p99Ms: result.p99Ms,
    maxMs: result.maxMs,
    errors,
    errorsByCode: { ...result.errors },
    unfinished: result.unfinished,
    requests: Math.round(result.requestsPerOperation * operations),
    billableOperations: Math.round(result.billedPerOperation * operations),
    bytesWritten: Math.round(result.bytesWrittenPerOperation * operations),
    bytesRead: Math.round(result.bytesReadPerOperation * operations),
    requestsPer1000Records: rounded(result.requestsPerOperation * 1_000),
    billableOperationsPer1000Records: rounded(result.billedPerOperation * 1_000),
    dollarsPerMillionRecords: result.dollarsPerMillion,
    records: operations,
    durationMs: rounded(windowMs),
    histogram: result.histogram,
    model: {
      group,
      across,
      at,
      case: cell.case,
      keys: cell.keys,
      records: cell.records,
      instances: result.instances,
      arrivalsPerSecond: 'perSecond' in cell.load ? cell.load.perSecond : null,
      containerKib: cell.containerKib,
      containers: result.containers,
      settings: { ...cell.settings },
      parameters: [...result.parameters],
      warmupMs: rounded(result.warmupMs),
      conflictsPer1000Records: rounded(result.conflictsPerOperation * 1_000),
      slowestCaller: result.slowestCaller,
      processorBusiest: result.processorBusiest,
      processorMean: result.processorMean,
      underWay: result.underWay,
      splits: result.splits,
      throttled: result.throttled,
      contended: result.contended,
      lost: result.lost,
      timedOut: result.timedOut,
    },
  };
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

/** To a hundredth. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
