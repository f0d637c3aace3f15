// Runs one cell next to its store. Keeps nothing between cells: whether a dataset is loaded is looked up at the provider.
// A cell in which nothing succeeded is an error, never a row of zeros.
import pLimit from 'p-limit';
import { type Runtime, type Store, systemRuntime, type Table } from '../../store/index.ts';
import type { Baseline } from '../baseline/baseline.ts';
import { chunks } from '../data/chunks.ts';
import type { RecordFields } from '../data/records.ts';
import type { Provider } from '../dimensions.ts';
import { countsBetween, type Usage } from '../usage.ts';
import { type CellRequest, type CellResult, LOAD_RECORDS_PER_CALL } from './old-cell.ts';
import { encodeHistogram, latenciesOf } from './histogram.ts';
import { batchClient, containerClient, type LayoutClient, recordClient } from './layout-clients.ts';
import { type Operation, operationSource } from './operations.ts';
import { processorShares, type ProcessorShares, type ProcessorTimes } from './processor-shares.ts';
import { runWindow, type WindowResult } from './window.ts';

/** Where a cell runs. Whoever made the baseline and the store closes them. */
export interface CellTargets {
  readonly provider: Provider;
  /** For the layouts `record` and `batch`. */
  readonly baseline: Baseline;
  /** For the layout `container`. */
  readonly store: Store;
  /** Running totals of the store's driver, since it was made. */
  storeUsage(): Usage;
  /** Running totals of the thread and machine that the cell runs on; undefined where the system does not tell. */
  processorTimes(): ProcessorTimes | undefined;
}

export interface RunCellOptions {
  /** Ends the cell early, with the signal's reason. */
  readonly signal: AbortSignal;
  readonly runtime?: Runtime;
}

/** Nothing succeeded; the codes say why. */
export class CellError extends Error {
  readonly errors: Readonly<Record<string, number>>;

  constructor(message: string, errors: Readonly<Record<string, number>>) {
    super(message);
    this.name = 'CellError';
    this.errors = errors;
  }
}

/** Operations still in flight when the window ends are waited for so long. */
const DRAIN_MS = 10_000;

/** Calls that load a dataset at once: enough to keep either provider busy. */
const PRELOAD_CONCURRENCY = 4;

/** Runs the cell: a table, its records if the workload needs them, warm-up, window, drain. Rejects with a CellError, or the error of the preparation. */
export async function runCell(
  request: CellRequest,
  targets: CellTargets,
  { signal, runtime = systemRuntime }: RunCellOptions,
): Promise<CellResult> {
  const client = await openClient(request, targets, signal);
  if (request.workload !== 'load') await preload(request, targets, signal);
  const usageNow = request.layout === 'container' ? () => targets.storeUsage() : () => targets.baseline.usage();
  // A snapshot: the counters go on.
  const before = structuredClone(usageNow());
  const timesBefore = targets.processorTimes();
  const window = await runWindow(callsOf(request, client), { ...request, drainMs: DRAIN_MS, signal, runtime });
  const shares = processorShares(timesBefore, targets.processorTimes());
  const after = usageNow();
  if (window.records === 0) throw emptyCell(request, targets.provider, window);
  const recordsPerCall = client.recordsPerCall(request.workload);
  return { ...resultOf(request, targets.provider, window), ...shares, recordsPerCall, usage: spent(before, after) };
}

/**
 * Removes what cells of a dataset made, in all layouts; a dataset that is not there is no error. Tries everything before it rejects with the
 * first error. To be called when no cell of the dataset runs any more.
 */
export async function removeDataset(
  dataset: string,
  { baseline, store }: Pick<CellTargets, 'baseline' | 'store'>,
  signal: AbortSignal,
): Promise<void> {
  const settled = await Promise.allSettled([baseline.remove(dataset, signal), store.drop(dataset, { signal })]);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}

async function openClient(
  request: Pick<CellRequest, 'layout' | 'dataset'>,
  { baseline, store }: CellTargets,
  signal: AbortSignal,
): Promise<LayoutClient> {
  if (request.layout === 'container') return containerClient(await openTable(store, request.dataset, signal));
  const table = await baseline.open(request.dataset);
  signal.throwIfAborted();
  return request.layout === 'record' ? recordClient(table) : batchClient(baseline, table);
}

/** Order `key`: keys begin with their tenant, whose records a user wants together; the Azure baseline keeps them together by its partition key. */
function openTable(store: Store, dataset: string, signal: AbortSignal): Promise<Table<RecordFields>> {
  return store.table<RecordFields>(dataset, { order: 'key', signal });
}

function callsOf(request: CellRequest, client: LayoutClient): () => ReturnType<LayoutClient['call']> {
  const nextOperation = operationSource(request);
  const size = client.recordsPerCall(request.workload);
  return () => client.call(Array.from({ length: size }, nextOperation));
}

/**
 * Loads the dataset unless its last record, which is written after all the others, is there. Both baseline layouts keep records
 * alike, so they share them.
 */
async function preload(request: CellRequest, targets: CellTargets, signal: AbortSignal): Promise<void> {
  const layout = request.layout === 'container' ? 'container' : 'batch';
  const client = await openClient({ layout, dataset: request.dataset }, targets, signal);
  const operations = Array.from({ length: request.records }, operationSource({ ...request, workload: 'load' }));
  const last = operations.pop()!;
  if (last.kind === 'insert' && (await isThere(client, last.record.key))) return;
  await sendAll(client, operations, signal);
  await sendAll(client, [last], signal);
}

async function isThere(client: LayoutClient, key: string): Promise<boolean> {
  const units = [...client.call([{ kind: 'read', key }])].flat();
  const errors = await Promise.all(units.map((unit) => unit.send()));
  return errors.flat().length === 0;
}

async function sendAll(client: LayoutClient, operations: readonly Operation[], signal: AbortSignal): Promise<void> {
  const limit = pLimit(PRELOAD_CONCURRENCY);
  const failed = new AbortController();
  const send = async (some: readonly Operation[]): Promise<void> => {
    signal.throwIfAborted();
    if (failed.signal.aborted) return;
    const units = [...client.call(some)].flat();
    const errors = (await Promise.all(units.map((unit) => unit.send()))).flat();
    if (errors.length > 0)
      throw new Error(`loading the dataset failed for ${errors.length} records`, { cause: errors[0] });
  };
  const sent = chunks(operations, LOAD_RECORDS_PER_CALL).map((some) => limit(send, some));
  for (const one of sent) one.catch(() => failed.abort());
  // All of them: a cell that has ended writes no more.
  const settled = await Promise.allSettled(sent);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}

function emptyCell(
  { layout, workload }: CellRequest,
  provider: Provider,
  { errors, unfinished }: WindowResult,
): CellError {
  const codes = Object.entries(errors).map(([code, count]) => `${code}=${count}`);
  const why = [...codes, ...(unfinished > 0 ? [`unfinished=${unfinished}`] : [])].join(' ');
  return new CellError(
    `no operation succeeded: ${provider} ${layout} ${workload} ${why || 'nothing was answered in time'}`,
    errors,
  );
}

function resultOf(
  request: CellRequest,
  provider: Provider,
  window: WindowResult,
): Omit<CellResult, 'recordsPerCall' | 'usage' | keyof ProcessorShares> {
  const { layout, workload, concurrency } = request;
  const { histogram, ...counts } = window;
  const cell = { provider, layout, workload, concurrency };
  return { ...cell, ...counts, histogram: encodeHistogram(histogram), ...latenciesOf(histogram) };
}

function spent(before: Usage, after: Usage): Usage {
  return {
    requests: after.requests - before.requests,
    retries: before.retries === null || after.retries === null ? null : countsBetween(before.retries, after.retries),
    billable: {
      reads: after.billable.reads - before.billable.reads,
      writes: after.billable.writes - before.billable.writes,
      deletes: after.billable.deletes - before.billable.deletes,
    },
    bytesWritten: after.bytesWritten - before.bytesWritten,
    bytesRead: after.bytesRead - before.bytesRead,
  };
}
