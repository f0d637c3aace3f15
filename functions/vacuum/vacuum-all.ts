// Vacuums every table once. A vacuum mostly waits for quiet, so several run at the same time.
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
export interface VacuumRun extends Omit<VacuumReport, 'cursor'> {
  readonly tables: number;
  /** Tables for which no time was left. Each run begins at another table. */
  readonly unreached: number;
  /** Tables whose time ended early, with the cursor from which `store.vacuum` can go on. */
  readonly unfinished: readonly { readonly table: string; readonly cursor: string }[];
  /** Tables whose vacuum failed, each with the error's code. */
  readonly failed: readonly { readonly table: string; readonly code: string }[];
}

const NOTHING = {
  listed: 0,
  removed: 0,
  left: 0,
  foreign: 0,
  passed: 0,
  merged: 0,
  movedBytes: 0,
  stripped: 0,
  purged: 0,
  busy: 0,
  damaged: 0,
  entriesDropped: 0,
} satisfies VacuumReport;
const COUNTED = Object.keys(NOTHING) as (keyof typeof NOTHING)[];

const TABLES_AT_A_TIME = 8;

/** The store's own default of `quietMs`. */
const QUIET_MS_MOST = 120_000;

/** Begins a table only if twice `quietMs` is left. Throws only if tables cannot be listed. */
export async function vacuumAll(store: Store, options: RunOptions): Promise<VacuumRun> {
  const { timeoutMs, signal, containerBytesMax } = options;
  const endMs = performance.now() + timeoutMs;
  const { quietMs = Math.min(QUIET_MS_MOST, timeoutMs / 4) } = options;
  const how = { timeoutMs, signal, quietMs, ...(containerBytesMax === undefined ? {} : { containerBytesMax }) };
  const names = (await store.tables({ timeoutMs, signal })).map(({ name }) => name);
  const total = { ...NOTHING };
  const unfinished: { table: string; cursor: string }[] = [];
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
        if (report.cursor !== undefined) unfinished.push({ table, cursor: report.cursor });
      } catch (error) {
        failed.push({ table, code: error instanceof StoreError ? error.code : 'internal' });
      }
    }
  };
  await Promise.all(Array.from({ length: TABLES_AT_A_TIME }, work));
  return { tables: names.length, unreached, ...total, unfinished, failed };
}

/** The log's line of a run, as JSON. */
export function runLine({ tables, unreached, removed, merged, unfinished, failed, ...rest }: VacuumRun): string {
  const severity = failed.length > 0 ? 'ERROR' : unreached + unfinished.length > 0 ? 'WARNING' : 'INFO';
  const done = `${tables} tables, ${removed} containers removed, ${merged} merged`;
  const message = `vacuum: ${done}, ${failed.length} tables failed, ${unfinished.length} not finished, ${unreached} not reached`;
  return JSON.stringify({ severity, message, tables, unreached, removed, merged, ...rest, unfinished, failed });
}

/** Begins at a random name, so that not the same tables are left out each time. */
function fromAnywhere(names: readonly string[]): string[] {
  const start = Math.floor(Math.random() * names.length);
  return [...names.slice(start), ...names.slice(0, start)];
}
