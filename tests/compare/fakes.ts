// A baseline without a provider, on a clock that the test moves.
import type { Baseline } from '../../shared/compare/baseline/baseline.ts';
import {
  type CellRequest,
  type CellRequestInput,
  cellRequestSchema,
  type CellResult,
} from '../../shared/compare/cell/old-cell.ts';
import { encodeHistogram, newHistogram, recordLatency } from '../../shared/compare/cell/histogram.ts';
import type { CellTargets } from '../../shared/compare/cell/run.ts';
import { tenantOf } from '../../shared/compare/data/keys.ts';
import { emptyUsage } from '../../shared/compare/usage.ts';
import { type Runtime, type Store, systemRuntime, type Table } from '../../shared/store/index.ts';

/** A clock of which every reply takes its part; `watch` never fires. */
export class FakeClock {
  nowMs = 1_000;
  readonly runtime: Runtime = {
    ...systemRuntime,
    monotonicMs: () => this.nowMs,
    watch: () => new Promise<void>(() => {}),
  };
}

export interface FakeOptions {
  readonly clock: FakeClock;
  /** Each request moves the clock on by so much, then is answered. */
  readonly latencyMs: number;
  /** May throw instead of answering; `sent` counts from 1. */
  readonly fail?: (sent: number) => void;
  readonly getManyMax?: number;
  /** Records are reported as absent. */
  readonly empty?: boolean;
}

export function fakeTargets({
  clock,
  latencyMs,
  fail = () => {},
  getManyMax = 500,
  empty = false,
}: FakeOptions): CellTargets & { readonly log: string[] } {
  const usage = emptyUsage(false);
  const log: string[] = [];
  const answer = async (what: string, records: number): Promise<void> => {
    log.push(`${what} ${records}`);
    usage.requests++;
    usage.billable.writes += records;
    clock.nowMs += latencyMs;
    fail(usage.requests);
  };
  const baseline: Baseline = {
    provider: 'datastore',
    putManyMax: 100,
    getManyMax,
    lane: tenantOf,
    open: async () => ({
      insert: () => answer('insert', 1),
      replace: () => answer('replace', 1),
      get: async () => {
        await answer('get', 1);
        return !empty;
      },
      putMany: (records) => answer('putMany', records.length),
      getMany: async (keys) => {
        await answer('getMany', keys.length);
        return empty ? 0 : keys.length;
      },
      scan: async () => {
        await answer('scan', 1);
        return 1;
      },
    }),
    remove: async (dataset) => void log.push(`remove ${dataset}`),
    usage: () => usage,
    close: async () => {},
  };
  const table = {
    putMany: async (items: readonly { key: string }[]) => {
      await answer('container putMany', items.length);
      return items.map(({ key }, at) =>
        at === 0 ? { status: 'failed', key, error: new Error('no') } : { status: 'written', key, version: '1' },
      );
    },
  } as unknown as Table<never>;
  const drop = async (name: string): Promise<boolean> => log.push(`drop ${name}`) > 0;
  const store = { table: async () => table, drop } as unknown as Store;
  // A quarter of the time that this thread had work, it waited.
  const processorTimes = () => ({
    ranMs: 0.75 * clock.nowMs,
    waitedMs: 0.25 * clock.nowMs,
    machineMs: 2 * clock.nowMs,
    stolenMs: 0,
  });
  return { provider: 'datastore', baseline, store, storeUsage: () => usage, processorTimes, log };
}

export function cell(input: Partial<CellRequestInput>): CellRequest {
  return cellRequestSchema.parse({
    layout: 'record',
    workload: 'load',
    concurrency: 1,
    durationMs: 100,
    warmupMs: 20,
    dataset: 'test1',
    records: 500,
    ...input,
  });
}

/** A result as a function would answer it. */
export function result(change: Partial<CellResult> = {}): CellResult {
  const histogram = newHistogram();
  recordLatency(histogram, 2);
  return {
    provider: 'datastore',
    layout: 'record',
    workload: 'load',
    concurrency: 1,
    recordsPerCall: 500,
    durationMs: 1_000,
    records: 1_000,
    recordsTotal: 2_000,
    usage: {
      requests: 200,
      retries: null,
      billable: { reads: 100, writes: 200, deletes: 100 },
      bytesWritten: 8,
      bytesRead: 4,
    },
    errors: {},
    warmupErrors: 0,
    unfinished: 0,
    histogram: encodeHistogram(histogram),
    operations: 1,
    p50Ms: 2,
    p95Ms: null,
    p99Ms: null,
    maxMs: 2,
    processorWait: 0.1,
    processorStolen: 0,
    ...change,
  };
}
