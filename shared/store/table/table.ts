// A table as users see it: `Table` tells the results. Each verb checks its arguments and calls a
// reader, a writer or a scan.
import type { Verdict } from '../container/change.ts';
import type { Table } from '../contract/api.ts';
import type {
  BatchItem,
  CallOptions,
  DeleteItem,
  DeleteOptions,
  GetManyOptions,
  GetOptions,
  Order,
  PutItem,
  PutOptions,
  RangeOptions,
  ScanOptions,
  TouchOptions,
  UpdateOptions,
} from '../contract/options.ts';
import type { DeleteOutcome, PutOutcome, UpdateItem } from '../contract/results.ts';
import { asStoreError, saysNothingWritten, StoreError } from '../contract/errors.ts';
import { ARRAY, CHECK, checkArgument, checkItems, FUNCTION, SOURCE } from '../contract/check-options.ts';
import { decodeKey, encodeKey } from '../format/position.ts';
import { traceOperation } from '../system/tracing.ts';
import {
  checkBatch,
  deleteOutcome,
  type Keyed,
  prepareDelete,
  prepareItem,
  preparePut,
  prepareTouch,
  prepareUpdate,
  type Prepared,
  putOutcome,
  updateOutcome,
  versionAfter,
} from './actions.ts';
import { boundsOf } from './bounds.ts';
import type { TableContext } from './table-context.ts';
import { countFirstLeaf, type DoStep, partition, sumOverLeaves } from './leaf-ranges.ts';
import { RecordReader } from './read.ts';
import { type Give, TableScan } from './scan.ts';
import { decodeEntry } from './encode-value.ts';
import { Writer } from './write.ts';
import { isSource, type Source, writeSource } from './write-source.ts';

const keyOf: Give<string> = ({ key }) => decodeKey(key);
const NO_VALUE = { value: undefined, version: '', expiresAtMs: undefined };

export class StoredTable<V, In = V> implements Table<V, In> {
  readonly name: string;
  readonly order: Order;
  readonly groupBy: string | undefined;
  readonly isNew: boolean;
  readonly #context: TableContext;
  readonly #reader: RecordReader<V>;
  /** Decodes no value. */
  readonly #presence: RecordReader<undefined>;
  readonly #writer: Writer;

  constructor(context: TableContext) {
    const { engine, order, groupBy, isNew } = context;
    this.#context = context;
    this.name = engine.table;
    this.order = order;
    this.groupBy = groupBy;
    this.isNew = isNew;
    this.#reader = new RecordReader(context, (key, record, incarnation) =>
      decodeEntry<V>(this.#context, key, record, incarnation),
    );
    this.#presence = new RecordReader(context, (key) => ({ key, ...NO_VALUE }));
    this.#writer = new Writer(context);
  }

  get(key: string, options?: GetOptions) {
    return traceOperation(this.name, 'get', async () => {
      CHECK.get(options);
      const outcome = await this.#reader.readOne(key, options);
      if (outcome.status === 'absent') return undefined;
      const { value, version, expiresAtMs, ageMs } = outcome;
      return ageMs === undefined ? { key, value, version, expiresAtMs } : { key, value, version, expiresAtMs, ageMs };
    });
  }

  has(key: string, options?: GetOptions) {
    return traceOperation(this.name, 'has', async () => {
      CHECK.has(options);
      return (await this.#presence.readOne(key, options)).status === 'found';
    });
  }

  getMany(keys: readonly string[], options?: GetManyOptions) {
    return traceOperation(this.name, 'getMany', async () => {
      checkArgument('table.getMany', 'keys', ARRAY, keys);
      CHECK.getMany(options);
      return this.#reader.read(keys, options);
    });
  }

  put(key: string, value: In, options?: PutOptions) {
    return traceOperation(this.name, 'put', async () => {
      CHECK.put(options);
      const prepare = () => preparePut(this.#context, { ...options, key, value });
      const verdict = await this.#writeOne(key, prepare, options);
      return { version: versionAfter(verdict)! };
    });
  }

  putMany(items: readonly PutItem<In>[], options?: CallOptions): Promise<PutOutcome[]>;
  putMany(items: AsyncIterable<PutItem<In>>, options?: CallOptions): AsyncIterable<PutOutcome>;
  putMany(items: readonly PutItem<In>[] | AsyncIterable<PutItem<In>>, options?: CallOptions) {
    if (isSource(items)) {
      CHECK.putMany(options);
      return this.#writeSource('putMany', { ...this.#puts(options), items, itemOf: checkedPut });
    }
    return traceOperation(this.name, 'putMany', async () => {
      checkItems('table.putMany', items, CHECK.putItem, SOURCE);
      CHECK.putMany(options);
      // A copy: the caller may empty its array while a shared commit counts the items.
      return this.#writer.write({ ...this.#puts(options), items: items.slice() });
    });
  }

  #puts(options: CallOptions | undefined) {
    return { prepare: (item: PutItem<In>) => preparePut(this.#context, item), outcome: putOutcome, options };
  }

  #writeSource<Given, T extends Keyed, O>(method: string, source: Source<Given, T, O>): AsyncIterable<O> {
    return writeSource(this.#context, source, (slice) =>
      traceOperation(this.name, method, () => this.#writer.write(slice)),
    );
  }

  update(key: string, change: UpdateItem<V, In>['change'], options?: UpdateOptions) {
    return traceOperation(this.name, 'update', async () => {
      checkArgument('table.update', 'change', FUNCTION, change);
      CHECK.update(options);
      const prepare = () => prepareUpdate(this.#context, { ...options, key, change });
      const { record, incarnation } = await this.#writeOne(key, prepare, options, asThrown);
      return record === undefined ? undefined : decodeEntry<V>(this.#context, key, record, incarnation);
    });
  }

  updateMany(items: readonly UpdateItem<V, In>[], options?: CallOptions) {
    return traceOperation(this.name, 'updateMany', async () => {
      checkItems('table.updateMany', items, CHECK.updateItem);
      CHECK.updateMany(options);
      return this.#writer.write({
        items: items.slice(),
        prepare: (item) => prepareUpdate(this.#context, item),
        outcome: ({ key }, verdict) => updateOutcome<V>(this.#context, key, verdict),
        options,
      });
    });
  }

  touch(key: string, options?: TouchOptions) {
    return traceOperation(this.name, 'touch', async () => {
      CHECK.touch(options);
      const { record } = await this.#writeOne(key, () => prepareTouch(this.#context, key, options), options);
      return record !== undefined;
    });
  }

  /** The verdict on a lone change. Rejects with what `errorOf` makes of the error of a failure. */
  async #writeOne(
    key: string,
    prepare: () => Prepared,
    options: CallOptions | undefined,
    errorOf: (error: unknown) => unknown = asStoreError,
  ): Promise<Exclude<Verdict, { kind: 'failed' }>> {
    const [verdict] = await this.#writer.write({ items: [{ key }], prepare, outcome: verdictItself, options });
    if (verdict!.kind === 'failed') throw errorOf(verdict!.error);
    return verdict!;
  }

  delete(key: string, options?: DeleteOptions) {
    return traceOperation(this.name, 'delete', async () => {
      CHECK.delete(options);
      const prepare = () => prepareDelete(this.#context, { ...options, key });
      const version = versionAfter(await this.#writeOne(key, prepare, options));
      return { deleted: version !== undefined, version };
    });
  }

  deleteMany(items: readonly (string | DeleteItem)[], options?: CallOptions): Promise<DeleteOutcome[]>;
  deleteMany(items: AsyncIterable<string | DeleteItem>, options?: CallOptions): AsyncIterable<DeleteOutcome>;
  deleteMany(items: readonly (string | DeleteItem)[] | AsyncIterable<string | DeleteItem>, options?: CallOptions) {
    if (isSource(items)) {
      CHECK.deleteMany(options);
      return this.#writeSource('deleteMany', { ...this.#deletes(options), items, itemOf: checkedDelete });
    }
    return traceOperation(this.name, 'deleteMany', async () => {
      checkItems('table.deleteMany', items, CHECK.deleteItem, SOURCE);
      CHECK.deleteMany(options);
      return this.#writer.write({ ...this.#deletes(options), items: items.map(deletion) });
    });
  }

  #deletes(options: CallOptions | undefined) {
    return { prepare: (item: DeleteItem) => prepareDelete(this.#context, item), outcome: deleteOutcome, options };
  }

  batch(items: readonly BatchItem<In>[], options?: CallOptions) {
    return traceOperation(this.name, 'batch', async () => {
      checkItems('table.batch', items, CHECK.batchItem);
      CHECK.batch(options);
      checkBatch(items, this.#context.groupBy, this.name);
      if (items.length === 0) return [];
      const given = items.slice();
      const prepare = (item: BatchItem<In>) => prepareItem(this.#context, item);
      const verdicts = await this.#writer.writeTogether({ items: given, prepare, options });
      return given.map(({ key }, index) => ({ key, version: versionAfter(verdicts[index]!) }));
    });
  }

  async check(items: readonly BatchItem<In>[]): Promise<void> {
    checkItems('table.check', items, CHECK.checkedItem);
    await this.#context.engine.turns.forEach(items, (item) => {
      encodeKey(item.key, this.name);
      prepareItem(this.#context, item);
    });
  }

  scan(options: ScanOptions = {}) {
    CHECK.scan(options);
    return this.#walk(options, (record, incarnation) =>
      decodeEntry<V>(this.#context, decodeKey(record.key), record, incarnation),
    );
  }

  keys(options: ScanOptions = {}) {
    CHECK.keys(options);
    return this.#walk(options, keyOf);
  }

  /** Throws `invalid` for senseless options. */
  #walk<T>(options: ScanOptions, give: Give<T>): TableScan<T> {
    return new TableScan(this.#context, options, boundsOf(options, this.order, this.name), give);
  }

  count(options: RangeOptions = {}) {
    return traceOperation(this.name, 'count', async () => {
      CHECK.count(options);
      const { deadlines, engine } = this.#context;
      return sumOverLeaves(engine, boundsOf(options, this.order, this.name), (range) => {
        const work = () => countFirstLeaf(this.#context, range);
        return deadlines.bound(deadlines.begin(options), work);
      });
    });
  }

  clear(options: RangeOptions = {}) {
    return traceOperation(this.name, 'clear', async () => {
      CHECK.clear(options);
      const bounds = boundsOf(options, this.order, this.name);
      let removed = 0;
      const clearFirst: DoStep = async (range, incarnation) => {
        const step = await this.#writer.clear(range, incarnation, options);
        removed += step.count;
        return step;
      };
      try {
        return await sumOverLeaves(this.#context.engine, bounds, clearFirst);
      } catch (error) {
        throw removed > 0 ? afterRemoving(removed, error, this.name) : error;
      }
    });
  }

  partitions(count: number, options?: CallOptions) {
    return traceOperation(this.name, 'partitions', async () => {
      CHECK.partitions(options);
      const { deadlines, engine } = this.#context;
      return deadlines.bound(deadlines.begin(options), () => partition(engine, count));
    });
  }

  stats() {
    const { containerBytesMax, counters } = this.#context.engine;
    return { ...counters, containerBytesMax };
  }
}

function verdictItself(_: Keyed, verdict: Verdict): Verdict {
  return verdict;
}

function asThrown(error: unknown): unknown {
  return error;
}

function checkedPut<V>(item: PutItem<V>, index: number): PutItem<V> {
  CHECK.putItem(item, index);
  return item;
}

function checkedDelete(item: string | DeleteItem, index: number): DeleteItem {
  CHECK.deleteItem(item, index);
  return deletion(item);
}

function deletion(item: string | DeleteItem): DeleteItem {
  return typeof item === 'string' ? { key: item } : item;
}

/** The error of a clear that failed midway. One that forbids going on stays as it is. */
function afterRemoving(count: number, cause: unknown, table: string): unknown {
  const isUnknown = cause instanceof StoreError && cause.code === 'unknown';
  if (!isUnknown && !saysNothingWritten(cause)) return cause;
  const message = `the call ended when at least ${count} records were removed: clear again to remove the rest`;
  return new StoreError('unknown', message, { table, cause });
}
