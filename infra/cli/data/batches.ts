// Reading and writing many records: as many in one call as travel well together.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EncodedValue, Entry, PutItem, Scan, StoreError, Table } from '../../../shared/store/index.ts';

const BATCH_RECORDS = 1_000;
const BATCH_BYTES = 1024 * 1024;
/** A record that fails so often in a row ends the command. */
const TRIES_MAX = 8;
const PAUSE_FIRST_MS = 200;

/** Records that were read, and the cursor behind them; undefined at the end. */
export interface Batch {
  readonly entries: readonly Entry<EncodedValue>[];
  readonly cursor: string | undefined;
}

/** The rest of a scan in batches; the last may be empty. */
export async function* batchesOf(scan: Scan<EncodedValue>): AsyncGenerator<Batch> {
  let entries: Entry<EncodedValue>[] = [];
  let bytes = 0;
  for await (const entry of scan) {
    entries.push(entry);
    bytes += entry.value.bytes.length;
    if (entries.length < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
    yield { entries, cursor: scan.cursor };
    entries = [];
    bytes = 0;
  }
  yield { entries, cursor: undefined };
}

/** Writes over what is there; repeats what may succeed, throws what cannot. */
export async function putAll(
  table: Table<EncodedValue>,
  items: readonly PutItem<EncodedValue>[],
  signal: AbortSignal,
): Promise<void> {
  let left = items;
  for (let tries = 1; left.length > 0; tries += 1) {
    const outcomes = await table.putMany(left, { signal });
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
    const fatal = errors.find((error) => !mayBeRepeated(error) || tries === TRIES_MAX);
    if (fatal !== undefined) throw fatal;
    left = left.filter((_, index) => outcomes[index]?.status === 'failed');
    if (left.length > 0) await sleep(PAUSE_FIRST_MS * 2 ** (tries - 1), undefined, { signal });
  }
}

function mayBeRepeated({ code, retryable }: StoreError): boolean {
  return retryable || code === 'unknown';
}

/** Works on all items at once. The first failure ends the others, then is thrown. */
export async function sideBySide<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T, index: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const outcomes = await Promise.allSettled(
    items.map(async (item, index) => {
      try {
        await work(item, index, either);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }),
  );
  if (failed.signal.aborted) throw failed.signal.reason;
  if (outcomes.some(({ status }) => status === 'rejected')) signal.throwIfAborted();
}
