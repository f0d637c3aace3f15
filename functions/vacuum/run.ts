// One vacuum of every table. Tables wait to fall quiet, so several go side by side.
import { type Store, StoreError, type VacuumReport } from '../../shared/store/index.ts';

export interface RunOptions {
  /** The run's end, in milliseconds from now; `signal` aborts then at the latest. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** As in `VacuumOptions`; default two minutes, at most a quarter of the run's time. */
  readonly quietMs?: number;
  /** Tables are opened with it; default: the store's. */
  readonly containerBytesMax?: number;
}

/** Totals over all tables. */
export interface VacuumRun extends VacuumReport {
  readonly tables: number;
  /** Tables not begun for lack of time. Each run begins at another table, so a later one does. */
  readonly unreached: number;
  /** Tables that were not finished, each with the error's code. */
  readonly failed: readonly { readonly table: string; readonly code: string }[];
}

const NOTHING = {
  listed: 0,
  removed: 0,
  left: 0,
  foreign: 0,
  merged: 0,
  stripped: 0,
  purged: 0,
  busy: 0,
  damaged: 0,
  entriesDropped: 0,
} satisfies VacuumReport;
const COUNTED = Object.keys(NOTHING) as (keyof VacuumReport)[];

/** A table has one request under way and mostly waits: callers keep the store's throughput. */
const TABLES_AT_A_TIME = 8;

/** The store's own default. */
const QUIET_MS_MOST = 120_000;

/** Begins a table while twice `quietMs` is left. Throws only if tables cannot be listed. */
export async function vacuumAll(store: Store, options: RunOptions): Promise<VacuumRun> {
  const { timeoutMs, signal, containerBytesMax } = options;
  const endMs = performance.now() + timeoutMs;
  const { quietMs = Math.min(QUIET_MS_MOST, timeoutMs / 4) } = options;
  const how = { timeoutMs, signal, quietMs, ...(containerBytesMax === undefined ? {} : { containerBytesMax }) };
  const names = (await store.tables({ timeoutMs, signal })).map(({ name }) => name);
  const total = { ...NOTHING };
  const failed: { table: string; code: string }[] = [];
  let unreached = 0;
  // All workers share one iterator: each table is taken once.
  const waiting = fromAnywhere(names).values();
  const work = async (): Promise<void> => {
    for (const table of waiting) {
      if (signal.aborted || endMs - performance.now() < 2 * quietMs) {
        unreached += 1;
        continue;
      }
      try {
        const report = await store.vacuum(table, how);
        for (const name of COUNTED) total[name] += report[name];
      } catch (error) {
        failed.push({ table, code: error instanceof StoreError ? error.code : 'internal' });
      }
    }
  };
  await Promise.all(Array.from({ length: TABLES_AT_A_TIME }, work));
  return { tables: names.length, unreached, ...total, failed };
}

/** The log's line of a run, as JSON. */
export function runLine({ tables, unreached, removed, merged, failed, ...rest }: VacuumRun): string {
  const severity = failed.length > 0 ? 'ERROR' : unreached > 0 ? 'WARNING' : 'INFO';
  const done = `${tables} tables, ${removed} containers removed, ${merged} merged`;
  const message = `vacuum: ${done}, ${failed.length} tables failed, ${unreached} not reached`;
  return JSON.stringify({ severity, message, tables, unreached, removed, merged, ...rest, failed });
}

/** A random start: what a run does not reach is not the same each time. */
function fromAnywhere(names: readonly string[]): string[] {
  const start = Math.floor(Math.random() * names.length);
  return [...names.slice(start), ...names.slice(0, start)];
}
