// Load that is not counted: emulators, and hosts whose code is not compiled yet, are several times
// slower for their first ten thousand operations.
import { cellRequestSchema, datasetRequestSchema } from '../load/cell.ts';
import type { Layout, Workload } from '../kit/dimensions.ts';
import type { CoordinatorOptions } from './coordinator.ts';
import { prepareDataset, removeDataset, runPart, type Sending } from './endpoint.ts';

const KINDS: readonly (readonly [Layout, Workload])[] = [
  ['record', 'load'],
  ['batch', 'load'],
  ['container', 'load'],
  ['record', 'ycsb-a'],
  ['container', 'ycsb-a'],
];

const REMOVAL_TIMEOUT_MS = 30_000;

/** All instances at once. Ignores failures, which the plan meets again. Rejects on abort. */
export async function heatUp(durationMs: number, runId: string, options: CoordinatorOptions): Promise<void> {
  const { endpoints, signal, fetch: fetchIt = fetch } = options;
  const heats = endpoints.flatMap((endpoint) =>
    endpoint.urls.map((_, instance) =>
      heatOne(durationMs / KINDS.length, `${runId}h${instance}`, { endpoint, instance, signal, fetch: fetchIt }),
    ),
  );
  await Promise.all(heats);
  signal.throwIfAborted();
}

async function heatOne(durationMs: number, name: string, sending: Sending): Promise<void> {
  for (const [at, [layout, workload]] of KINDS.entries()) {
    const dataset = `${name}k${at}`;
    const request = cellRequestSchema.parse({
      layout,
      workload,
      dataset,
      records: 500,
      callers: 8,
      durationMs: Math.max(1, Math.round(durationMs)),
      warmup: { leastMs: 0, mostMs: 0 },
    });
    try {
      if (workload !== 'load') await prepareDataset(datasetRequestSchema.strip().parse(request), sending);
      await runPart(request, sending);
    } catch {
      // The plan will fail in the same way, and report it.
    }
    await removeDataset(dataset, REMOVAL_TIMEOUT_MS, sending).catch(() => undefined);
    if (sending.signal.aborted) return;
  }
}
