// The workloads as data: what is done, how often, and how keys are chosen.
import type { KeyChoice, Layout, Workload } from '../kit/dimensions.ts';

/** `update` replaces; `modify` reads and writes without losing another's change. */
export type Verb = 'read' | 'update' | 'insert' | 'scan' | 'modify';

export interface Mix {
  /** Shares of the operations, 1 together. */
  readonly shares: Readonly<Partial<Record<Verb, number>>>;
  /** Records that are read, updated or modified, and scans' beginnings. Null: all are new. */
  readonly keys: KeyChoice | null;
}

/** YCSB's files `workloada` to `workloadf`. Its updates write one field, ours the record. */
export const MIXES: Readonly<Record<Workload, Mix>> = {
  load: { shares: { insert: 1 }, keys: null },
  'ycsb-a': { shares: { read: 0.5, update: 0.5 }, keys: 'zipfian' },
  'ycsb-b': { shares: { read: 0.95, update: 0.05 }, keys: 'zipfian' },
  'ycsb-c': { shares: { read: 1 }, keys: 'zipfian' },
  'ycsb-d': { shares: { read: 0.95, insert: 0.05 }, keys: 'latest' },
  'ycsb-e': { shares: { scan: 0.95, insert: 0.05 }, keys: 'zipfian' },
  'ycsb-f': { shares: { read: 0.5, modify: 0.5 }, keys: 'zipfian' },
};

/** Records that a caller of the `load` workload hands over in one call, in every layout. */
export const LOAD_RECORDS_PER_CALL = 500;

/** In layouts without batches. */
export function recordsPerCall(workload: Workload): number {
  return workload === 'load' ? LOAD_RECORDS_PER_CALL : 1;
}

/** From 1 on, uniform: YCSB's `maxscanlength` and `scanlengthdistribution`. */
export const SCAN_RECORDS_MAX = 100;

/** Why a layout cannot run a workload, in a sentence; undefined where it can. */
export function whyNot(layout: Layout, workload: Workload): string | undefined {
  if (layout === 'driver' && workload === 'ycsb-e')
    return 'The driver lists ids in an order of its own: only the store above it reads a range of keys.';
  if (layout === 'container-batch' && workload === 'load')
    return 'The layout container is handed as many records at once in this workload.';
  if (layout !== 'batch' && layout !== 'container-batch') return undefined;
  if (workload === 'ycsb-e') return 'A scan is one query, of which there are no batches: record and container show it.';
  if (workload === 'ycsb-f')
    return 'Records that are modified in one batch fail together when another caller changes one of them, so a batch is no way to do it.';
  return undefined;
}
