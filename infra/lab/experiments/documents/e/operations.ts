// The operations of document E on one provider: a key and a text of 500 characters a record, written and read one by one, together, and from a
// cache in this process, which stands for memcache.
import { randomUUID } from 'node:crypto';
import { chunks } from '../../../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import type { Table } from '../../../../../shared/store/index.ts';
import type { Backends } from '../../backends.ts';
import type { CountedStore } from '../../counted-store.ts';
import type { PlainSdk, PlainTable, Spent, TextRecord } from '../../plain-sdk/plain-sdk.ts';
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

/** Where the figures of an operation on so many records stand. */
export function cellOf(name: OperationName, records: number): string {
  return `${name}-${records}`;
}

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

/** Records to write and keys to read. */
class Draws {
  readonly #loaded: number;
  readonly #textOf = textsOf(CHARACTERS);
  #drawn = 0;

  /** `loaded` records are there to be read. */
  constructor(loaded: number) {
    this.#loaded = loaded;
  }

  /** The records that are there to be read. */
  loaded(): TextRecord[] {
    return Array.from({ length: this.#loaded }, (_, index) => ({ key: keyOf(index), text: this.#textOf(index) }));
  }

  /** New records. */
  fresh(count: number): TextRecord[] {
    return Array.from({ length: count }, () => ({ key: `w${randomUUID()}`, text: this.#textOf(this.#next()) }));
  }

  /** Keys far from each other. */
  spread(count: number): string[] {
    return Array.from({ length: count }, () => keyOf((this.#next() * STRIDE) % this.#loaded));
  }

  /** Keys of neighbours, beginning somewhere. */
  page(count: number): string[] {
    const first = (this.#next() * STRIDE) % Math.max(1, this.#loaded - count + 1);
    return Array.from({ length: count }, (_, index) => keyOf((first + index) % this.#loaded));
  }

  /** As many pages as it takes, of at most `sizeMax` keys, and none of more than there are records. */
  pages(count: number, sizeMax: number): string[][] {
    const size = Math.min(sizeMax, this.#loaded);
    return Array.from({ length: Math.ceil(count / size) }, (_, index) =>
      this.page(Math.min(size, count - index * size)),
    );
  }

  #next(): number {
    this.#drawn += 1;
    return this.#drawn;
  }
}

function keyOf(index: number): string {
  return `k${String(index).padStart(8, '0')}`;
}

/** What requests of "5 writes + 100 reads" are made on. */
export interface Tables {
  readonly plain: PlainTable;
  readonly stored: Table<string>;
  readonly draws: Pick<Draws, 'fresh' | 'page'>;
}

export interface Opened {
  readonly operations: Operations;
  readonly tables: Tables;
}

/** Opens tables with so many records to read; the store's has them in order, as a plain table does. */
export async function openOperations(
  backends: Backends,
  { provider, loaded, signal }: { readonly provider: Provider; readonly loaded: number; readonly signal: AbortSignal },
): Promise<Opened> {
  const sdk = await backends.plain(provider);
  const counted = await backends.store(provider);
  const plain = await sdk.open('operations');
  const stored = await counted.store.table<string>('operations', { order: 'key' });
  const draws = new Draws(loaded);
  const batches = { inFlight: BATCHES_IN_FLIGHT, signal };
  await forEachOf(chunks(draws.loaded(), sdk.insertManyMax), batches, (some) => plain.insertMany(some));
  await putAll(stored, draws.loaded(), signal);
  const operations = {
    ...plainOperations(sdk, plain, draws, signal),
    ...storeOperations(counted, stored, draws, signal),
  };
  return { operations, tables: { plain, stored, draws } };
}

function plainOperations(sdk: PlainSdk, table: PlainTable, draws: Draws, signal: AbortSignal) {
  const lone = { inFlight: 1, signal };
  const batches = { inFlight: BATCHES_IN_FLIGHT, signal };
  const operation = (run: Operation['run']): Operation => ({ run, spent: () => sdk.spent() });
  return {
    write_single: operation((count) => forEachOf(draws.fresh(count), lone, (record) => table.insert(record))),
    write_batch: operation((count) =>
      forEachOf(chunks(draws.fresh(count), sdk.insertManyMax), batches, (some) => table.insertMany(some)),
    ),
    read_single: operation((count) => forEachOf(draws.spread(count), lone, (key) => table.read(key))),
    read_batch: operation((count) =>
      forEachOf(draws.pages(count, sdk.readManyMax), batches, (keys) => readAll(table, keys)),
    ),
  };
}

function storeOperations(counted: CountedStore, table: Table<string>, draws: Draws, signal: AbortSignal) {
  const lone = { inFlight: 1, signal };
  const operation = (run: Operation['run']): Operation => ({ run, spent: () => counted.spent() });
  const get = (count: number, maxAgeMs: number): Promise<void> =>
    forEachOf(draws.spread(count), lone, (key) => readOne(table, key, { maxAgeMs, signal }));
  return {
    memcache: operation((count) => get(count, MAX_AGE_MS)),
    put: operation((count) => forEachOf(draws.fresh(count), lone, ({ key, text }) => table.put(key, text, { signal }))),
    putMany: operation((count) => putAll(table, draws.fresh(count), signal)),
    get: operation((count) => get(count, 0)),
    getMany: operation((count) =>
      forEachOf(draws.pages(count, Infinity), { inFlight: BATCHES_IN_FLIGHT, signal }, (keys) =>
        getAll(table, keys, signal),
      ),
    ),
  };
}

export async function readAll(table: PlainTable, keys: readonly string[]): Promise<void> {
  const found = await table.readMany(keys);
  if (found !== keys.length) throw new Error(`${found} of ${keys.length} records were found`);
}

async function readOne(
  table: Table<string>,
  key: string,
  options: { readonly maxAgeMs: number; readonly signal: AbortSignal },
): Promise<void> {
  if ((await table.get(key, options)) === undefined) throw new Error(`there is no record ${key}`);
}
