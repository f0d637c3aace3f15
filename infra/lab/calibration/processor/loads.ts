// The loads of a calibration. Keys are scattered: no two calls in flight want one record.
import { BUSY_IN_FLIGHT, type ContainerCosts, type RecordCosts } from '../../../../shared/lab/cloud/data/processor.ts';
import { chunks } from '../../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { Baseline } from '../../../../shared/lab/work/baseline.ts';
import { batchClient, containerClient, recordClient } from '../../../../shared/lab/work/layout-clients.ts';
import type { Operation } from '../../../../shared/lab/work/operations.ts';
import { type RecordFields, recordSource, type SampleRecord } from '../../../../shared/lab/work/records.ts';
import { type Driver, openStore } from '../../../../shared/store/index.ts';
import type { Work } from '../../bench/contest/turn.ts';
import { insert, read, sendMany, sendOne, SMALL_CACHE_BYTES, update } from '../../bench/contest/works.ts';
import type { Backend, LoadKind } from './costs.ts';
import { countedDriver, type DriverUse } from './counted.ts';

const RECORD_BYTES = 500;
/** Records in one `getMany` or `putMany` of this store. */
const MANY = 500;
/** A prime: its multiples pass all records before one comes again. */
const STRIDE = 7_919;
const BATCH_SIZES = [10, 50, 100, 500];
const BATCHES_IN_FLIGHT = 8;
const TIMEOUT_MS = 120_000;
const CALIBRATION = 'calibration';

const source = recordSource(1, RECORD_BYTES);

export interface Load {
  readonly backend: Backend;
  readonly kind: LoadKind;
  readonly inFlight: number;
  readonly work: Work;
  /** Undefined of the plain SDK. */
  readonly use: (() => DriverUse) | undefined;
}

/** Options of this store's loads. */
interface ContainerSize {
  readonly bytesMax: number | undefined;
  readonly records: number;
  readonly callers: readonly number[];
}

/** The records of a table, and scattered ones with another text whenever they come round. */
function recordsOf(count: number) {
  let drawn = 0;
  const next = (): SampleRecord => {
    drawn += 1;
    return source((drawn * STRIDE) % count, drawn);
  };
  return {
    all: Array.from({ length: count }, (_, index) => source(index, 0)),
    next,
    some: (size: number): SampleRecord[] => Array.from({ length: size }, next),
  };
}

function readsOf(records: readonly SampleRecord[]): Operation[] {
  return records.map(({ key }) => read(key));
}

/** The loads of single records and of the SDK's batches; fills the dataset first. */
export async function plainLoads(provider: Provider, baseline: Baseline, records: number): Promise<Load[]> {
  const table = await baseline.open(CALIBRATION);
  const [single, batches] = [recordClient(table), batchClient(baseline, table)];
  const { all, next, some } = recordsOf(records);
  await sendMany(batches, all.map(update), BATCHES_IN_FLIGHT);
  let inserted = records;
  const works: Readonly<Record<keyof RecordCosts, Work>> = {
    get: () => sendOne(single, read(next().key)),
    insert: () => sendOne(single, insert(source(++inserted, 0))),
    replace: () => sendOne(single, update(next())),
    conditional: () => sendOne(single, { kind: 'modify', record: next() }),
  };
  const load = (kind: LoadKind, inFlight: number, work: Work): Load => {
    return { backend: provider, kind, inFlight, work, use: undefined };
  };
  const singles = (Object.keys(works) as (keyof RecordCosts)[]).flatMap((verb) =>
    [1, 8, BUSY_IN_FLIGHT].map((inFlight) => load({ layout: 'record', verb }, inFlight, works[verb])),
  );
  const batched = (verb: 'read' | 'write', size: number, draw: () => Operation[]): Load =>
    load({ layout: 'batch', verb, records: size }, BATCHES_IN_FLIGHT, () => sendMany(batches, draw(), 1));
  const reads = BATCH_SIZES.filter((size) => size <= baseline.getManyMax).map((size) =>
    batched('read', size, () => readsOf(some(size))),
  );
  const lanes = [...Map.groupBy(all, ({ key }) => baseline.lane(key)).values()];
  const writes = BATCH_SIZES.filter((size) => size <= baseline.putManyMax).map((size) => {
    const whole = lanes.flatMap((lane) => chunks(lane, size)).filter(({ length }) => length === size);
    let batch = 0;
    return batched('write', size, () => whole[batch++ % whole.length]!.map(update));
  });
  return [...singles, ...reads, ...writes];
}

/** On a full table that memory knows, in containers of `bytesMax`. `close` ends the driver, too. */
export async function containerLoads(
  { backend, driver: own }: { readonly backend: Backend; readonly driver: Driver },
  { bytesMax, records, callers }: ContainerSize,
): Promise<{ readonly loads: Load[]; readonly close: () => Promise<void> }> {
  const { driver, use } = countedDriver(own);
  const options = bytesMax === undefined ? {} : { containerBytesMax: Math.min(bytesMax, own.limits.entityBytesMax) };
  const store = openStore({ driver, timeoutMs: TIMEOUT_MS });
  const forgetful = openStore({ driver, timeoutMs: TIMEOUT_MS, cacheBytesMax: SMALL_CACHE_BYTES });
  const table = await store.table<RecordFields>(CALIBRATION, options);
  const client = containerClient(table);
  const { all, next, some } = recordsOf(records);
  for (const part of chunks(all, MANY)) await sendMany(client, part.map(update), 1);
  await table.getMany(all.map(({ key }) => key));
  const unknown = containerClient(await forgetful.table<RecordFields>(CALIBRATION, options));
  const many = Math.min(MANY, records);
  const works: Readonly<Record<keyof ContainerCosts['operation'], Work>> = {
    get: () => sendOne(client, read(next().key)),
    put: () => sendOne(client, update(next())),
    update: () => sendOne(client, { kind: 'modify', record: next() }),
    getManyRecord: () => sendMany(client, readsOf(some(many)), 1),
    putManyRecord: () => sendMany(client, some(many).map(update), 1),
  };
  const load = (verb: keyof typeof works, inFlight: number, isCold = false): Load => {
    const work = isCold ? () => sendOne(unknown, read(next().key)) : works[verb];
    return { backend, kind: { layout: 'container', verb }, inFlight, work, use };
  };
  const warm = (Object.keys(works) as (keyof typeof works)[]).flatMap((verb) =>
    (verb.endsWith('Record') ? [1, 4] : callers).map((inFlight) => load(verb, inFlight)),
  );
  return {
    loads: [...warm, load('get', 1, true), load('get', BUSY_IN_FLIGHT, true)],
    close: async () => void (await Promise.all([store.close(), forgetful.close()])),
  };
}
