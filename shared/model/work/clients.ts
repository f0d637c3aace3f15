// A client for each layout, on each instance one: it turns an operation into the requests that the layout's users send.
import { chunks } from '../../compare/data/chunks.ts';
import { keyOf } from '../../compare/data/keys.ts';
import type { Instance } from '../instance/instance.ts';
import type { PlainTable } from '../service/plain.ts';
import type { Table } from '../../store/index.ts';
import type { ModelLayout } from './dimensions.ts';
import { LOAD_RECORDS_PER_CALL, type Operation } from './operations.ts';
import type { ValueSource } from './values.ts';

/** Rejects with what went wrong. */
export type Client = (operation: Operation) => Promise<void>;

/** A record that should be there is not. */
class AbsentError extends Error {
  readonly code = 'absent';
}

export interface PlainClientOptions {
  readonly layout: Exclude<ModelLayout, 'container'>;
  readonly table: PlainTable;
  readonly instance: Instance;
  readonly recordBytes: number;
}

/** The provider's own way: one entity a record. */
export function plainClient({ layout, table, recordBytes }: PlainClientOptions): Client {
  return async ({ kind, index }) => {
    const key = keyOf(index);
    const bytes = key.length + recordBytes;
    switch (kind) {
      case 'read':
        if ((await table.get(key)) === undefined) throw new AbsentError(key);
        return;
      case 'put':
        if (layout === 'conditional') await table.putIfUnchanged(key, bytes);
        else await table.put(key, bytes);
        return;
      case 'modify':
        await table.putIfUnchanged(key, bytes);
        return;
      case 'load':
        if (layout === 'batch') await loadBatches(table, keysFrom(index), recordBytes);
        else for (const each of keysFrom(index)) await table.insert(each, each.length + recordBytes);
        return;
      default:
        kind satisfies never;
    }
  };
}

/** All batches of a call at once. */
async function loadBatches(table: PlainTable, keys: readonly string[], recordBytes: number): Promise<void> {
  const records = keys.map((key) => ({ key, bytes: key.length + recordBytes }));
  const lanes = Map.groupBy(records, ({ key }) => table.lane(key));
  const batches = [...lanes.values()].flatMap((lane) => chunks(lane, table.putManyMax));
  await Promise.all(batches.map((batch) => table.putMany(batch)));
}

function keysFrom(index: number): string[] {
  return Array.from({ length: LOAD_RECORDS_PER_CALL }, (_, offset) => keyOf(index + offset));
}

/** This store. */
export function containerClient(table: Table<Uint8Array>, valueOf: ValueSource): Client {
  return async ({ kind, index, round }) => {
    const key = keyOf(index);
    switch (kind) {
      case 'read':
        if ((await table.get(key)) === undefined) throw new AbsentError(key);
        return;
      case 'put':
        await table.put(key, valueOf(index, round));
        return;
      case 'modify':
        await table.update(key, () => valueOf(index, round));
        return;
      case 'load': {
        const items = keysFrom(index).map((each, offset) => ({ key: each, value: valueOf(index + offset, round) }));
        const outcomes = await table.putMany(items);
        for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
        return;
      }
      default:
        kind satisfies never;
    }
  };
}
