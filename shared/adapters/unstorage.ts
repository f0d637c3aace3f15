// `@stowage/store/unstorage`: a table as a driver of unstorage, and so of Nuxt and Nitro.
import type { Driver, TransactionOptions } from 'unstorage';
import type { PutItem, Table } from '../store/index.ts';
import { checkTable, deleteAll, expiryOf, putAll, succeeded } from './adapter-outcomes.ts';

const MS_PER_SECOND = 1_000;

type Setting = Parameters<NonNullable<Driver['setItems']>>[0][number];

/**
 * A table as a driver of unstorage. Raw values are stored as they are. `ttl`, in seconds, is the
 * record's expiry; `getMeta` tells it, and the version as `etag`. A base is a prefix, for which the
 * order `hash` reads all keys. A batch rejects with its first StoreError; the rest may be done,
 * unless an item cannot be stored. Costs as much as the table's calls.
 *
 * @example
 * const pages = await store.table('pages', { order: 'key' });
 * const storage = createStorage({ driver: stowageDriver(pages) });
 */
export function stowageDriver(table: Table<unknown>): Required<Omit<Driver, 'options' | 'watch' | 'dispose'>> {
  checkTable('stowageDriver', table);
  const valueOf = async (key: string): Promise<unknown> => (await table.get(key))?.value ?? null;
  const put = async (key: string, value: unknown, options?: TransactionOptions): Promise<void> => {
    await table.put(key, value, lifeOf(options));
  };
  return {
    name: 'stowage',
    // unstorage filters by depth itself.
    flags: { maxDepth: false, ttl: true },
    getInstance: () => table,
    hasItem: (key) => table.has(key),
    getItem: valueOf,
    getItemRaw: valueOf,
    async getItems(items) {
      const outcomes = succeeded(await table.getMany(items.map(({ key }) => key)));
      return outcomes.map((outcome) => {
        const value = outcome.status === 'found' ? outcome.value : null;
        return { key: outcome.key, value: value as string | null };
      });
    },
    setItem: put,
    setItemRaw: put,
    async setItems(items, common) {
      const puts = items.map((item) => itemOf(item, common));
      await putAll(table, puts);
    },
    async removeItem(key) {
      await table.delete(key);
    },
    async getMeta(key) {
      const entry = await table.get(key);
      if (entry === undefined) return null;
      const { version, expiresAtMs } = entry;
      return { etag: version, ...(expiresAtMs === undefined ? {} : { ttl: secondsUntil(expiresAtMs) }) };
    },
    // Without a base unstorage means the whole mount.
    getKeys: (base: string | undefined) => keysBelow(table, base),
    async clear(base: string | undefined) {
      if (table.order === 'key' || !base) await table.clear(rangeOf(table, base));
      else await deleteAll(table, await keysBelow(table, base));
    },
  };
}

async function keysBelow(table: Table<unknown>, base = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of table.keys(rangeOf(table, base))) if (key.startsWith(base)) keys.push(key);
  return keys;
}

function rangeOf({ order }: Table<unknown>, base = ''): { readonly prefix?: string } {
  return order === 'hash' || base === '' ? {} : { prefix: base };
}

function itemOf({ key, value, options }: Setting, common: TransactionOptions | undefined): PutItem<unknown> {
  return { key, value, ...lifeOf({ ...common, ...options }) };
}

/** The expiry of `ttl` in seconds. 0 and less mean none, as in unstorage's other drivers. */
function lifeOf(options: TransactionOptions | undefined): { readonly ttlMs?: number } {
  const ttl: unknown = options?.['ttl'];
  const ttlMs = typeof ttl === 'number' && ttl > 0 ? expiryOf(ttl * MS_PER_SECOND) : undefined;
  return ttlMs === undefined ? {} : { ttlMs };
}

function secondsUntil(expiresAtMs: number): number {
  return Math.max(0, Math.ceil((expiresAtMs - Date.now()) / MS_PER_SECOND));
}
