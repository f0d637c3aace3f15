// A table of this store that holds texts, written and read as the experiments do. Work that was not done wholly must not be measured.
import type { Table } from '../../shared/store/index.ts';
import type { TextRecord } from './plain-sdk/plain-sdk.ts';

/** Writes the records in one call; throws the error of one that failed. */
export async function putAll(table: Table<string>, records: readonly TextRecord[], signal: AbortSignal): Promise<void> {
  const outcomes = await table.putMany(
    records.map(({ key, text }) => ({ key, value: text })),
    { signal },
  );
  for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
}
