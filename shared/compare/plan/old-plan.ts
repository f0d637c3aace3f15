// Which cells a comparison runs, and in which order: providers and layouts take turns, so that a machine growing slower hits all alike.
import type { CellRequestInput } from '../cell/old-cell.ts';
import { OLD_WORKLOADS, type OldWorkload } from '../cell/old-cell.ts';
import { type Layout, LAYOUTS, type Provider } from '../dimensions.ts';

/** What a comparison measures, and how long. */
export interface Plan {
  readonly name: 'default' | 'full' | 'custom';
  /** Callers in flight, ascending. */
  readonly concurrencies: readonly number[];
  readonly durationMs: number;
  readonly warmupMs: number;
  /** Records in a dataset that is read or updated. */
  readonly records: number;
  readonly recordBytes: number;
  readonly seed: number;
  /** How often `load` runs at each layout's best concurrency; the median counts. One that was the best for a while runs more than once too. */
  readonly loadRepetitions: number;
}

export const DEFAULT_PLAN: Plan = {
  name: 'default',
  concurrencies: [1, 8, 32],
  durationMs: 1_000,
  warmupMs: 200,
  records: 10_000,
  recordBytes: 500,
  seed: 20_261_101,
  loadRepetitions: 3,
};

export const FULL_PLAN: Plan = {
  ...DEFAULT_PLAN,
  name: 'full',
  concurrencies: [1, 2, 4, 8, 16, 32, 64, 128],
  durationMs: 2_000,
  warmupMs: 500,
};

/** A cell, and the provider to run it on. */
export interface PlannedCell {
  readonly provider: Provider;
  readonly request: CellRequestInput & { readonly layout: Layout; readonly workload: OldWorkload };
}

/** The plan's cells in the order they run, each combination once. `runId` (a letter, then at most 15 letters and digits) keeps runs' tables apart. */
export function cellsOf(plan: Plan, providers: readonly Provider[], runId: string): PlannedCell[] {
  const cells: PlannedCell[] = [];
  for (const workload of OLD_WORKLOADS) {
    for (const concurrency of plan.concurrencies) {
      for (const layout of LAYOUTS) {
        for (const provider of providers) {
          cells.push({
            provider,
            request: requestOf(plan, { layout, workload, concurrency }, `${runId}c${cells.length}`, `${runId}shared`),
          });
        }
      }
    }
  }
  return cells;
}

/** The same cell once more; a load gets a table of its own again. */
export function repeated({ provider, request }: PlannedCell, repetition: number): PlannedCell {
  return { provider, request: { ...request, dataset: `${request.dataset}x${repetition}` } };
}

/** Load that heats up a provider and its host before the plan: emulators are several times slower for their first ten thousand operations. */
export function warmupCellsOf(provider: Provider, durationMs: number, runId: string): PlannedCell[] {
  const kinds: readonly (readonly [Layout, OldWorkload])[] = [
    ['record', 'load'],
    ['batch', 'load'],
    ['container', 'load'],
    ['record', 'update'],
    ['container', 'update'],
  ];
  const each = Math.max(1, Math.floor(durationMs / kinds.length));
  return kinds.map(([layout, workload], at) => ({
    provider,
    request: {
      layout,
      workload,
      concurrency: 8,
      durationMs: each,
      warmupMs: 0,
      records: 500,
      seed: 1,
      dataset: workload === 'load' ? `${runId}w${at}` : `${runId}w`,
    },
  }));
}

function requestOf(
  { durationMs, warmupMs, records, recordBytes, seed }: Plan,
  cell: { readonly layout: Layout; readonly workload: OldWorkload; readonly concurrency: number },
  ownDataset: string,
  sharedDataset: string,
): PlannedCell['request'] {
  const dataset = cell.workload === 'load' ? ownDataset : sharedDataset;
  return { ...cell, durationMs, warmupMs, records, recordBytes, seed, dataset };
}
