// `@stowage/store/level`: a table as a database of abstract-level.
import {
  type AbstractBatchOperation,
  type AbstractClearOptions,
  type AbstractDatabaseOptions,
  AbstractIterator,
  type AbstractIteratorOptions,
  AbstractLevel,
  type AbstractOpenOptions,
} from 'abstract-level';
import type { Entry, RangeOptions, ScanOptions, Store, Table } from '../store/index.ts';
import { deleteAll, succeeded } from './adapter-outcomes.ts';

const EMPTY = '\0';

/**
 * A table of order `key` and codec `bytes` as an abstract-level, which creates it. Keys of ASCII
 * are the records' keys; each other byte takes two of a key's 1,024. Iterators have no snapshot. A
 * batch in one group is atomic. Others reject with their first StoreError; the rest may be done,
 * unless an item cannot be stored. Costs as much as the table's calls.
 *
 * @example
 * const db = new StowageLevel<string, object>(store, 'users', { valueEncoding: 'json' });
 * for await (const [key] of db.iterator({ gte: 'a', reverse: true })) console.log(key);
 */
export class StowageLevel<K = string, V = string> extends AbstractLevel<Uint8Array, K, V> {
  readonly #store: Store;
  readonly #name: string;
  #table: Promise<Table<Uint8Array>> | undefined;

  constructor(store: Store, name: string, options?: AbstractDatabaseOptions<K, V>) {
    super({ encodings: { view: true }, has: true, seek: true, implicitSnapshots: false }, options);
    if (typeof (store as Partial<Store> | undefined)?.table !== 'function')
      throw new TypeError('StowageLevel takes a store, such as openStore() makes');
    this.#store = store;
    this.#name = name;
  }

  /** Opens the table, again after a failure. */
  get table(): Promise<Table<Uint8Array>> {
    this.#table ??= this.#store.table(this.#name, { order: 'key', codec: 'bytes' }).catch((error: unknown) => {
      this.#table = undefined;
      throw error;
    });
    return this.#table;
  }

  /** Rejects if the constructor could not open the table. */
  override open(options: AbstractOpenOptions = {}): Promise<void> {
    return this.status === 'open' ? this.table.then(() => super.open(options)) : super.open(options);
  }

  /** Ignores an error of the constructor's call, which nobody awaits; later calls report it. */
  protected async _open({ passive }: AbstractOpenOptions): Promise<void> {
    await (passive === false ? this.table.catch(() => undefined) : this.table);
  }

  protected async _get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const table = await this.table;
    return (await table.get(textOf(key)))?.value;
  }

  protected async _getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const table = await this.table;
    const outcomes = succeeded(await table.getMany(keys.map(textOf)));
    return outcomes.map((outcome) => (outcome.status === 'found' ? outcome.value : undefined));
  }

  protected async _has(key: Uint8Array): Promise<boolean> {
    return (await this.table).has(textOf(key));
  }

  protected async _hasMany(keys: Uint8Array[]): Promise<boolean[]> {
    const table = await this.table;
    return Promise.all(keys.map((key) => table.has(textOf(key))));
  }

  protected async _put(key: Uint8Array, value: Uint8Array): Promise<void> {
    await (await this.table).put(textOf(key), value);
  }

  protected async _del(key: Uint8Array): Promise<void> {
    await (await this.table).delete(textOf(key));
  }

  /** Operations on equal keys take effect in order: the last one counts. */
  protected async _batch(operations: AbstractBatchOperation<this, Uint8Array, Uint8Array>[]): Promise<void> {
    const table = await this.table;
    const last = new Map(operations.map((operation) => [textOf(operation.key), operation]));
    const items = [...last].map(([key, one]) =>
      one.type === 'put' ? { key, value: one.value } : { key, delete: true as const },
    );
    if (isOneGroup(items, table.groupBy)) return void (await table.batch(items));
    await table.check(items);
    const puts = items.filter((item) => item.delete !== true);
    const deletes = items.filter((item) => item.delete === true).map(({ key }) => key);
    const [written, deleted] = await Promise.all([table.putMany(puts), table.deleteMany(deletes)]);
    succeeded(written);
    succeeded(deleted);
  }

  protected async _clear(options: AbstractClearOptions<Uint8Array>): Promise<void> {
    const { reverse = false, limit = -1 } = options;
    const table = await this.table;
    const range = rangeOf(options);
    if (limit === 0) return;
    if (limit < 0) return void (await table.clear(range));
    const keys: string[] = [];
    for await (const key of table.keys({ ...range, reverse, limit })) keys.push(key);
    await deleteAll(table, keys);
  }

  protected _iterator(options: AbstractIteratorOptions<Uint8Array, Uint8Array>): TableIterator<K, V> {
    return new TableIterator<K, V>(this, options);
  }
}

/** Iterates over records, or over keys if no values are wanted. */
class TableIterator<K, V> extends AbstractIterator<StowageLevel<K, V>, K, V> {
  readonly #options: AbstractIteratorOptions<Uint8Array, Uint8Array>;
  #items: AsyncIterator<Entry<Uint8Array> | string> | undefined;
  #target: Uint8Array | undefined;

  constructor(db: StowageLevel<K, V>, options: AbstractIteratorOptions<Uint8Array, Uint8Array>) {
    super(db, options as unknown as AbstractIteratorOptions<K, V>);
    this.#options = options;
  }

  protected async _next(): Promise<[K, V] | undefined> {
    this.#items ??= this.#begin(await this.db.table);
    const { done, value: item } = await this.#items.next();
    if (done === true) return undefined;
    const [key, value] = typeof item === 'string' ? [item, undefined] : [item.key, item.value];
    return [bytesOf(key), value] as unknown as [K, V];
  }

  protected _seek(target: Uint8Array): void {
    void this.#items?.return?.();
    this.#items = undefined;
    this.#target = target;
  }

  protected async _close(): Promise<void> {
    await this.#items?.return?.();
  }

  #begin(table: Table<Uint8Array>): AsyncIterator<Entry<Uint8Array> | string> {
    const { reverse, values, limit = -1 } = this.#options;
    const range = rangeOf(this.#options);
    const left = limit < 0 ? {} : { limit: Math.max(1, limit - this.count) };
    const isReverse = reverse === true;
    const options: ScanOptions = { ...startedAt(this.#target, range, isReverse), reverse: isReverse, ...left };
    return (values === false ? table.keys(options) : table.scan(options))[Symbol.asyncIterator]();
  }
}

/** Whether the keys are of one group: equal up to the first `groupBy`, or the same key. */
function isOneGroup(items: readonly { readonly key: string }[], groupBy: string | undefined): boolean {
  if (groupBy === undefined) return false;
  const groups = items.map(({ key }) => (key.includes(groupBy) ? key.slice(0, key.indexOf(groupBy) + 1) : key));
  return new Set(groups).size === 1;
}

function rangeOf({ gt, gte, lt, lte }: AbstractClearOptions<Uint8Array>): RangeOptions {
  return {
    ...(gte !== undefined ? { from: textOf(gte) } : gt !== undefined ? { after: textOf(gt) } : {}),
    ...(lte !== undefined ? { through: textOf(lte) } : lt !== undefined ? { to: textOf(lt) } : {}),
  };
}

/** The part of the range from the target on; empty if the target is outside of it. */
function startedAt(target: Uint8Array | undefined, range: RangeOptions, isReverse: boolean): RangeOptions {
  if (target === undefined) return range;
  const { from, after, to, through } = range;
  const text = textOf(target);
  const [first, last] = [from ?? after, to ?? through];
  const isBelow = first !== undefined && (text < first || text === after);
  const isAbove = last !== undefined && (text > last || text === to);
  if (isBelow || isAbove) return { from: EMPTY, to: EMPTY };
  const { from: _from, after: _after, ...end } = range;
  const { to: _to, through: _through, ...begin } = range;
  return isReverse ? { through: text, ...begin } : { from: text, ...end };
}

/** One character per byte, which keeps the order. EMPTY stands before a key that would be empty. */
function textOf(key: Uint8Array): string {
  const text = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
  return text === '' || text.startsWith(EMPTY) ? EMPTY + text : text;
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.startsWith(EMPTY) ? text.slice(EMPTY.length) : text, 'latin1');
}
