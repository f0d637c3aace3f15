// One vacuum of every table: what a schedule asks for. Tables come one after the other, so that callers keep the store's throughput.
import { type CallOptions, type Store, StoreError, type VacuumReport } from '../../shared/store/index.ts';

/** Totals over all tables. */
export interface VacuumRun extends VacuumReport {
  readonly tables: number;
  /** Tables that were not finished, each with the error's code. */
  readonly failed: readonly { readonly table: string; readonly code: string }[];
}

const COUNTED = ['listed', 'removed', 'left', 'merged', 'stripped', 'purged', 'busy', 'entriesDropped'] as const;

/** Vacuums all tables within these bounds. A table that fails does not stop the others; throws only if the tables cannot be listed. */
export async function vacuumAll(store: Store, bounds: CallOptions): Promise<VacuumRun> {
  const names = (await store.tables(bounds)).map(({ name }) => name);
  const total = { listed: 0, removed: 0, left: 0, merged: 0, stripped: 0, purged: 0, busy: 0, entriesDropped: 0 };
  const failed: { table: string; code: string }[] = [];
  for (const table of names) {
    try {
      const report = await store.vacuum(table, bounds);
      for (const name of COUNTED) total[name] += report[name];
    } catch (error) {
      failed.push({ table, code: error instanceof StoreError ? error.code : 'internal' });
    }
  }
  return { tables: names.length, ...total, failed };
}

/** The log's line of a run, as JSON. */
export function runLine({ tables, removed, failed, ...rest }: VacuumRun): string {
  const severity = failed.length === 0 ? 'INFO' : 'ERROR';
  const message = `vacuum: ${tables} tables, ${removed} containers removed, ${failed.length} tables failed`;
  return JSON.stringify({ severity, message, tables, removed, ...rest, failed });
}
