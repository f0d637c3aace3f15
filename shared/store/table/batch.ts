// A batch of one group: its items are checked before anything is sent, then go in one commit.
import type { BatchItem } from '../contract/options.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { encodeKey, groupOf } from '../format/position.ts';
import { type ActionContext, prepareDelete, preparePut, type Prepared } from './actions.ts';

/** One commit evaluates them without a pause: some 20 ms. */
const ITEMS_MAX = 5_000;

/** Throws `invalid` for items of two groups or twice one key, `too_large` for too many. */
export function checkBatch(items: readonly BatchItem<unknown>[], groupBy: string | undefined, table: string): void {
  if (groupBy === undefined)
    throw new StoreError('invalid', 'a batch needs a table that was created with groupBy', { table });
  if (items.length > ITEMS_MAX)
    throw new StoreError('too_large', `a batch has at most ${ITEMS_MAX} items: send smaller ones`, { table });
  const keys = new Set<string>();
  const [first = { key: '' }] = items;
  for (const { key } of items) {
    const [group, other] = [first.key, key].map((each) => groupOf(encodeKey(each, table), groupBy));
    if (compareBytes(group!, other!) !== 0) {
      const names = `${JSON.stringify(first.key)} and ${JSON.stringify(key)}`;
      throw new StoreError('invalid', `a batch is of one group, but ${names} are of two`, { table, key });
    }
    if (keys.has(key)) throw new StoreError('invalid', 'a batch has each key once', { table, key });
    keys.add(key);
  }
}

export function prepareItem(context: ActionContext, item: BatchItem<unknown>): Prepared {
  if (item.delete !== true) return preparePut(context, item);
  const { key, delete: _delete, ifVersion: _ifVersion, ...others } = item;
  if (Object.values(others).every((one) => one === undefined)) return prepareDelete(context, item);
  throw new StoreError('invalid', 'a deletion takes ifVersion alone', { table: context.table, key });
}
