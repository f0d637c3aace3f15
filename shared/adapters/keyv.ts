// `@stowage/store/keyv`: a table as the storage of Keyv, version 6.
import { EventEmitter } from 'node:events';
import {
  keyvStorageCapability,
  type KeyvStorageAdapter,
  type KeyvStorageCapability,
  type KeyvStorageEntry,
  type KeyvStorageGetResult,
} from 'keyv';
import type { PutItem, Table } from '../store/index.ts';
import { checkTable, deleteAll, expiryOf, putAll, succeeded } from './adapter-outcomes.ts';

const SEPARATOR = '::';

/** Keyv types an emitter's methods more narrowly than Node. */
const Emitter = EventEmitter as unknown as new () => Pick<
  KeyvStorageAdapter,
  keyof KeyvStorageAdapter & keyof EventEmitter
>;

/**
 * A table as the storage of Keyv. A namespace is the prefix `namespace::`, and needs an adapter of
 * its own; to clear or iterate it, the table must have the order `key` (else `invalid`). An expiry
 * is the record's. A batch rejects with its first StoreError; the rest may be done, unless an item
 * cannot be stored. Costs as much as the table's calls.
 *
 * @example
 * const table = await store.table('cache', { order: 'key' });
 * const cache = new Keyv({ store: new KeyvStowage(table), namespace: 'users', ttl: 60_000 });
 */
export class KeyvStowage extends Emitter implements KeyvStorageAdapter {
  readonly #table: Table<unknown>;
  #namespace: string | undefined;
  /** Whether the namespace was set or used. Keyv never tells an adapter which Keyv it serves. */
  #isFixed = false;

  constructor(table: Table<unknown>) {
    super();
    checkTable('KeyvStowage', table);
    this.#table = table;
  }

  get namespace(): string | undefined {
    return this.#namespace;
  }

  /** Throws a TypeError if it has another: two Keyv would read and clear each other's records. */
  set namespace(namespace: string | undefined) {
    if (this.#isFixed && namespace !== this.#namespace) {
      const served = this.#namespace === undefined ? 'no namespace' : `the namespace "${this.#namespace}"`;
      throw new TypeError(`this adapter serves ${served}: make another KeyvStowage of the table for "${namespace}"`);
    }
    this.#namespace = namespace;
    this.#isFixed = true;
  }

  /** Expiries are absolute. */
  get capabilities(): KeyvStorageCapability {
    return keyvStorageCapability(this);
  }

  async get<Value>(key: string): Promise<KeyvStorageGetResult<Value>> {
    const entry = await this.#table.get(this.#keyOf(key));
    return entry?.value as KeyvStorageGetResult<Value>;
  }

  async getMany<Value>(keys: string[]): Promise<KeyvStorageGetResult<Value | undefined>[]> {
    const outcomes = succeeded(await this.#table.getMany(keys.map((key) => this.#keyOf(key))));
    return outcomes.map(
      (outcome) => (outcome.status === 'found' ? outcome.value : undefined) as KeyvStorageGetResult<Value | undefined>,
    );
  }

  async has(key: string): Promise<boolean> {
    return this.#table.has(this.#keyOf(key));
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    return Promise.all(keys.map((key) => this.has(key)));
  }

  /** `expires`: milliseconds since 1970. */
  async set(key: string, value: unknown, expires?: number): Promise<boolean> {
    await this.setMany([{ key, value, ...(expires === undefined ? {} : { expires }) }]);
    return true;
  }

  async setMany<Value>(entries: KeyvStorageEntry<Value>[]): Promise<boolean[]> {
    const items = entries.map((entry) => this.#itemOf(entry));
    await putAll(this.#table, items);
    return entries.map(() => true);
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#table.delete(this.#keyOf(key))).deleted;
  }

  async deleteMany(keys: string[]): Promise<boolean[]> {
    const own = keys.map((key) => this.#keyOf(key));
    const outcomes = await deleteAll(this.#table, own);
    return outcomes.map(({ status }) => status === 'deleted');
  }

  /** Deletes the namespace's records, or all. */
  async clear(): Promise<void> {
    await this.#table.clear(this.#range());
  }

  /** The namespace's keys and values, or all. Reads leaf by leaf. */
  async *iterator<Value>(): AsyncGenerator<(string | Awaited<Value> | undefined)[], void> {
    const skipped = this.#keyOf('').length;
    for await (const { key, value } of this.#table.scan(this.#range()))
      yield [key.slice(skipped), value as Awaited<Value>];
  }

  async disconnect(): Promise<void> {}

  #itemOf<Value>({ key, value, expires }: KeyvStorageEntry<Value>): PutItem<unknown> {
    const expiresAtMs = expiryOf(expires);
    return { key: this.#keyOf(key), value, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
  }

  #keyOf(key: string): string {
    this.#isFixed = true;
    return this.namespace === undefined || this.namespace === '' ? key : this.namespace + SEPARATOR + key;
  }

  #range(): { readonly prefix?: string } {
    const prefix = this.#keyOf('');
    return prefix === '' ? {} : { prefix };
  }
}
