// The loads of a calibration: what the layouts do, on 500-byte records whose keys come round and round in a scattered order, so that no two
// calls in flight ever want the same record.
import { BUSY_IN_FLIGHT } from '../../../../shared/lab/cloud/data/processor.ts';
import { chunks } from '../../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { Baseline } from '../../../../shared/lab/work/baseline.ts';
import { batchClient, containerClient, recordClient } from '../../../../shared/lab/work/layout-clients.ts';
import { type RecordFields, recordSource, type SampleRecord } from '../../../../shared/lab/work/records.ts';
import { type Driver, openStore } from '../../../../shared/store/index.ts';
import { handledAll } from '../../bench/contest/sample.ts';
import type { Work } from '../../bench/contest/turn.ts';
import { countFound, read, sendMany, sendOne, update } from '../../bench/contest/works.ts';
import type { Backend, LoadKind } from './costs.ts';
import { countedDriver, type DriverUse } from './counted.ts';

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
const CALIBRATION = 'calibration';

const source = recordSource(1, RECORD_BYTES);

/** Something that can be measured: its work, and what it has used at the driver so far. */
export interface Load {
  readonly backend: Backend;
  readonly kind: LoadKind;
  readonly inFlight: number;
  readonly work: Work;
  /** Undefined of the plain SDK. */
  readonly use: (() => DriverUse) | undefined;
}

function allRecords(count: number): SampleRecord[] {
  return Array.from({ length: count }, (_, index) => source(index, 0));
}

/** Scattered records of a table of so many, each with another text whenever it comes round. */
function recordCycle(records: number): (count: number) => SampleRecord[] {
  let drawn = 0;
  const next = (): SampleRecord => {
    drawn += 1;
    return source((drawn * STRIDE) % records, drawn);
  };
  return (count) => Array.from({ length: count }, next);
}

/** The loads of single records and of the SDK's batches; fills the dataset first. */
export async function plainLoads(provider: Provider, baseline: Baseline, records: number): Promise<Load[]> {
  const table = await baseline.open(CALIBRATION);
  const single = recordClient(table);
  const batches = batchClient(baseline, table);
  const all = allRecords(records);
  await sendMany(batches, all.map(update), BATCHES_IN_FLIGHT);
  const draw = recordCycle(records);
  const next = (): SampleRecord => draw(1)[0]!;
  let inserted = records;
  const works = {
    get: () => sendOne(single, read(next().key)),
    insert: () => sendOne(single, { kind: 'insert', record: source(++inserted, 0), ended: () => {} }),
    replace: () => sendOne(single, update(next())),
    conditional: () => sendOne(single, { kind: 'modify', record: next() }),
  } as const;
  const loads: Pick<Load, 'kind' | 'inFlight' | 'work'>[] = [];
  for (const verb of Object.keys(works) as (keyof typeof works)[])
    for (const inFlight of [1, 8, BUSY_IN_FLIGHT])
      loads.push({ kind: { layout: 'record', verb }, inFlight, work: works[verb] });
  const batched = (verb: 'read' | 'write', size: number, work: Work): void =>
    void loads.push({ kind: { layout: 'batch', verb, records: size }, inFlight: BATCHES_IN_FLIGHT, work });
  for (const size of batchSizes(baseline.getManyMax))
    batched('read', size, () =>
      sendMany(
        batches,
        draw(size).map(({ key }) => read(key)),
        1,
      ),
    );
  const lanes = [...Map.groupBy(all, ({ key }) => baseline.lane(key)).values()];
  for (const size of batchSizes(baseline.putManyMax)) {
    const whole = lanes.flatMap((lane) => chunks(lane, size)).filter(({ length }) => length === size);
    let batch = 0;
    batched('write', size, () => sendMany(batches, whole[batch++ % whole.length]!.map(update), 1));
  }
  return loads.map((load) => ({ ...load, backend: provider, use: undefined }));
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
  const client = containerClient(table);
  const all = allRecords(records);
  for (const some of chunks(all, MANY)) await sendMany(client, some.map(update), 1);
  await table.getMany(all.map(({ key }) => key));
  const forgetful = openStore({ driver, timeoutMs: TIMEOUT_MS, cacheBytesMax: SMALL_CACHE_BYTES });
  const unknown = containerClient(await forgetful.table<RecordFields>(CALIBRATION, options));
  const size = bytesMax === undefined ? 'any size' : `${bytesMax / 1_024} KiB`;
  const many = Math.min(MANY, records);
  const draw = recordCycle(records);
  const next = (): SampleRecord => draw(1)[0]!;
  const load = (verb: keyof typeof works, work: Work, inFlight: number, suffix = ''): Load => {
    return { backend, kind: { layout: 'container', verb, size: size + suffix }, inFlight, work, use };
  };
  const works = {
    get: () => sendOne(client, read(next().key)),
    put: () => sendOne(client, update(next())),
    update: () => sendOne(client, { kind: 'modify', record: next() }),
    getManyRecord: async () =>
      handledAll(
        await countFound(
          table,
          draw(many).map(({ key }) => key),
        ),
        many,
      ),
    putManyRecord: () => sendMany(client, draw(many).map(update), 1),
  } as const;
  const warm = (Object.keys(works) as (keyof typeof works)[]).flatMap((verb) =>
    (verb.endsWith('Record') ? [1, 4] : callers).map((inFlight) => load(verb, works[verb], inFlight)),
  );
  const getCold = (): Promise<number> => sendOne(unknown, read(next().key));
  const cold = [1, BUSY_IN_FLIGHT].map((inFlight) => load('get', getCold, inFlight, ', cold'));
  return {
    loads: [...warm, ...cold],
    close: async () => void (await Promise.all([store.close(), forgetful.close()])),
  };
}
