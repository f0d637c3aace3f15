// The work of either side of each contest. The SDK's batches run with the parallelism that was fastest in a trial.
import pLimit from 'p-limit';
import type { Baseline, BaselineTable } from '../../../../shared/lab/work/baseline.ts';
import { chunks } from '../../../../shared/lab/kit/chunks.ts';
import type { RecordFields, SampleRecord } from '../../../../shared/lab/work/records.ts';
import type { Store, Table } from '../../../../shared/store/index.ts';
import type { ContestName } from './goals.ts';
import { handledAll, RECORD_COUNT, Sample } from './sample.ts';
import type { Work } from './turn.ts';

const GET_MANY_KEYS = 500;
/** Single gets of the baseline that has no batched one. */
const SINGLE_GETS_IN_FLIGHT = 32;
const PARALLEL_BATCHES = [1, 4, 16] as const;
/** Room for branches, and not for a leaf with its page table. */
export const SMALL_CACHE_BYTES = 16 * 1_024;

/** One side, before its contests. */
export interface Contestant {
  /** Fills the dataset of the contests, which other processes of its side may use too. */
  fill(): Promise<void>;
  /** Brings about what a contest begins with. */
  prepare(): Promise<void>;
  readonly works: Readonly<Record<ContestName, Work>>;
}

/** This store. `smallCacheStore` has room for branches, and not for a leaf. Opens the table, of order `hash`, the default. */
export async function ownContestant(store: Store, smallCacheStore: Store, dataset: string): Promise<Contestant> {
  const sample = new Sample();
  const table = await store.table<RecordFields>(dataset);
  const smallCacheTable = await smallCacheStore.table<RecordFields>(dataset);
  let bulks = 0;
  return {
    fill: async () => void (await putAll(table, sample.records())),
    // All records in the cache.
    prepare: async () => void (await table.getMany(sample.records().map(({ key }) => key))),
    works: {
      // Into a table that does not exist yet, in one call.
      'bulk put': async () => {
        bulks += 1;
        return putAll(await store.table<RecordFields>(`${dataset}b${bulks}`), sample.records());
      },
      put: async () => {
        const { key, fields } = sample.record();
        await table.put(key, fields);
        return 1;
      },
      get: async () => found((await table.get(sample.key())) !== undefined),
      'get, leaf not cached': async () => found((await smallCacheTable.get(sample.key())) !== undefined),
      'getMany of 500': async () => {
        const outcomes = await table.getMany(sample.keys(GET_MANY_KEYS));
        return handledAll(outcomes.filter(({ status }) => status === 'found').length, GET_MANY_KEYS);
      },
      scan: async () => {
        let count = 0;
        for await (const _ of table.scan()) count += 1;
        return handledAll(count, RECORD_COUNT);
      },
    },
  };
}

/** A provider's plain SDK. Opens the dataset. */
export async function plainContestant(baseline: Baseline, dataset: string): Promise<Contestant> {
  const sample = new Sample();
  const plain = await baseline.open(dataset);
  let parallel: number = PARALLEL_BATCHES[0];
  let bulks = 0;
  const get = async (): Promise<number> => found(await plain.get(sample.key()));
  return {
    // Several times, with different parallelism: that of the fastest stays.
    fill: async () => {
      let fastestMs = Infinity;
      for (const tried of PARALLEL_BATCHES) {
        const begunMs = performance.now();
        await putBatches(baseline, plain, sample.records(), tried);
        const tookMs = performance.now() - begunMs;
        if (tookMs < fastestMs) parallel = tried;
        fastestMs = Math.min(fastestMs, tookMs);
      }
    },
    prepare: async () => {},
    works: {
      'bulk put': async () => {
        bulks += 1;
        return putBatches(baseline, await baseline.open(`${dataset}b${bulks}`), sample.records(), parallel);
      },
      put: async () => {
        await plain.replace(sample.record());
        return 1;
      },
      get,
      'get, leaf not cached': get,
      'getMany of 500': async () =>
        handledAll(await getBatch(baseline, plain, sample.keys(GET_MANY_KEYS)), GET_MANY_KEYS),
      scan: async () => handledAll(await plain.scan(), RECORD_COUNT),
    },
  };
}

async function putBatches(
  baseline: Baseline,
  plain: BaselineTable,
  records: readonly SampleRecord[],
  parallel: number,
): Promise<number> {
  const lanes = Map.groupBy(records, ({ key }) => baseline.lane(key));
  const batches = [...lanes.values()].flatMap((lane) => chunks(lane, baseline.putManyMax));
  const limit = pLimit(parallel);
  await Promise.all(batches.map((batch) => limit(() => plain.putMany(batch))));
  return records.length;
}

/** One native batch, or as many single gets where there is none. */
async function getBatch(baseline: Baseline, plain: BaselineTable, keys: readonly string[]): Promise<number> {
  if (baseline.getManyMax >= keys.length) return plain.getMany(keys);
  const limit = pLimit(SINGLE_GETS_IN_FLIGHT);
  const hits = await Promise.all(keys.map((key) => limit(() => plain.get(key))));
  return hits.filter(Boolean).length;
}

/** Writes them in one call; returns how many. Throws the error of one that failed. */
export async function putAll(table: Table<RecordFields>, records: readonly SampleRecord[]): Promise<number> {
  const outcomes = await table.putMany(records.map(({ key, fields }) => ({ key, value: fields })));
  const failed = outcomes.find((outcome) => outcome.status === 'failed');
  if (failed !== undefined) throw failed.error;
  return handledAll(outcomes.length, records.length);
}

function found(isFound: boolean): number {
  return handledAll(isFound ? 1 : 0, 1);
}
