// A table of this store that holds texts, written and read as the experiments do. Work that was not done wholly must not be measured.
import type { Table } from '../../../shared/store/index.ts';
import type { TextRecord } from './plain-sdk/plain-sdk.ts';

/** Writes the records in one call; throws the error of one that failed. */
export async function putAll(table: Table<string>, records: readonly TextRecord[], signal: AbortSignal): Promise<void> {
  const outcomes = await table.putMany(
    records.map(({ key, text }) => ({ key, value: text })),
    { signal },
  );
  for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
}

/** Reads the records in one call; throws the error of one that failed, or says that one is absent. */
export async function getAll(table: Table<string>, keys: readonly string[], signal: AbortSignal): Promise<void> {
  for (const outcome of await table.getMany(keys, { signal })) {
    if (outcome.status === 'failed') throw outcome.error;
    if (outcome.status === 'absent') throw new Error(`there is no record ${outcome.key}`);
  }
}
