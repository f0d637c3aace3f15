// Callers who write, and what they saw.
import type { Random } from '../../kit/random.ts';
import type { Table } from '../../../store/index.ts';
import type { Scheduler } from '../../cloud/time/scheduler.ts';
import { closedLoop } from '../../load/closed-loop.ts';
import type { RecordFields, RecordSource } from '../../work/records.ts';

/** A caller whose calls fail at once would never let time pass. */
const PAUSE_AFTER_ERROR_MS = 1;

export interface Writing {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly keyOf: (index: number) => string;
  readonly source: RecordSource;
  /** Keys of records 0 up to this one, uniformly. */
  readonly records: number;
  readonly forMs: number;
  /** Mean pause after a put; 0: none. */
  readonly thinkMs: number;
}

/** Latencies in milliseconds, in order. */
export interface Seen {
  readonly latenciesMs: readonly number[];
  readonly failed: number;
}

/** `callers` on each of the tables put records again and again. */
export async function writeOn(
  tables: readonly Table<RecordFields>[],
  callers: number,
  writing: Writing,
): Promise<Seen> {
  const { scheduler, random, keyOf, source, records, forMs, thinkMs } = writing;
  const untilMs = scheduler.nowMs + forMs;
  const latenciesMs: number[] = [];
  let failed = 0;
  const call = async (table: Table<RecordFields>): Promise<void> => {
    const index = Math.floor(random() * records);
    const begunMs = scheduler.nowMs;
    try {
      await table.put(keyOf(index), source(index, 1).fields);
      latenciesMs.push(scheduler.nowMs - begunMs);
    } catch {
      failed += 1;
      await scheduler.after(PAUSE_AFTER_ERROR_MS);
    }
    if (thinkMs > 0) await scheduler.after(2 * random() * thinkMs);
  };
  await closedLoop(
    tables.length * callers,
    () => scheduler.nowMs >= untilMs,
    (caller) => call(tables[Math.floor(caller / callers)]!),
  );
  return { latenciesMs: latenciesMs.toSorted((a, b) => a - b), failed };
}
