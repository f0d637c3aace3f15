// Callers who write, and what they saw.
import type { Random } from '../../kit/random.ts';
import type { Table } from '../../../store/index.ts';
import type { Scheduler } from '../../cloud/time/scheduler.ts';
import type { KeySource } from '../../cloud/work/clients.ts';
import type { ValueSource } from '../../cloud/work/values.ts';

/** A caller whose calls fail at once would never let time pass. */
const PAUSE_AFTER_ERROR_MS = 1;

export interface Writing {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly keyOf: KeySource;
  readonly valueOf: ValueSource;
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
export async function writeOn(tables: readonly Table<Uint8Array>[], callers: number, writing: Writing): Promise<Seen> {
  const { scheduler, random, keyOf, valueOf, records, forMs, thinkMs } = writing;
  const untilMs = scheduler.nowMs + forMs;
  const latenciesMs: number[] = [];
  let failed = 0;
  const call = async (table: Table<Uint8Array>): Promise<void> => {
    while (scheduler.nowMs < untilMs) {
      const index = Math.floor(random() * records);
      const begunMs = scheduler.nowMs;
      try {
        await table.put(keyOf(index), valueOf(index, 1));
        latenciesMs.push(scheduler.nowMs - begunMs);
      } catch {
        failed += 1;
        await scheduler.after(PAUSE_AFTER_ERROR_MS);
      }
      if (thinkMs > 0) await scheduler.after(2 * random() * thinkMs);
    }
  };
  await Promise.all(tables.flatMap((table) => Array.from({ length: callers }, () => call(table))));
  return { latenciesMs: latenciesMs.toSorted((a, b) => a - b), failed };
}
