// The work of each contest, the same for both sides: each sends it as its layout's client does.
import { afterCalls, closedLoop, eachInFlight } from '../../../../shared/lab/load/closed-loop.ts';
import type { SdkBaseline } from '../../../../shared/lab/work/baseline.ts';
import {
  batchClient,
  containerClient,
  type LayoutClient,
  recordClient,
  sendCall,
} from '../../../../shared/lab/work/layout-clients.ts';
import { driverClient } from '../../../../shared/lab/work/driver-client.ts';
import type { Operation } from '../../../../shared/lab/work/operations.ts';
import type { RecordFields, SampleRecord } from '../../../../shared/lab/work/records.ts';
import type { Driver, Store } from '../../../../shared/store/index.ts';
import type { ContestName } from './goals.ts';
import { handledAll, RECORD_COUNT, Sample } from './sample.ts';
import type { Work } from './turn.ts';

const GET_MANY_KEYS = 500;
/** Single gets of the baseline that has no batched one, and writes of the driver. */
const SINGLES_IN_FLIGHT = 32;
const PARALLEL_BATCHES = [1, 4, 16] as const;
/** Alone and in company: callers share requests, so that a driver is not compiled by few. */
const WARM_UP_IN_FLIGHT = [1, 32];
/** Room for branches, and not for a leaf with its page table. */
export const SMALL_CACHE_BYTES = 16 * 1_024;

export interface Party {
  readonly single: LayoutClient;
  /** As `single`, without room in memory for a leaf. */
  readonly uncached: LayoutClient;
  /** For many reads in a call. */
  readonly many: LayoutClient;
  /** For many writes in a call, on a dataset that is made where it is missing. */
  bulk(dataset: string): Promise<LayoutClient>;
  /** Numbers of batches in parallel that are tried as the dataset is filled; the fastest stays. */
  readonly parallel: readonly number[];
  /** Reads all of these before a contest; left out where memory keeps nothing. */
  recall?(keys: readonly string[]): Promise<unknown>;
  scan(): Promise<number>;
}

/** This store, order `hash`, the default. `small` has room for branches, and not for a leaf. */
export async function ownParty(store: Store, small: Store, dataset: string): Promise<Party> {
  const table = await store.table<RecordFields>(dataset);
  const single = containerClient(table);
  return {
    single,
    uncached: containerClient(await small.table<RecordFields>(dataset)),
    many: single,
    bulk: async (name) => containerClient(await store.table<RecordFields>(name)),
    parallel: [1],
    recall: (keys) => table.getMany(keys),
    scan: async () => {
      let count = 0;
      for await (const _ of table.scan()) count += 1;
      return count;
    },
  };
}

/** One entity a record, through this store's driver: containers gain over it by packing alone. */
export function driverParty(driver: Driver, dataset: string): Party {
  const single = driverClient(driver, dataset);
  return {
    single,
    uncached: single,
    many: single,
    bulk: async (name) => driverClient(driver, name),
    parallel: [SINGLES_IN_FLIGHT],
    scan: () => Promise.reject(new Error('the driver scans no records')),
  };
}

export async function plainParty(baseline: SdkBaseline, dataset: string): Promise<Party> {
  const table = await baseline.open(dataset);
  const single = recordClient(table);
  return {
    single,
    uncached: single,
    many: batchClient(baseline, table),
    bulk: async (name) => batchClient(baseline, await baseline.open(name)),
    parallel: PARALLEL_BATCHES,
    scan: () => table.scan(),
  };
}

export class Contestant {
  readonly #party: Party;
  readonly #dataset: string;
  readonly #sample = new Sample();
  #parallel = 1;
  #bulks = 0;

  constructor(party: Party, dataset: string) {
    this.#party = party;
    this.#dataset = dataset;
  }

  /** Fills the dataset of the contests, which other processes of its side may use too. */
  async fill(): Promise<void> {
    const client = await this.#party.bulk(this.#dataset);
    let fastestMs = Infinity;
    for (const tried of this.#party.parallel) {
      const begunMs = performance.now();
      await sendMany(client, this.#sample.records().map(insert), tried);
      const tookMs = performance.now() - begunMs;
      if (tookMs < fastestMs) this.#parallel = tried;
      fastestMs = Math.min(fastestMs, tookMs);
    }
  }

  /** Brings about what a contest begins with: memory knows all records. */
  async prepare(): Promise<void> {
    await this.#party.recall?.(this.#sample.records().map(({ key }) => key));
  }

  /** Google's emulator is several times slower for its first ten thousand operations. */
  async warmUp(operations: number): Promise<void> {
    for (const work of [this.works.put, this.works.get])
      for (const inFlight of WARM_UP_IN_FLIGHT) await closedLoop(inFlight, afterCalls(operations), work);
  }

  readonly works: Readonly<Record<ContestName, Work>> = {
    // Into a table that does not exist yet, in one call.
    'bulk put': async () => {
      this.#bulks += 1;
      const client = await this.#party.bulk(`${this.#dataset}b${this.#bulks}`);
      return sendMany(client, this.#sample.records().map(insert), this.#parallel);
    },
    put: () => sendOne(this.#party.single, update(this.#sample.record())),
    get: () => sendOne(this.#party.single, read(this.#sample.key())),
    'get, leaf not cached': () => sendOne(this.#party.uncached, read(this.#sample.key())),
    'getMany of 500': () => sendMany(this.#party.many, this.#sample.keys(GET_MANY_KEYS).map(read), SINGLES_IN_FLIGHT),
    scan: async () => handledAll(await this.#party.scan(), RECORD_COUNT),
  };
}

function read(key: string): Operation {
  return { kind: 'read', key };
}

function update(record: SampleRecord): Operation {
  return { kind: 'update', record };
}

export function insert(record: SampleRecord): Operation {
  return { kind: 'insert', record, ended: () => {} };
}

/** Gives 1. Rejects with the error of a record that failed. */
async function sendOne(client: LayoutClient, operation: Operation): Promise<number> {
  failIfAny(await sendCall(client, [operation]));
  return 1;
}

/** In one call, so many requests at a time; gives the number of records. Rejects as `sendOne`. */
export async function sendMany(
  client: LayoutClient,
  operations: readonly Operation[],
  inFlight: number,
): Promise<number> {
  let records = 0;
  for (const units of client.call(operations)) {
    await eachInFlight(units, inFlight, async (unit) => failIfAny(await unit.send()));
    for (const unit of units) records += unit.records;
  }
  return handledAll(records, operations.length);
}

function failIfAny([error]: readonly unknown[]): void {
  if (error !== undefined) throw error;
}
