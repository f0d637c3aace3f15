// Copies a table into another store, in ranges side by side, each of which can go on where it
// stopped. It is no snapshot: a record that is changed meanwhile arrives as it was at some moment.
import * as z from 'zod';
import type { EncodedValue, Entry, Store, Table, TableOptions } from '../../../shared/store/index.ts';
import { batchesOf, putAll, sideBySide } from './batches.ts';
import { Checksum, lineOf } from './record-line.ts';

/** How far ranges of a table have come: a cursor for each, null for one that is done. */
export const COPY_STATE = z.strictObject({ ranges: z.array(z.string().nullable()), records: z.int() });
export type CopyState = z.infer<typeof COPY_STATE>;

export interface RangesOptions {
  /** Ranges that are read side by side, unless `state` has them. */
  readonly ranges: number;
  /** Goes on there. */
  readonly state: CopyState | undefined;
  /** Called after each batch that was put. */
  readonly onState: (state: CopyState) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Reads ranges side by side, and hands batches of records to `put`. Gives their number. */
export async function putRanges(
  table: Table<EncodedValue>,
  { ranges: count, state, onState, signal }: RangesOptions,
  put: (entries: readonly Entry<EncodedValue>[], signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const ranges: (string | null)[] = state?.ranges.slice() ?? (await table.partitions(count, { signal }));
  let records = state?.records ?? 0;
  await sideBySide(ranges.slice(), signal, async (begin, index, either) => {
    if (begin === null) return;
    const scan = table.scan({ cursor: begin, signal: either });
    for await (const entries of batchesOf(scan)) {
      await put(entries, either);
      ranges[index] = scan.cursor ?? null;
      records += entries.length;
      await onState({ ranges: ranges.slice(), records });
    }
  });
  return records;
}

export interface CopyOptions extends RangesOptions {
  readonly from: Store;
  readonly to: Store;
  readonly table: string;
  /** The table's name in the other store, which makes it if it has none. */
  readonly target: string;
}

/** Gives the number of records. Rejects with a StoreError. */
export async function copyTable({ from, to, table, target: name, ...options }: CopyOptions): Promise<number> {
  const source = await encodedTable(from, table, { create: false });
  const target = await encodedTable(to, name, layoutOf(source));
  return await putRanges(source, options, (entries, signal) => {
    const items = entries.map(({ key, value, expiresAtMs }) => ({
      key,
      value,
      ...(expiresAtMs !== undefined && { expiresAtMs }),
    }));
    return putAll(target, items, signal);
  });
}

/** Reads a whole table, in ranges side by side. */
export async function checksumOf(
  table: Table<EncodedValue>,
  ranges: number,
  signal: AbortSignal,
  onRecord: () => void = () => {},
): Promise<Checksum> {
  const checksum = new Checksum();
  const cursors = await table.partitions(ranges, { signal });
  await sideBySide(cursors, signal, async (cursor, _, either) => {
    for await (const entry of table.scan({ cursor, signal: either })) {
      checksum.add(lineOf(entry));
      onRecord();
    }
  });
  return checksum;
}

/** The options by which a table is made like another. */
export function layoutOf({ order, groupBy }: Pick<Table<unknown>, 'order' | 'groupBy'>) {
  return { order, ...(groupBy !== undefined && { groupBy }) };
}

export function encodedTable(
  store: Store,
  name: string,
  options: Pick<TableOptions, 'order' | 'groupBy' | 'create' | 'signal'>,
): Promise<Table<EncodedValue>> {
  return store.table(name, { ...options, codec: 'encoded' });
}
