// Runs one instance's part of a cell, next to its store.
import { systemRuntime } from '../../store/index.ts';
import { MIXES, type Provider, whyNot } from '../kit/dimensions.ts';
import { increase, usageBetween } from '../kit/provider-usage.ts';
import type { CellRequest, CellResult } from './cell.ts';
import { openDataset, type PrepareOptions, rampOf } from './dataset.ts';
import { DRAIN_MS } from './phases.ts';
import { encodeHistogram } from '../kit/histogram.ts';
import type { LayoutClient } from '../work/layout-clients.ts';
import { operationSource } from '../work/operation-source.ts';
import { type CellTargets, processorShares } from './targets.ts';
import { runWindow, type WindowResult } from './window.ts';

/** No operation succeeded; the codes say why. */
export class CellError extends Error {
  readonly errors: Readonly<Record<string, number>>;

  constructor(message: string, errors: Readonly<Record<string, number>>) {
    super(message);
    this.name = 'CellError';
    this.errors = errors;
  }
}

/** On a loaded dataset, or a new one for `load`. Rejects with a CellError, or as `openDataset`. */
export async function runCell(
  request: CellRequest,
  targets: CellTargets,
  { signal, runtime = systemRuntime }: PrepareOptions,
): Promise<CellResult> {
  const impossible = whyNot(request.layout, request.workload, targets.place.provider);
  if (impossible !== undefined) throw new CellError(impossible, {});
  const { instance, place } = targets;
  const { provider } = place;
  const start = { isCold: instance.takeCold(), uptimeMs: instance.uptimeMs() };
  const { client, usage, storeCounters } = await openDataset(request, targets, signal);
  // Copied, because the counters go on counting.
  const before = { usage: structuredClone(usage()), store: storeCounters() };
  const [timesBefore, usBefore, beganMs] = [instance.processorTimes(), instance.processorUs(), runtime.monotonicMs()];
  const ramp = rampOf(request.rampedSinceMs, place, usage, { instances: request.part.count, runtime });
  const window = await runWindow(callsOf(request, client), { ...request, drainMs: DRAIN_MS, signal, runtime, ramp });
  const processor = processorShares(timesBefore, instance.processorTimes(), runtime.monotonicMs() - beganMs);
  const processorUs = instance.processorUs() - usBefore;
  if (window.records === 0) throw emptyCell(request, provider, window);
  const { histogram, ...counts } = window;
  const { layout, workload } = request;
  return {
    provider,
    layout,
    workload,
    place,
    ...start,
    recordsPerCall: MIXES[workload].recordsPerCall,
    ...counts,
    usage: usageBetween(before.usage, usage()),
    store: before.store && increase(before.store, storeCounters()!),
    histogram: encodeHistogram(histogram),
    operations: histogram.totalCount,
    isHeldByRamp: ramp?.hasHeld ?? false,
    processor,
    processorUs,
    memoryBytes: instance.memoryBytes(),
  };
}

function callsOf(request: CellRequest, client: LayoutClient): () => ReturnType<LayoutClient> {
  const nextOperation = operationSource(request);
  const length = MIXES[request.workload].recordsPerCall;
  return () => client(Array.from({ length }, nextOperation));
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
