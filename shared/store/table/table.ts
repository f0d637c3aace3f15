// A table as users see it. Each verb checks its arguments and calls a reader, a writer or a scan.
import type { Verdict } from '../container/change.ts';
import type { Scan, Table } from '../contract/api.ts';
import type {
  CallOptions,
  DeleteItem,
  DeleteOptions,
  GetOptions,
  Order,
  PutItem,
  PutOptions,
  ScanOptions,
  UpdateOptions,
} from '../contract/options.ts';
import type { DeleteOutcome, Entry, GetOutcome, PutOutcome } from '../contract/results.ts';
import { asStoreError, StoreError } from '../contract/errors.ts';
import { ARRAY, CHECK, checkArgument, checkItems, FUNCTION } from '../contract/check-options.ts';
import type { TableStats } from '../contract/stats.ts';
import { type ActionContext, prepareDelete, preparePut, prepareUpdate } from './actions.ts';
import type { TableContext } from './context.ts';
import { partition } from './partitions.ts';
import { RecordReader } from './read.ts';
import { TableScan } from './scan.ts';
import { decodeEntry, versionOf } from './values.ts';
import { Writer } from './write.ts';

export class StoredTable<V> implements Table<V> {
  readonly name: string;
  readonly order: Order;
  readonly isNew: boolean;
  readonly #context: TableContext;
  readonly #actions: ActionContext;
  readonly #reader: RecordReader<V>;
  readonly #writer: Writer;

  constructor(context: TableContext) {
    const { engine, order, isNew, codec } = context;
    this.#context = context;
    this.name = engine.table;
    this.order = order;
    this.isNew = isNew;
    this.#actions = { table: engine.table, codec, wallMs: () => engine.runtime.wallMs() };
    this.#reader = new RecordReader(context);
    this.#writer = new Writer(context);
  }

  async get(key: string, options?: GetOptions): Promise<Entry<V> | undefined> {
    CHECK.get(options);
    const [outcome] = await this.#reader.read([key], options);
    if (outcome?.status === 'failed') throw outcome.error;
    return outcome?.status === 'found' ? withoutStatus(outcome) : undefined;
  }

  async getMany(keys: readonly string[], options?: GetOptions): Promise<GetOutcome<V>[]> {
    checkArgument('table.getMany', 'keys', ARRAY, keys);
    CHECK.getMany(options);
    return this.#reader.read(keys, options);
  }

  async put(key: string, value: V, options?: PutOptions): Promise<{ readonly version: string }> {
    CHECK.put(options);
    const [outcome] = await this.#putAll([{ ...options, key, value }], options);
    if (outcome?.status !== 'written') throw outcome?.error ?? noVerdict();
    return { version: outcome.version };
  }

  async putMany(items: readonly PutItem<V>[], options?: CallOptions): Promise<PutOutcome[]> {
    checkItems('table.putMany', items, CHECK.putItem);
    CHECK.putMany(options);
    // A copy: the caller may empty its array while a shared commit counts the items.
    return this.#putAll(items.slice(), options);
  }

  #putAll(items: readonly PutItem<V>[], options: CallOptions | undefined): Promise<PutOutcome[]> {
    return this.#writer.write({
      items,
      prepare: (item) => preparePut(this.#actions, item),
      outcome: putOutcome,
      options,
    });
  }

  async update(
    key: string,
    change: (current: Entry<V> | undefined) => V | undefined,
    options?: UpdateOptions,
  ): Promise<Entry<V> | undefined> {
    checkArgument('table.update', 'change', FUNCTION, change);
    CHECK.update(options);
    const prepared = prepareUpdate(this.#actions, key, change, options?.ttlMs);
    const [verdict] = await this.#writer.write({
      items: [{ key }],
      prepare: () => prepared,
      outcome: (_, verdict) => verdict,
      options,
    });
    if (verdict === undefined || verdict.kind === 'failed') throw verdict?.error ?? noVerdict();
    const { record, incarnation } = verdict;
    return record === undefined ? undefined : decodeEntry(this.#actions, key, record, incarnation);
  }

  async delete(
    key: string,
    options?: DeleteOptions,
  ): Promise<{ readonly deleted: boolean; readonly version: string | undefined }> {
    CHECK.delete(options);
    const [outcome] = await this.#deleteAll([{ ...options, key }], options);
    if (outcome?.status === 'failed') throw outcome.error;
    return outcome?.status === 'deleted'
      ? { deleted: true, version: outcome.version }
      : { deleted: false, version: undefined };
  }

  async deleteMany(items: readonly (string | DeleteItem)[], options?: CallOptions): Promise<DeleteOutcome[]> {
    checkItems('table.deleteMany', items, CHECK.deleteItem);
    CHECK.deleteMany(options);
    const wanted = items.map((item): DeleteItem => (typeof item === 'string' ? { key: item } : item));
    return this.#deleteAll(wanted, options);
  }

  #deleteAll(items: readonly DeleteItem[], options: CallOptions | undefined): Promise<DeleteOutcome[]> {
    return this.#writer.write({
      items,
      prepare: (item) => prepareDelete(this.#actions, item),
      outcome: deleteOutcome,
      options,
    });
  }

  scan(options: ScanOptions = {}): Scan<V> {
    CHECK.scan(options);
    return new TableScan<V>(this.#context, options);
  }

  async partitions(count: number, options?: CallOptions): Promise<string[]> {
    CHECK.partitions(options);
    const { deadlines, engine } = this.#context;
    return deadlines.bound(deadlines.begin(options), () => partition(engine, count));
  }

  stats(): TableStats {
    const { containerBytesMax, counters, readLimit, writeLimit } = this.#context.engine;
    return {
      ...counters,
      readsInFlightMax: readLimit.inFlightMax,
      commitsInFlightMax: writeLimit.inFlightMax,
      containerBytesMax,
    };
  }
}

function putOutcome({ key }: { readonly key: string }, verdict: Verdict): PutOutcome {
  if (verdict.kind === 'applied') return { status: 'written', key, version: versionOf(verdict) };
  return { status: 'failed', key, error: verdict.kind === 'failed' ? asStoreError(verdict.error) : noVerdict() };
}

function deleteOutcome({ key }: DeleteItem, verdict: Verdict): DeleteOutcome {
  if (verdict.kind === 'applied') return { status: 'deleted', key, version: versionOf(verdict) };
  return verdict.kind === 'unchanged'
    ? { status: 'absent', key }
    : { status: 'failed', key, error: asStoreError(verdict.error) };
}

function withoutStatus<V>({ key, value, version, expiresAtMs }: Entry<V>): Entry<V> {
  return { key, value, version, expiresAtMs };
}

function noVerdict(): StoreError {
  return new StoreError('unknown', 'the write ended without a verdict');
}
