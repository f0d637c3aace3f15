// The work of both sides of each contest, on the same 10,000 records of 500 bytes of text in five fields, with random keys. The SDK's batches
// run with the parallelism that was fastest in a trial.
import pLimit from 'p-limit';
import type { Baseline, BaselineTable } from '../../../shared/compare/baseline/baseline.ts';
import { chunks } from '../../../shared/compare/data/chunks.ts';
import { uniformIndexes } from '../../../shared/compare/data/distributions.ts';
import { type Random, seededRandom } from '../../../shared/compare/data/random.ts';
import { type RecordFields, recordSource, type SampleRecord } from '../../../shared/compare/data/records.ts';
import type { Store, Table } from '../../../shared/store/index.ts';
import type { Work } from './contest.ts';
import type { ContestName } from './goals.ts';

const RECORD_COUNT = 10_000;
const RECORD_BYTES = 500;
const GET_MANY_KEYS = 500;
/** Single gets of the baseline that has no batched one. */
const SINGLE_GETS_IN_FLIGHT = 32;
const PARALLEL_BATCHES = [1, 4, 16] as const;

/** Where a contest takes place: one provider, reached in one way. */
export interface Target {
  readonly baseline: Baseline;
  readonly store: Store;
  /** A store whose cache has room for branches, and not for a leaf. */
  readonly smallCacheStore: Store;
}

/** Work of both sides by contest, for single calls; records of `name` must have been loaded. */
export type Works = Readonly<
  Record<Exclude<ContestName, 'stored bytes'>, { readonly ours: Work; readonly theirs: Work }>
>;

export class Sides {
  readonly #target: Target;
  readonly #dataset: string;
  readonly #source = recordSource(1, RECORD_BYTES);
  readonly #random: Random = seededRandom(1);
  readonly #draw = uniformIndexes(RECORD_COUNT, this.#random);
  #round = 0;
  #bulks = 0;
  #parallelBatches: number = PARALLEL_BATCHES[0];

  /** `dataset` names the tables; those of one dataset may be shared by targets of one provider. */
  constructor(target: Target, dataset: string) {
    this.#target = target;
    this.#dataset = dataset;
  }

  /** All records, in a text of their own each round. */
  records(): SampleRecord[] {
    this.#round += 1;
    return Array.from({ length: RECORD_COUNT }, (_, index) => this.#source(index, this.#round));
  }

  /** Fills the tables of both sides, the SDK's several times with different parallelism: that of the fastest stays. */
  async load(now: () => number): Promise<void> {
    const plain = await this.#target.baseline.open(this.#dataset);
    let fastest = Infinity;
    for (const parallel of PARALLEL_BATCHES) {
      const begunMs = now();
      await this.#putBatches(plain, this.records(), parallel);
      const tookMs = now() - begunMs;
      if (tookMs < fastest) this.#parallelBatches = parallel;
      fastest = Math.min(fastest, tookMs);
    }
    const table = await this.#table(this.#target.store);
    await putAll(table, this.records());
  }

  /** What both sides do, with all records in the cache of ours. */
  async works(): Promise<Works> {
    const { baseline, store, smallCacheStore } = this.#target;
    const plain = await baseline.open(this.#dataset);
    const table = await this.#table(store);
    const smallCacheTable = await this.#table(smallCacheStore);
    await table.getMany(this.records().map(({ key }) => key));
    const someKeys = (): string[] => {
      const keys = new Set<string>();
      while (keys.size < GET_MANY_KEYS) keys.add(this.#key());
      return [...keys];
    };
    const plainGet = async (): Promise<number> => found(await plain.get(this.#key()));
    return {
      'bulk put': { ours: () => this.#bulkOurs(), theirs: () => this.#bulkTheirs() },
      put: {
        ours: async () => {
          const { key, fields } = this.#record();
          await table.put(key, fields);
          return 1;
        },
        theirs: async () => {
          await plain.replace(this.#record());
          return 1;
        },
      },
      get: { ours: async () => found((await table.get(this.#key())) !== undefined), theirs: plainGet },
      'get, leaf not cached': {
        ours: async () => found((await smallCacheTable.get(this.#key())) !== undefined),
        theirs: plainGet,
      },
      'getMany of 500': {
        ours: async () => {
          const outcomes = await table.getMany(someKeys());
          return foundAll(outcomes.filter(({ status }) => status === 'found').length, GET_MANY_KEYS);
        },
        theirs: async () => foundAll(await this.#getBatch(plain, someKeys()), GET_MANY_KEYS),
      },
      scan: {
        ours: async () => {
          let count = 0;
          for await (const _ of table.scan()) count += 1;
          return foundAll(count, RECORD_COUNT);
        },
        theirs: async () => foundAll(await plain.scan(), RECORD_COUNT),
      },
    };
  }

  /** The container table; of order `hash`, the default. */
  #table(store: Store): Promise<Table<RecordFields>> {
    return store.table<RecordFields>(this.#dataset);
  }

  #key(): string {
    return this.#source(this.#draw(), 0).key;
  }

  /** A new text for a record that is there. */
  #record(): SampleRecord {
    this.#round += 1;
    return this.#source(this.#draw(), this.#round);
  }

  /** Into a table that does not exist yet, in one call. */
  async #bulkOurs(): Promise<number> {
    this.#bulks += 1;
    const table = await this.#target.store.table<RecordFields>(`${this.#dataset}b${this.#bulks}`);
    return putAll(table, this.records());
  }

  async #bulkTheirs(): Promise<number> {
    this.#bulks += 1;
    const plain = await this.#target.baseline.open(`${this.#dataset}b${this.#bulks}`);
    return this.#putBatches(plain, this.records(), this.#parallelBatches);
  }

  async #putBatches(plain: BaselineTable, records: readonly SampleRecord[], parallel: number): Promise<number> {
    const { baseline } = this.#target;
    const lanes = Map.groupBy(records, ({ key }) => baseline.lane(key));
    const batches = [...lanes.values()].flatMap((lane) => chunks(lane, baseline.putManyMax));
    const limit = pLimit(parallel);
    await Promise.all(batches.map((batch) => limit(() => plain.putMany(batch))));
    return records.length;
  }

  /** One native batch, or as many single gets where there is none. */
  async #getBatch(plain: BaselineTable, keys: readonly string[]): Promise<number> {
    if (this.#target.baseline.getManyMax >= keys.length) return plain.getMany(keys);
    const limit = pLimit(SINGLE_GETS_IN_FLIGHT);
    const hits = await Promise.all(keys.map((key) => limit(() => plain.get(key))));
    return hits.filter(Boolean).length;
  }
}

/** Writes them in one call; returns how many. Throws the error of one that failed. */
export async function putAll(table: Table<RecordFields>, records: readonly SampleRecord[]): Promise<number> {
  const outcomes = await table.putMany(records.map(({ key, fields }) => ({ key, value: fields })));
  const failed = outcomes.find((outcome) => outcome.status === 'failed');
  if (failed !== undefined) throw failed.error;
  return foundAll(outcomes.length, records.length);
}

function found(isFound: boolean): number {
  return foundAll(isFound ? 1 : 0, 1);
}

/** Work that did not do all it was to do must not be measured. */
function foundAll(count: number, expected: number): number {
  if (count !== expected) throw new Error(`a contest handled ${count} of ${expected} records`);
  return count;
}
