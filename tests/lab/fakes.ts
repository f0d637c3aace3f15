// A baseline and a store without a provider, in virtual time, and results as functions answer them.
import type { Baseline } from '../../shared/lab/work/baseline.ts';
import {
  type CellRequest,
  type CellRequestInput,
  cellRequestSchema,
  type CellResult,
  type Place,
  type StoreCounters,
  storeCountersSchema,
} from '../../shared/lab/load/cell.ts';
import type { CellTargets } from '../../shared/lab/load/targets.ts';
import { tenantOf } from '../../shared/lab/work/sample-records.ts';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import { emptyUsage } from '../../shared/lab/kit/provider-usage.ts';
import type { Runtime, Store, Table } from '../../shared/store/index.ts';
import { type Clock } from './fake-store.ts';
import { encodedOf } from './histogram-of.ts';

/** The place of a function beside an emulator. */
export function placeOf(provider: Provider): Place {
  return {
    provider,
    platform: 'local',
    backend: provider === 'datastore' ? 'embedded emulator' : 'Azurite 3.37.0',
    isEmulator: true,
    region: null,
    instanceId: `instance-of-${provider}`,
    memoryBytes: 2 ** 31,
    processors: 2,
    processorModel: 'A <fast> CPU',
    system: 'Linux 6.1.0 x64',
    runtime: 'Node.js 24.21.0',
    versions: { stowage: '0.1.0', '@azure/data-tables': '13.3.2' },
    commit: '0123456789abcdef0123456789abcdef01234567',
  };
}

export const PLACE: Place = { ...placeOf('datastore'), instanceId: 'one' };

/** The counters of a store that meets no other. */
export const COUNTERS = Object.fromEntries(
  storeCountersSchema.keyof().options.map((name) => [name, 0]),
) as unknown as StoreCounters;

export interface FakeOptions {
  readonly clock: Clock;
  /** Of each request; `sent` counts from 1. */
  readonly latencyMs: number | ((sent: number) => number);
  /** May throw instead of answering; `sent` counts from 1. */
  readonly fail?: (sent: number) => void;
  readonly getManyMax?: number;
  /** Records are reported as absent. */
  readonly empty?: boolean;
}

export interface FakeTargets extends CellTargets {
  /** A line for each request: its verb and its number of records. */
  readonly log: string[];
  /** Keys that were asked for, or written. */
  readonly keys: string[];
}

const keysOf = (records: readonly { readonly key: string }[]): string[] => records.map(({ key }) => key);

/** Each request takes `latencyMs`; any number of them run at once. */
export function fakeTargets(options: FakeOptions): FakeTargets {
  const { clock, latencyMs, fail = () => {}, getManyMax = 500, empty = false } = options;
  const usage = emptyUsage(false);
  const log: string[] = [];
  const keys: string[] = [];
  const answer = async (what: string, asked: readonly string[]): Promise<void> => {
    log.push(`${what} ${asked.length}`);
    keys.push(...asked);
    usage.requests++;
    usage.billable.writes += asked.length;
    const sent = usage.requests;
    await clock.runtime.sleep(typeof latencyMs === 'number' ? latencyMs : latencyMs(sent));
    fail(sent);
  };
  const baseline: Baseline = {
    putManyMax: 100,
    getManyMax,
    lane: tenantOf,
    open: async () => ({
      insert: ({ key }) => answer('insert', [key]),
      replace: ({ key }) => answer('replace', [key]),
      modify: async ({ key }) => {
        await answer('modify', [key]);
        return !empty;
      },
      get: async (key) => {
        await answer('get', [key]);
        return !empty;
      },
      putMany: (records) => answer('putMany', keysOf(records)),
      getMany: async (asked) => {
        await answer('getMany', asked);
        return empty ? 0 : asked.length;
      },
      range: async (from, _to, count) => {
        await answer('range', [from]);
        return empty ? 0 : count;
      },
    }),
    remove: async (dataset) => void log.push(`remove ${dataset}`),
    usage: () => usage,
  };
  const table = {
    stats: () => ({ ...COUNTERS, commits: usage.requests }),
    get: async (key: string) => {
      await answer('container get', [key]);
      return empty ? undefined : {};
    },
    put: (key: string) => answer('container put', [key]),
    getMany: async (asked: readonly string[]) => {
      await answer('container getMany', asked);
      return asked.map((key) => ({ status: empty ? 'absent' : 'found', key }));
    },
    update: async (key: string, change: (current: unknown) => unknown) => {
      await answer('container update', [key]);
      return change({});
    },
    async *scan({ from, limit }: { from: string; limit: number }) {
      await answer('container scan', [from]);
      for (let at = 0; at < limit; at++) yield {};
    },
    putMany: async (items: readonly { key: string }[]) => {
      const asked = keysOf(items);
      await answer('container putMany', asked);
      return asked.map((key, at) =>
        at === 0 ? { status: 'failed', key, error: new Error('no') } : { status: 'written', key, version: '1' },
      );
    },
  } as unknown as Table<never>;
  const drop = async (name: string): Promise<boolean> => log.push(`drop ${name}`) > 0;
  const store = { table: async () => table, drop } as unknown as Store;
  return {
    baseline,
    openStore: async () => ({ store, usage: () => usage }),
    place: PLACE,
    instance: instanceOf(clock.runtime),
    log,
    keys,
  };
}

/** The thread has work four fifths of the time, and waits a quarter of that for a processor. */
function instanceOf(runtime: Runtime): CellTargets['instance'] {
  let isCold = true;
  return {
    takeCold: () => {
      const wasCold = isCold;
      isCold = false;
      return wasCold;
    },
    uptimeMs: () => 5_000,
    memoryBytes: () => 50_000_000,
    processorUs: () => 900 * runtime.monotonicMs(),
    processorTimes: () => ({
      ranMs: 0.6 * runtime.monotonicMs(),
      waitedMs: 0.2 * runtime.monotonicMs(),
      machineMs: 2 * runtime.monotonicMs(),
      stolenMs: 0,
      emulator: { ranMs: 0.5 * runtime.monotonicMs(), waitedMs: 0 },
    }),
  };
}

export function cell(input: Partial<CellRequestInput>): CellRequest {
  return cellRequestSchema.parse({
    layout: 'record',
    workload: 'load',
    callers: 1,
    durationMs: 100,
    warmup: { leastMs: 20, mostMs: 20 },
    dataset: 'test1',
    records: 500,
    ...input,
  });
}

/** A result as a function would answer it. */
export function result(change: Partial<CellResult> = {}): CellResult {
  return {
    provider: 'datastore',
    layout: 'record',
    workload: 'load',
    place: PLACE,
    isCold: false,
    uptimeMs: 9_000,
    firstOperationMs: 12,
    recordsPerCall: 100,
    warmup: { durationMs: 300, steadiness: 'steady', errors: 0 },
    openedAtMs: Date.UTC(2026, 10, 21, 10),
    durationMs: 1_000,
    records: 1_000,
    recordsFirstHalf: 500,
    recordsTotal: 2_000,
    usage: {
      requests: 200,
      retries: null,
      conflicts: 1,
      bytesWritten: 8,
      bytesRead: 4,
      billable: { reads: 100, writes: 200, deletes: 100 },
    },
    store: null,
    errors: {},
    unfinished: 0,
    histogram: encodedOf(1, 2),
    operations: 1,
    behindMsMax: null,
    isHeldByRamp: false,
    processor: { wait: 0.1, stolen: 0, busy: 0.5, emulatorBusy: 0.4 },
    processorUs: 1_000_000,
    memoryBytes: 100_000_000,
    ...change,
  };
}
