// Copies a table into another store, ranges side by side, each resumable. It is no snapshot: a
// record that is changed meanwhile arrives as it was at some moment.
import type { EncodedValue, Store, Table, TableOptions } from '../../../shared/store/index.ts';
import { batchesOf, putAll, sideBySide } from './batches.ts';
import { Checksum, lineOf } from './record-line.ts';

/** The state of a copy, as JSON: a cursor for each range, null for one that is done. */
export interface CopyState {
  readonly ranges: readonly (string | null)[];
  readonly records: number;
}

export interface CopyOptions {
  readonly from: Store;
  readonly to: Store;
  /** Its name there. */
  readonly table: string;
  /** Its name in the store it goes to, where it is created if need be. */
  readonly target: string;
  /** Ranges that are copied side by side. */
  readonly ranges: number;
  /** Goes on there. */
  readonly state: CopyState | undefined;
  /** Called after each batch that has arrived. */
  readonly onState: (state: CopyState) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rejects with a StoreError; what `onState` heard last can be gone on from. */
export async function copyTable(options: CopyOptions): Promise<CopyState> {
  const source = await encodedTable(options.from, options.table, { create: false });
  const target = await encodedTable(options.to, options.target, layoutOf(source));
  const ranges: (string | null)[] =
    options.state?.ranges.slice() ?? (await source.partitions(options.ranges, { signal: options.signal }));
  let records = options.state?.records ?? 0;
  await sideBySide(ranges.slice(), options.signal, async (begin, index, signal) => {
    if (begin === null) return;
    const scan = source.scan({ cursor: begin, signal });
    for await (const entries of batchesOf(scan)) {
      const items = entries.map(({ key, value, expiresAtMs }) => ({
        key,
        value,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
      }));
      await putAll(target, items, signal);
      ranges[index] = scan.cursor ?? null;
      records += items.length;
      await options.onState({ ranges: ranges.slice(), records });
    }
  });
  return { ranges, records };
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
  options: Pick<TableOptions, 'order' | 'groupBy' | 'create'>,
): Promise<Table<EncodedValue>> {
  return store.table(name, { ...options, codec: 'encoded' });
}
