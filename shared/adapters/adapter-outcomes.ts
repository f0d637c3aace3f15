// Batches for adapters, whose callers expect that all items succeed or an error is thrown.
import type { BatchItem, DeleteOutcome, PutItem, StoreError, Table } from '../store/index.ts';

type Outcome = { readonly status: string } | { readonly status: 'failed'; readonly error: StoreError };
type Succeeded<O extends Outcome> = Exclude<O, { readonly status: 'failed' }>;

/** A later expiry, a quarter of a million years away, means none. */
const FURTHEST_MS = 8e15;

/** The outcomes, unless one has failed: then it throws the first error. */
export function succeeded<O extends Outcome>(outcomes: readonly O[]): Succeeded<O>[] {
  for (const outcome of outcomes) if ('error' in outcome) throw outcome.error;
  return outcomes as Succeeded<O>[];
}

/** Puts nothing if the table refuses an item as such. After another failure the rest may be put. */
export async function putAll(table: Table<unknown>, items: readonly PutItem<unknown>[]): Promise<void> {
  await checkAll(table, items);
  succeeded(await table.putMany(items));
}

/** As `putAll`. */
export async function deleteAll(table: Table<unknown>, keys: readonly string[]): Promise<Succeeded<DeleteOutcome>[]> {
  const items = keys.map((key) => ({ key, delete: true as const }));
  await checkAll(table, items);
  return succeeded(await table.deleteMany(keys));
}

/** A lone item is checked by its own call. */
async function checkAll(table: Table<unknown>, items: readonly BatchItem<unknown>[]): Promise<void> {
  if (items.length > 1) await table.check(items);
}

/** The expiry in whole milliseconds; undefined for none. */
export function expiryOf(ms: number | undefined): number | undefined {
  return ms !== undefined && ms <= FURTHEST_MS ? Math.ceil(ms) : undefined;
}

/** Throws a TypeError for anything but a table, such as a promise of one. */
export function checkTable(adapter: string, table: Partial<Table<unknown>> | undefined): void {
  if (typeof table?.putMany !== 'function') throw new TypeError(`${adapter} takes a table: await store.table(...)`);
}
