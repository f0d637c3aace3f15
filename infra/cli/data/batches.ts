// Reads and writes many records, in calls of at most 1,000 records and about a MiB.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EncodedValue, PutItem, Table } from '../../../shared/store/index.ts';
import { warn } from '../print.ts';

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
