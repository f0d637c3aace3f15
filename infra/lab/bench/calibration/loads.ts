// The loads of a calibration: what the layouts do, on 500-byte records whose keys come round and round in a scattered order, so that no two
// calls in flight ever want the same record.
import type { Baseline } from '../../../../shared/lab/work/baseline.ts';
import { chunks } from '../../../../shared/lab/kit/chunks.ts';
import { type RecordFields, recordSource, type SampleRecord } from '../../../../shared/lab/work/records.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { BUSY_IN_FLIGHT } from '../../../../shared/lab/cloud/data/processor.ts';
import { type Driver, openStore, type Table } from '../../../../shared/store/index.ts';
import { putAll } from '../contest/sides.ts';
import type { ConditionalReplace } from './conditional.ts';
import type { Backend, LoadKind } from './costs.ts';
import { countedDriver, type DriverUse } from './counted.ts';
import type { Work } from './turn.ts';

const RECORD_BYTES = 500;
/** Records in one `getMany` or `putMany` of this store. */
const MANY = 500;
/** A prime: its multiples pass all records before one comes again. */
const STRIDE = 7_919;
const BATCHES_IN_FLIGHT = 8;
const TIMEOUT_MS = 120_000;
/** Room for branches, and not for a leaf with its page table. */
const SMALL_CACHE_BYTES = 16 * 1_024;

/** The dataset, and the table, of every load. */
export const CALIBRATION = 'calibration';

/** Something that can be measured: its work, and what it has used at the driver so far. */
export interface Load {
  readonly backend: Backend;
  readonly kind: LoadKind;
  readonly inFlight: number;
  readonly work: Work;
  readonly use: (() => DriverUse) | undefined;
}

/** Scattered records of a table of so many, each with another text whenever it comes round. */
function recordCycle(records: number): () => SampleRecord {
  const source = recordSource(1, RECORD_BYTES);
  let drawn = 0;
  return () => {
    drawn += 1;
    return source((drawn * STRIDE) % records, drawn);
  };
}

/** A provider's plain SDK. */
export interface PlainSide {
  readonly provider: Provider;
  readonly baseline: Baseline;
  /** On the dataset `CALIBRATION`. */
  readonly conditional: ConditionalReplace;
}

/** The loads of single records and of the SDK's batches; fills the dataset first. */
export async function plainLoads({ provider, baseline, conditional }: PlainSide, records: number): Promise<Load[]> {
  const table = await baseline.open(CALIBRATION);
  const source = recordSource(1, RECORD_BYTES);
  const all = Array.from({ length: records }, (_, index) => source(index, 0));
  const lanes = [...Map.groupBy(all, ({ key }) => baseline.lane(key)).values()];
  const batchesOf = (size: number): SampleRecord[][] => lanes.flatMap((lane) => chunks(lane, size));
  for (const batch of batchesOf(baseline.putManyMax)) await table.putMany(batch);
  const next = recordCycle(records);
  let inserted = records;
  const works = {
    get: async () => expectAll(Number(await table.get(next().key)), 1),
    insert: async () => {
      inserted += 1;
      await table.insert(source(inserted, 0));
      return 1;
    },
    replace: async () => {
      await table.replace(next());
      return 1;
    },
    conditional: async () => {
      await conditional.replace(next());
      return 1;
    },
  };
  const singles = (Object.keys(works) as (keyof typeof works)[]).flatMap((verb) =>
    [1, 8, BUSY_IN_FLIGHT].map((inFlight) => ({
      kind: { layout: 'record', verb } as const,
      inFlight,
      work: works[verb],
    })),
  );
  const reads = batchSizes(baseline.getManyMax).map((size) => {
    const work = async (): Promise<number> =>
      expectAll(await table.getMany(Array.from({ length: size }, () => next().key)), size);
    return { kind: { layout: 'batch', verb: 'read', records: size } as const, inFlight: BATCHES_IN_FLIGHT, work };
  });
  const writes = batchSizes(baseline.putManyMax).map((size) => {
    const batches = batchesOf(size).filter(({ length }) => length === size);
    let batch = 0;
    const work = async (): Promise<number> => {
      batch += 1;
      await table.putMany(batches[batch % batches.length]!);
      return size;
    };
    return { kind: { layout: 'batch', verb: 'write', records: size } as const, inFlight: BATCHES_IN_FLIGHT, work };
  });
  return [...singles, ...reads, ...writes].map((load) => ({ ...load, backend: provider, use: undefined }));
}

function batchSizes(most: number): number[] {
  return [10, 50, 100, 500].filter((size) => size <= most);
}

/** A store with a table in containers of `bytesMax`; undefined: the default. */
export interface StoreSide {
  readonly backend: Backend;
  readonly driver: Driver;
  readonly bytesMax: number | undefined;
}

/** This store's loads, on a full table that memory knows; `close` ends the store and its driver. */
export async function containerLoads(
  { backend, driver: own, bytesMax }: StoreSide,
  { records, callers }: { readonly records: number; readonly callers: readonly number[] },
): Promise<{ readonly loads: Load[]; readonly close: () => Promise<void> }> {
  const { driver, use } = countedDriver(own);
  const options = bytesMax === undefined ? {} : { containerBytesMax: Math.min(bytesMax, own.limits.entityBytesMax) };
  const store = openStore({ driver, timeoutMs: TIMEOUT_MS });
  const table = await store.table<RecordFields>(CALIBRATION, options);
  const source = recordSource(1, RECORD_BYTES);
  const all = Array.from({ length: records }, (_, index) => source(index, 0));
  for (const some of chunks(all, MANY)) await putAll(table, some);
  await table.getMany(all.map(({ key }) => key));
  const size = bytesMax === undefined ? 'any size' : `${bytesMax / 1_024} KiB`;
  const forgetful = openStore({ driver, timeoutMs: TIMEOUT_MS, cacheBytesMax: SMALL_CACHE_BYTES });
  const unknown = await forgetful.table<RecordFields>(CALIBRATION, options);
  const next = recordCycle(records);
  const cold = [1, BUSY_IN_FLIGHT].map((inFlight) => ({
    backend,
    kind: { layout: 'container', verb: 'get', size: `${size}, cold` } as const,
    inFlight,
    work: async () => expectAll(Number((await unknown.get(next().key)) !== undefined), 1),
    use,
  }));
  const works = containerWorks(table, next, Math.min(MANY, records));
  const loads = (Object.keys(works) as (keyof typeof works)[]).flatMap((verb) =>
    (verb.endsWith('Record') ? [1, 4] : callers).map((inFlight) => ({
      backend,
      kind: { layout: 'container', verb, size } as const,
      inFlight,
      work: works[verb],
      use,
    })),
  );
  return {
    loads: [...loads, ...cold],
    close: async () => void (await Promise.all([store.close(), forgetful.close()])),
  };
}

function containerWorks(table: Table<RecordFields>, next: () => SampleRecord, many: number) {
  return {
    get: async () => expectAll(Number((await table.get(next().key)) !== undefined), 1),
    put: async () => {
      const { key, fields } = next();
      await table.put(key, fields);
      return 1;
    },
    update: async () => {
      const { key, fields } = next();
      await table.update(key, () => fields);
      return 1;
    },
    getManyRecord: async () => {
      const outcomes = await table.getMany(Array.from({ length: many }, () => next().key));
      return expectAll(outcomes.filter(({ status }) => status === 'found').length, many);
    },
    putManyRecord: () => putAll(table, Array.from({ length: many }, next)),
  };
}

/** Work that did not do all it was to do must not be measured. */
function expectAll(count: number, expected: number): number {
  if (count !== expected) throw new Error(`a load found ${count} of ${expected} records`);
  return count;
}
