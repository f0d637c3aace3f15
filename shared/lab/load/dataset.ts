// The records that a workload begins with: loaded before it is measured, and removed after all.
// Real Datastore has a rule for new data: 500 operations per second, half as many more every five
// minutes. https://cloud.google.com/datastore/docs/best-practices
import { type Runtime, StoreError, systemRuntime } from '../../store/index.ts';
import { chunks, sum } from '../kit/numbers.ts';
import { keyOf, type RecordFields } from '../work/sample-records.ts';
import { isOfContainers, MIXES } from '../kit/dimensions.ts';
import { type CellRequest, countersIn, type DatasetRequest, type Place, type StoreCounters } from './cell.ts';
import { eachInFlight } from './loops.ts';
import { batchClient, containerClient, type LayoutClient, recordClient, sendCall } from '../work/layout-clients.ts';
import { type Operation, operationSource } from '../work/operation-source.ts';
import type { CellTargets, DatasetTargets } from './targets.ts';
import type { Usage } from '../kit/provider-usage.ts';

/** Calls in flight while a dataset is loaded: enough to keep either provider busy. */
const PRELOAD_CONCURRENCY = 4;

/** The rule's beginning, its growth, and how often it grows. */
const FIRST_PER_SECOND = 500;
const GROWTH = 1.5;
const STEP_MS = 300_000;

/** The wait of a caller that is held up before it asks again. */
const PAUSE_MS = 5;

/** A layout's client of a dataset, and running totals of what it spends. */
export interface OpenDataset {
  readonly client: LayoutClient;
  readonly usage: () => Usage;
  /** Null in layouts without the store. */
  readonly storeCounters: () => StoreCounters | null;
}

/** Creates a missing kind or table. Throws `invalid` if it has another container size. */
export async function openDataset(
  { layout, dataset, containerKib }: Pick<DatasetRequest, 'layout' | 'dataset' | 'containerKib'>,
  { baseline, openStore }: DatasetTargets,
  signal: AbortSignal,
): Promise<OpenDataset> {
  if (isOfContainers(layout)) {
    const { store, usage } = await openStore(layout === 'container-sdk' ? 'sdk' : 'own');
    const size = containerKib === null ? {} : { containerBytesMax: containerKib * 1_024 };
    // Order `key`: keys begin with their tenant, whose records a user wants together; the Azure
    // baseline keeps them together by its partition key.
    const table = await store.table<RecordFields>(dataset, { order: 'key', ...size, signal }).catch(inOwnWords);
    return { client: containerClient(table), usage, storeCounters: () => countersIn(table.stats()) };
  }
  const table = await baseline.open(dataset);
  signal.throwIfAborted();
  return {
    client: layout === 'record' ? recordClient(table) : batchClient(baseline, table),
    usage: () => baseline.usage(),
    storeCounters: () => null,
  };
}

/** The store's message names `containerBytesMax`, but the caller gave `containerKib`. */
function inOwnWords(error: unknown): never {
  if (!(error instanceof StoreError && error.message.includes('containerBytesMax'))) throw error;
  const advice = 'the dataset was made with another containerKib: give the same, or none';
  throw new StoreError('invalid', advice, { cause: error });
}

export interface PrepareOptions {
  /** Ends the work early, with the signal's reason. */
  readonly signal: AbortSignal;
  readonly runtime?: Runtime;
}

/** Loads the dataset unless its last record is there. Rejects once no call is in flight. */
export async function prepareDataset(
  request: DatasetRequest,
  targets: CellTargets,
  { signal, runtime = systemRuntime }: PrepareOptions,
): Promise<void> {
  // Both layouts of the SDK share a dataset, and its batches load it.
  const layout = isOfContainers(request.layout) ? 'container' : 'batch';
  const { client, usage } = await openDataset({ ...request, layout }, targets, signal);
  if (await isThere(client, keyOf(request.records - 1))) return;
  const part = { index: 0, count: 1 };
  const nextOperation = operationSource({ ...request, workload: 'load', keys: null, drawSeed: 1, insertFrom: 0, part });
  const operations = Array.from({ length: request.records }, nextOperation);
  const last = operations.pop()!;
  const ramp = rampOf(request.rampedSinceMs, targets.place, usage, { instances: 1, runtime });
  await sendAll(client, operations, ramp, signal);
  await sendAll(client, [last], ramp, signal);
}

/** Keeps one instance's operations, counted from its beginning, below the rule. */
export interface Ramp {
  /** Resolves when an operation may be sent, or when `isOver`. */
  turn(isOver: () => boolean, signal: AbortSignal): Promise<void>;
  readonly hasHeld: boolean;
}

/** Undefined if the request asks for none, on emulators, and elsewhere than on Datastore. */
export function rampOf(
  rampedSinceMs: CellRequest['rampedSinceMs'],
  place: Pick<Place, 'isEmulator' | 'provider'>,
  usage: () => Usage,
  { instances, runtime }: { readonly instances: number; readonly runtime: Runtime },
): Ramp | undefined {
  if (rampedSinceMs === null || place.isEmulator || place.provider !== 'datastore') return undefined;
  // Entity operations: a layout that packs many records into one is held up less.
  const spent = (): number => sum(Object.values(usage().billable));
  const [startMs, spentBefore] = [runtime.monotonicMs(), spent()];
  const elapsedMs = Math.max(0, runtime.wallMs() - rampedSinceMs);
  const isAllowed = (): boolean => {
    const allowed = allowedBetween(elapsedMs, elapsedMs + runtime.monotonicMs() - startMs) / instances;
    return spent() - spentBefore < Math.max(1, allowed);
  };
  const ramp = {
    hasHeld: false,
    async turn(isOver: () => boolean, signal: AbortSignal): Promise<void> {
      while (!isOver() && !isAllowed()) {
        ramp.hasHeld = true;
        await runtime.watch(PAUSE_MS, signal);
      }
    },
  };
  return ramp;
}

async function isThere(client: LayoutClient, key: string): Promise<boolean> {
  try {
    return (await sendCall(client, [{ kind: 'read', key }])).length === 0;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'absent') return false;
    throw error;
  }
}

async function sendAll(
  client: LayoutClient,
  operations: readonly Operation[],
  ramp: Ramp | undefined,
  signal: AbortSignal,
): Promise<void> {
  // Settles only once no call is in flight, so that nothing is written afterwards.
  await eachInFlight(chunks(operations, MIXES.load.recordsPerCall), PRELOAD_CONCURRENCY, async (some) => {
    await ramp?.turn(() => signal.aborted, signal);
    signal.throwIfAborted();
    const errors = await sendCall(client, some);
    if (errors.length > 0)
      throw new Error(`loading the dataset failed for ${errors.length} records`, { cause: errors[0] });
  });
}

/** Tries both kind and table before it rejects; absent ones are no error. No cell may use them. */
export async function removeDataset(
  dataset: string,
  { baseline, openStore }: DatasetTargets,
  signal: AbortSignal,
): Promise<void> {
  const { store } = await openStore('own');
  const settled = await Promise.allSettled([baseline.remove(dataset, signal), store.drop(dataset, { signal })]);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}

/** Operations allowed between two moments, in milliseconds since the dataset's first one. */
export function allowedBetween(fromMs: number, toMs: number): number {
  let allowed = 0;
  for (let atMs = fromMs; atMs < toMs;) {
    const step = Math.floor(atMs / STEP_MS);
    const nextMs = Math.min(toMs, (step + 1) * STEP_MS);
    allowed += (FIRST_PER_SECOND * GROWTH ** step * (nextMs - atMs)) / 1_000;
    atMs = nextMs;
  }
  return allowed;
}
