// The open loop: calls begin when they are due, whatever was answered. Latency counts from then, or
// a store that stands still would look fast (coordinated omission).
import pLimit from 'p-limit';

export interface OpenLoop {
  /** Asked before each call; true ends the loop. */
  readonly isOver: () => boolean;
  /** When the first call is due, and the milliseconds from each to the next (arrivals.ts). */
  readonly startMs: number;
  readonly gapMs: () => number;
  /** Resolves at that moment, or when the loop is over. */
  readonly until: (dueMs: number) => Promise<void>;
  /** Calls that are due while so many are in flight wait for their turn. */
  readonly inFlightMax: number;
  /** Never rejects. */
  readonly call: (dueMs: number) => Promise<void>;
}

/** Resolves when the loop is over and every call that was due has been made and answered. */
export async function openLoop({ isOver, startMs, gapMs, until, inFlightMax, call }: OpenLoop): Promise<void> {
  const limit = pLimit(inFlightMax);
  const calls = new Set<Promise<void>>();
  let dueMs = startMs;
  while (!isOver()) {
    await until(dueMs);
    const made: Promise<void> = limit(call, dueMs).finally(() => calls.delete(made));
    calls.add(made);
    dueMs += gapMs();
  }
  await Promise.all(calls);
}
