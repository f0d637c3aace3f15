// A baseline, a store of known service times and functions without a provider, in virtual time, and
// results as functions answer them.
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
import { isOfContainers, MIXES, type Provider } from '../../shared/lab/kit/dimensions.ts';
import { emptyUsage } from '../../shared/lab/kit/provider-usage.ts';
import type { Runtime, Store, Table } from '../../shared/store/index.ts';
import { ScheduledRuntime, Scheduler } from '../../shared/lab/kit/virtual-time.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import type { WindowOptions } from '../../shared/lab/load/window.ts';
import type { Unit } from '../../shared/lab/work/layout-clients.ts';
import { encodeHistogram, newHistogram, recordLatency } from '../../shared/lab/kit/histogram.ts';
import { expect } from 'vitest';

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

/** A caller whose calls fail at once would never let time pass: a turn takes a millisecond. */
class LoadRuntime extends ScheduledRuntime {
  override nextTurn(): Promise<void> {
    return this.watch(1);
  }
}

/** Virtual time that a load runs in. Its wall clock has another zero. */
export class Clock {
  readonly #scheduler = new Scheduler(1);
  readonly wallStartMs = 1_700_000_000_000;
  readonly runtime: Runtime = new LoadRuntime(this.#scheduler, seededRandom(1));

  /** Lets time pass until the work ends. */
  async run<T>(work: Promise<T>): Promise<T> {
    await this.#scheduler.run(work, Infinity);
    return await work;
  }
}

/** Answers one unit a server at a time; others queue in order. */
export class FakeStore {
  readonly #clock: Clock;
  readonly #servers: number;
  readonly #serviceMs: () => number;
  readonly #queue: (() => void)[] = [];
  #busy = 0;

  constructor(clock: Clock, servers: number, serviceMs: () => number) {
    this.#clock = clock;
    this.#servers = servers;
    this.#serviceMs = serviceMs;
  }

  unit(records = 1): Unit {
    return {
      records,
      send: async () => {
        if (this.#busy === this.#servers) await new Promise<void>((resolve) => this.#queue.push(resolve));
        else this.#busy += 1;
        await this.#clock.runtime.sleep(this.#serviceMs());
        const next = this.#queue.shift();
        if (next === undefined) this.#busy -= 1;
        else next();
        return [];
      },
    };
  }
}

/** A window on this clock: one caller, one second. */
export function windowOptions(clock: Clock, options: Partial<WindowOptions>): WindowOptions {
  return {
    callers: 1,
    ratePerSecond: null,
    arrivals: 'equidistant',
    drawSeed: 1,
    part: { index: 0, count: 1 },
    durationMs: 1_000,
    warmup: { leastMs: 200, mostMs: 1_000 },
    windowAtMs: null,
    drainMs: 10_000,
    signal: new AbortController().signal,
    runtime: clock.runtime,
    ...options,
  };
}

/** Milliseconds a call, whatever the number of callers: the store is never busy. */
const LATENCY_MS = { record: 20, batch: 5, container: 2, 'container-sdk': 4 };

/** The answer of the provider's function. A caller's calls follow each other without a pause. */
export function fakeResult(request: CellRequest, provider: Provider): CellResult {
  const { layout, workload, callers, durationMs, ratePerSecond } = request;
  const latencyMs = LATENCY_MS[layout] * (provider === 'datastore' ? 1 : 2);
  const operations = Math.round(
    ratePerSecond === null ? (callers * durationMs) / latencyMs : (ratePerSecond * durationMs) / 1_000,
  );
  const { recordsPerCall } = MIXES[workload];
  const records = operations * recordsPerCall;
  const billable = { reads: operations, writes: operations, deletes: 0 };
  return result({
    provider,
    layout,
    workload,
    place: placeOf(provider),
    firstOperationMs: 2 * latencyMs,
    recordsPerCall,
    durationMs,
    records,
    recordsFirstHalf: records / 2,
    recordsTotal: 2 * records,
    usage: { ...emptyUsage(true), requests: operations, billable },
    store: isOfContainers(layout) ? { ...COUNTERS, commits: operations } : null,
    histogram: encodedOf(operations, latencyMs),
    operations,
    behindMsMax: ratePerSecond === null ? null : 0,
  });
}

type Answer = (request: CellRequest, provider: Provider) => Response | Promise<Response>;

const succeed: Answer = (request, provider) => Response.json(fakeResult(request, provider));

/** Reaches both clouds' functions by host: `https://datastore`, `https://azure-tables`. */
export function fakeFunctions(answer = succeed): typeof fetch {
  return async (input, init) => {
    const { host, pathname } = new URL(input instanceof Request ? input.url : input);
    init?.signal?.throwIfAborted();
    if (pathname !== '/v1/compare/cells') return new Response(null, { status: 204 });
    return await answer(JSON.parse(init!.body as string) as CellRequest, host as Provider);
  };
}

export function histogramOf(latenciesMs: readonly number[]): ReturnType<typeof newHistogram> {
  const histogram = newHistogram();
  for (const latencyMs of latenciesMs) recordLatency(histogram, latencyMs);
  return histogram;
}

/** As it stands in a result: of so many operations that took equally long. */
export function encodedOf(operations: number, latencyMs: number): string {
  return encodeHistogram(histogramOf(Array<number>(operations).fill(latencyMs)));
}

/** Theory gives `expected`; `share` is the share of it by which `found` may differ at most. */
export function expectWithin(found: number, expected: number, share: number): void {
  expect(Math.abs(found / expected - 1), `${found} is not ${expected}`).toBeLessThan(share);
}

/** No figure between the two is better than another. */
export function expectBetween(found: number, low: number, high: number): void {
  expect(found).toBeGreaterThan(low);
  expect(found).toBeLessThan(high);
}
