import { describe, expect, test } from 'vitest';
import {
  type CellRequestInput,
  type CellResult,
  cellResultSchema,
  CONTAINER_KIB_MAX,
} from '../../../shared/lab/load/cell.ts';
import { prepareDataset, removeDataset } from '../../../shared/lab/load/dataset.ts';
import { decodeHistogram } from '../../../shared/lab/kit/histogram.ts';
import { CellError, runCell } from '../../../shared/lab/load/run-cell.ts';
import { keyOf, tenantOf } from '../../../shared/lab/work/sample-records.ts';
import { type Layout, MIXES, whyNot, WORKLOADS } from '../../../shared/lab/kit/dimensions.ts';
import { emptyUsage } from '../../../shared/lab/kit/provider-usage.ts';
import { LIMITS as AZURE_LIMITS } from '../../../shared/drivers/azure-tables/row-keys.ts';
import { LIMITS as DATASTORE_LIMITS } from '../../../shared/drivers/datastore/entity-mapping.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { cell, Clock, COUNTERS, type FakeOptions, type FakeTargets, fakeTargets } from '../fakes.ts';

const signal = new AbortController().signal;
const UNWARMED = { leastMs: 0, mostMs: 0 };

interface Ran {
  readonly result: CellResult;
  readonly targets: FakeTargets;
}

async function ran(input: Partial<CellRequestInput>, options: Partial<Omit<FakeOptions, 'clock'>> = {}): Promise<Ran> {
  const clock = new Clock();
  const targets = fakeTargets({ clock, latencyMs: 10, ...options });
  return { result: await clock.run(runCell(cell(input), targets, { signal, runtime: clock.runtime })), targets };
}

/** Targets on a real store, in memory. */
function realStore(): { readonly store: Store; readonly targets: FakeTargets } {
  const driver = memoryDriver();
  const store = openStore({ driver });
  const targets = fakeTargets({ clock: new Clock(), latencyMs: 1 });
  return { store, targets: { ...targets, openStore: async () => ({ store, usage: () => emptyUsage(true) }) } };
}

/** The first keys of one instance of two. */
const keysOf = async (layout: Layout, index: number): Promise<string[]> =>
  (await ran({ layout, workload: 'ycsb-a', part: { index, count: 2 } })).targets.keys.slice(0, 10);

/** The length of the window that ran, in milliseconds. */
const lengthOf = async (latencyMs: number, mostMs = 400): Promise<number> =>
  (await ran({ layout: 'container', warmup: { leastMs: 0, mostMs } }, { latencyMs })).result.durationMs;

describe('a cell', () => {
  test('counts replies within the window, not requests, and reports processor and memory', async () => {
    const { result } = await ran({});
    // 20 ms of warm-up and 100 ms of window at 10 ms a record.
    expect(result).toMatchObject({ recordsTotal: 12, records: expect.closeTo(10), durationMs: 100, store: null });
    expect(decodeHistogram(result.histogram).totalCount).toBe(10);
    expect(result).toMatchObject({ firstOperationMs: 10, uptimeMs: 5_000, memoryBytes: 50_000_000 });
    expect(result.processor).toEqual({ wait: 0.25, stolen: 0, busy: 0.8, emulatorBusy: 0.5 });
    expect(result.processorUs).toBeCloseTo(900 * 120);
    expect(cellResultSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  });

  test('has the counters of the store', async () => {
    const { result } = await ran({ layout: 'container', workload: 'ycsb-c' });
    expect(result.store).toEqual({ ...COUNTERS, commits: result.usage.requests });
  });

  test('counts errors by code, and not as records', async () => {
    const { result } = await ran({ warmup: UNWARMED }, { latencyMs: 1, fail: failEverySecond });
    expect(result.errors['throttled']).toBeGreaterThan(20);
    expect(Math.abs(result.errors['throttled']! - result.records)).toBeLessThan(2);
  });

  test('in which nothing succeeded is an error that names the codes', async () => {
    const running = ran({ warmup: UNWARMED }, { latencyMs: 5, fail: failAlways });
    await expect(running).rejects.toThrow(/no operation succeeded.*14=/);
    await expect(running).rejects.toBeInstanceOf(CellError);
  });

  test('counts the failed records of a batch apart from its written ones', async () => {
    const { result } = await ran({ layout: 'container', warmup: UNWARMED }, { latencyMs: 50 });
    // The second call began a millisecond later, and ends that much after the window.
    expect(result.records).toBeCloseTo(1.98 * 99);
    expect(result.errors).toEqual({ Error: 2 });
  });

  test('makes its window long enough for two replies per caller, and at most twice as long', async () => {
    const lengths = await Promise.all([lengthOf(10), lengthOf(90), lengthOf(190), lengthOf(500), lengthOf(90, 0)]);
    expect(lengths).toEqual([100, 200, 200, 200, 100]);
  });

  test.each([
    ['record', 'load', 'insert 1', 100],
    ['batch', 'load', 'putMany 100', 1],
    ['container', 'load', 'container putMany 100', 1],
    ['record', 'read-together', 'get 1', 100],
    ['batch', 'read-together', 'getMany 100', 1],
    ['container', 'read-together', 'container getMany 100', 1],
  ] as const)('has 100 records of one tenant per call: %s, %s', async (layout, workload, request, requests) => {
    const { targets, result } = await ran({ layout, workload, durationMs: 1_010, warmup: UNWARMED });
    expect(targets.log.slice(0, requests)).toEqual(Array.from({ length: requests }, () => request));
    const keys = targets.keys.slice(0, 100);
    expect([new Set(keys).size, new Set(keys.map(tenantOf)).size]).toEqual([100, 1]);
    expect(result.recordsPerCall).toBe(100);
  });

  test('has the records of the first half of its window', async () => {
    // Until 60 ms a record takes 10 ms, then 20.
    const { result } = await ran({ warmup: UNWARMED, durationMs: 120 }, { latencyMs: (sent) => (sent <= 6 ? 10 : 20) });
    expect([result.recordsFirstHalf, result.records]).toEqual([expect.closeTo(6), expect.closeTo(9)]);
  });

  test('that is aborted rejects with the reason once no operation is in flight', async () => {
    const clock = new Clock();
    const aborted = new AbortController();
    const targets = fakeTargets({ clock, latencyMs: 10 });
    const running = runCell(cell({ durationMs: 1_000 }), targets, { signal: aborted.signal, runtime: clock.runtime });
    void clock.runtime.sleep(205).then(() => aborted.abort(new Error('enough')));
    await expect(clock.run(running)).rejects.toThrow('enough');
    expect(clock.runtime.monotonicMs()).toBe(210);
    expect(targets.log).toHaveLength(21);
  });

  test('draws the same operations in every layout from the same seed, others on every instance', async () => {
    expect(await keysOf('record', 0)).toEqual(await keysOf('container', 0));
    expect(await keysOf('record', 0)).not.toEqual(await keysOf('record', 1));
  });
});

test.each(WORKLOADS)('the workload %s mixes its operations as its shares say', async (workload) => {
  const { targets } = await ran({ workload, durationMs: 10_000, records: 1_000, warmup: UNWARMED });
  const { log } = targets;
  const verbs = { read: 'get', update: 'replace', insert: 'insert', scan: 'range', modify: 'modify' } as const;
  for (const [verb, name] of Object.entries(verbs)) {
    const share = MIXES[workload].shares[verb as keyof typeof verbs] ?? 0;
    const found = log.filter((line) => line === `${name} 1`).length / log.length;
    // The bound is four standard deviations of the binomial distribution.
    expect(Math.abs(found - share)).toBeLessThanOrEqual(4 * Math.sqrt((share * (1 - share)) / log.length));
  }
});

test.each([
  ['ycsb-c', 'datastore'],
  ['ycsb-e', 'azure-tables'],
  ['read-together', 'azure-tables'],
] as const)('the layout batch refuses %s on %s, with the reason', async (workload, provider) => {
  const clock = new Clock();
  const targets = fakeTargets({ clock, latencyMs: 10 });
  const there = { ...targets, place: { ...targets.place, provider } };
  const running = runCell(cell({ layout: 'batch', workload }), there, { signal, runtime: clock.runtime });
  await expect(running).rejects.toThrow(whyNot('batch', workload, provider)!);
});

test('ycsb-d reads records that it has inserted itself, but none that may be missing', async () => {
  const { targets } = await ran({ workload: 'ycsb-d', callers: 8, durationMs: 5_000, records: 500, insertFrom: 9_000 });
  const inserted = targets.keys.filter((_, at) => targets.log[at] === 'insert 1');
  const read = targets.keys.filter((_, at) => targets.log[at] === 'get 1');
  expect(inserted.slice(0, 3)).toEqual([keyOf(9_000), keyOf(9_001), keyOf(9_002)]);
  const first = (key: string, what: string): number =>
    targets.log.findIndex((line, at) => line === what && targets.keys[at] === key);
  const readAfter = inserted.filter((key) => read.includes(key));
  expect(readAfter.length).toBeGreaterThan(10);
  for (const key of readAfter) expect(first(key, 'get 1')).toBeGreaterThan(first(key, 'insert 1'));
});

describe('a dataset', () => {
  const request = { ...cell({ workload: 'ycsb-c', records: 1_000 }), layout: 'record' } as const;

  test('is loaded in batches, its last record at the end, unless that record exists', async () => {
    const clock = new Clock();
    const missing = fakeTargets({ clock, latencyMs: 1, empty: true });
    await clock.run(prepareDataset(request, missing, { signal, runtime: clock.runtime }));
    expect(missing.log.filter((line) => line.startsWith('putMany'))).toHaveLength(11);
    expect(missing.keys.at(-1)).toBe(keyOf(999));
    const there = fakeTargets({ clock, latencyMs: 1 });
    await clock.run(prepareDataset(request, there, { signal, runtime: clock.runtime }));
    expect(there.log).toEqual(['getMany 1']);
  });

  test('has containers as large as was asked; another size is refused in the words of the request', async () => {
    const { store, targets } = realStore();
    const made = { ...request, layout: 'container' } as const;
    await prepareDataset({ ...made, containerKib: 64 }, targets, { signal });
    expect((await store.table('test1')).stats()).toMatchObject({ containerBytesMax: 65_536 });
    await expect(prepareDataset({ ...made, containerKib: 128 }, targets, { signal })).rejects.toMatchObject({
      code: 'invalid',
      message: 'the dataset was made with another containerKib: give the same, or none',
    });
    await store.close();
  });

  test('may have containers of the largest size on both clouds', () => {
    const bytes = CONTAINER_KIB_MAX * 1_024;
    expect(bytes).toBeLessThanOrEqual(AZURE_LIMITS.entityBytesMax);
    expect(bytes + 1_024).toBeGreaterThan(AZURE_LIMITS.entityBytesMax);
    expect(bytes).toBeLessThanOrEqual(DATASTORE_LIMITS.entityBytesMax);
  });

  test('that cannot be loaded is an error', async () => {
    const clock = new Clock();
    const targets = fakeTargets({ clock, latencyMs: 1, empty: true, fail: (sent) => sent === 3 && failAlways() });
    const loading = clock.run(prepareDataset(request, targets, { signal, runtime: clock.runtime }));
    await expect(loading).rejects.toThrow('no');
  });

  test('is removed from SDK and store, from the store even if the SDK fails', async () => {
    const targets = fakeTargets({ clock: new Clock(), latencyMs: 1 });
    await removeDataset('test1', targets, signal);
    expect(targets.log).toEqual(['remove test1', 'drop test1']);
    const baseline = { ...targets.baseline, remove: () => Promise.reject(new Error('no')) };
    await expect(removeDataset('test2', { ...targets, baseline }, signal)).rejects.toThrow('no');
    expect(targets.log.at(-1)).toBe('drop test2');
  });
});

function failEverySecond(sent: number): void {
  if (sent % 2 === 0) throw Object.assign(new Error('slow down'), { code: 'throttled' });
}

function failAlways(): never {
  throw Object.assign(new Error('no'), { code: 14 });
}
