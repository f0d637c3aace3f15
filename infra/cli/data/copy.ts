// Reads and writes many records: in calls of at most 1,000 records and about a MiB, and in ranges
// side by side, each of which can go on where it stopped. A copy is no snapshot: a record that is
// changed meanwhile arrives as it was at some moment.
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { EncodedValue, Entry, PutItem, Store, Table, TableOptions } from '../../../shared/store/index.ts';
import { given } from '../command-options.ts';
import { warn } from '../print.ts';
import { Checksum, lineOf } from './record-line.ts';

const BATCH_RECORDS = 1_000;
const BATCH_BYTES = 1024 * 1024;
/** The command ends if a record fails this many times in a row. */
const TRIES_MAX = 8;
const PAUSE_FIRST_MS = 200;

/** Records in batches, of which the last may be empty. The scan's cursor is behind each batch. */
export async function* batchesOf<Item extends Pick<PutItem<EncodedValue>, 'value'>>(
  records: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<Item[]> {
  let items: Item[] = [];
  let bytes = 0;
  for await (const item of records) {
    items.push(item);
    bytes += item.value.bytes.length;
    if (items.length < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
    yield items;
    items = [];
    bytes = 0;
  }
  yield items;
}

/** Writes over what is there. Retries what may succeed, and prints that; throws other errors. */
export async function putAll(
  table: Table<EncodedValue>,
  items: readonly PutItem<EncodedValue>[],
  signal: AbortSignal,
  onWritten: (count: number) => void = () => {},
): Promise<void> {
  let left = items;
  for (let tries = 1; ; tries += 1) {
    const outcomes = await table.putMany(left, { signal });
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
    onWritten(outcomes.length - errors.length);
    const fatal = errors.find(({ retryable, code }) => !retryable && code !== 'unknown');
    if (fatal !== undefined) throw fatal;
    const [failed] = errors;
    if (failed === undefined) return;
    signal.throwIfAborted();
    if (tries === TRIES_MAX) throw new Error(`${failed.message}: run the command again`, { cause: failed });
    const trouble = failed.code === 'throttled' ? 'asks to slow down' : 'does not answer';
    warn(`the store ${trouble}, try ${tries + 1} of ${TRIES_MAX}`);
    left = left.filter((_, index) => outcomes[index]?.status === 'failed');
    await sleep(PAUSE_FIRST_MS * 2 ** (tries - 1), undefined, { signal });
  }
}

/** Works on all items at once. The first failure ends the others, then is thrown. */
export async function sideBySide<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T, index: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  await Promise.all(
    items.map(async (item, index) => {
      try {
        await work(item, index, either);
      } catch (error) {
        failed.abort(error);
      }
    }),
  );
  failed.signal.throwIfAborted();
}

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
    const items = entries.map(({ key, value, expiresAtMs }) => given({ key, value, expiresAtMs }));
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
  return given({ order, groupBy });
}

export function encodedTable(
  store: Store,
  name: string,
  options: Pick<TableOptions, 'order' | 'groupBy' | 'create' | 'signal'>,
): Promise<Table<EncodedValue>> {
  return store.table(name, { ...options, codec: 'encoded' });
}
