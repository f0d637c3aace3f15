// The operations of document E on one provider: a key and a text of 500 characters a record, written and read one by one, together, and from a
// cache in this process, which stands for memcache.
import { randomUUID } from 'node:crypto';
import { chunks } from '../../../../shared/compare/data/chunks.ts';
import type { Provider } from '../../../../shared/compare/dimensions.ts';
import type { Table } from '../../../../shared/store/index.ts';
import type { Backends } from '../../backends.ts';
import type { PlainTable, Spent, TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { forEachOf } from '../../rounds.ts';
import { getAll, putAll } from '../../text-table.ts';
import { textsOf } from '../../texts.ts';

/** As the document has them. */
const OF_THEN = ['write_single', 'write_batch', 'read_single', 'read_batch', 'memcache'] as const;
/** The same of this store, where `memcache` is its cache. */
const OF_STORE = ['put', 'putMany', 'get', 'getMany'] as const;

export const OPERATIONS = [...OF_THEN, ...OF_STORE] as const;

export type OperationThen = (typeof OF_THEN)[number];
export type OperationName = (typeof OPERATIONS)[number];

export interface Operation {
  /** Handles so many records, each once as far as there are as many. */
  run(records: number): Promise<void>;
  /** Of this operation's client. */
  spent(): Spent;
}

export type Operations = Readonly<Record<OperationName, Operation>>;

const CHARACTERS = 500;
/** Batches on their way at a time, where one does not take all. */
const BATCHES_IN_FLIGHT = 8;
/** Old enough for every read of the experiment. */
const MAX_AGE_MS = 3_600_000;
/** Coprime to any number of records that is not a multiple of it: visits all of them, far apart. */
const STRIDE = 7_919;

/** What requests of "5 writes + 100 reads" are made on. */
export interface Tables {
  readonly plain: PlainTable;
  readonly stored: Table<string>;
  /** New records. */
  fresh(count: number): TextRecord[];
  /** Keys of neighbours among the records that are there, `count` of them from some page on. */
  page(count: number): string[];
}

export interface Opened {
  readonly operations: Operations;
  readonly tables: Tables;
}

/** Opens tables with so many records to read. */
export async function openOperations(
  backends: Backends,
  { provider, loaded, signal }: { readonly provider: Provider; readonly loaded: number; readonly signal: AbortSignal },
): Promise<Opened> {
  const sdk = await backends.plain(provider);
  const counted = await backends.store(provider);
  const plain = await sdk.open('operations');
  const stored = await counted.store.table<string>('operations', { order: 'key' });
  const textOf = textsOf(CHARACTERS);
  const records = Array.from({ length: loaded }, (_, index) => ({ key: keyOf(index), text: textOf(index) }));
  const inBatches = <Item>(items: readonly Item[], size: number, work: (batch: Item[]) => Promise<unknown>) =>
    forEachOf(chunks(items, size), { inFlight: BATCHES_IN_FLIGHT, signal }, work);
  const oneByOne = <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) =>
    forEachOf(items, { inFlight: 1, signal }, work);
  await inBatches(records, sdk.insertManyMax, (batch) => plain.insertMany(batch));
  await putAll(stored, records, signal);

  let drawn = 0;
  const fresh = (count: number): TextRecord[] =>
    Array.from({ length: count }, () => ({ key: `w${randomUUID()}`, text: textOf((drawn += 1)) }));
  const spreadKeys = (count: number): string[] =>
    Array.from({ length: count }, () => keyOf(((drawn += 1) * STRIDE) % loaded));
  const page = (count: number): string[] => {
    const first = ((drawn += 1) * STRIDE) % Math.max(1, loaded - count + 1);
    return Array.from({ length: count }, (_, index) => keyOf((first + index) % loaded));
  };
  const pages = (count: number, size: number): string[][] => {
    const sizeMax = Math.min(size, loaded);
    return Array.from({ length: Math.ceil(count / sizeMax) }, (_, index) =>
      page(Math.min(sizeMax, count - index * sizeMax)),
    );
  };
  const read = (all: string[][], work: (keys: string[]) => Promise<unknown>) =>
    forEachOf(all, { inFlight: BATCHES_IN_FLIGHT, signal }, work);

  const ofPlain = (run: Operation['run']): Operation => ({ run, spent: () => sdk.spent() });
  const ofStore = (run: Operation['run']): Operation => ({ run, spent: () => counted.spent() });
  const operations: Operations = {
    write_single: ofPlain((count) => oneByOne(fresh(count), (record) => plain.insert(record))),
    write_batch: ofPlain((count) => inBatches(fresh(count), sdk.insertManyMax, (batch) => plain.insertMany(batch))),
    read_single: ofPlain((count) => oneByOne(spreadKeys(count), (key) => plain.read(key))),
    read_batch: ofPlain((count) => read(pages(count, sdk.readManyMax), (keys) => readAll(plain, keys))),
    memcache: ofStore((count) =>
      oneByOne(spreadKeys(count), (key) => readOne(stored, key, { maxAgeMs: MAX_AGE_MS, signal })),
    ),
    put: ofStore((count) => oneByOne(fresh(count), ({ key, text }) => stored.put(key, text, { signal }))),
    putMany: ofStore((count) => putAll(stored, fresh(count), signal)),
    get: ofStore((count) => oneByOne(spreadKeys(count), (key) => readOne(stored, key, { signal }))),
    getMany: ofStore((count) => read(pages(count, loaded), (keys) => getAll(stored, keys, signal))),
  };
  return { operations, tables: { plain, stored, fresh, page } };
}

function keyOf(index: number): string {
  return `k${String(index).padStart(8, '0')}`;
}

export async function readAll(table: PlainTable, keys: readonly string[]): Promise<void> {
  const found = await table.readMany(keys);
  if (found !== keys.length) throw new Error(`${found} of ${keys.length} records were found`);
}

async function readOne(
  table: Table<string>,
  key: string,
  options: { readonly maxAgeMs?: number; readonly signal: AbortSignal },
): Promise<void> {
  if ((await table.get(key, options)) === undefined) throw new Error(`there is no record ${key}`);
}
